"""Comm messages reach the kernel while an async cell awaits; where it sees to that itself, nothing is installed."""

import sys

import pytest

from tests.kernels import kernel6_python
from tests.notebook.real_kernel import running_kernel

LOAD = """
from codemode_jupyter.notebook import kernel_shim
import asyncio
shim = kernel_shim.install(get_ipython().kernel)
shim is not None
"""
TARGET = """
import asyncio
heard = []
arrived = asyncio.Event()
def opened(comm, message):
    @comm.on_msg
    def received(message):
        data = message["content"]["data"]
        heard.append(data)
        print("in the handler")
        loop.call_soon_threadsafe(arrived.set)
loop = asyncio.get_running_loop()
get_ipython().kernel.comm_manager.register_target("test.target", opened)
"""
AWAIT = """
print("begun")
await asyncio.wait_for(arrived.wait(), 10)
arrived.clear()
print("ended")
len(heard)
"""


def kernel6():
    python = kernel6_python()
    if python is None:
        pytest.skip("`python tests/kernels.py` has not made the kernel with ipykernel 6")
    return python


@pytest.fixture(scope="module")
def old_kernel(tmp_path_factory):
    with running_kernel(tmp_path_factory.mktemp("kernel"), kernel6()) as kernel:
        assert kernel.run(LOAD).result == "True"
        kernel.run(TARGET)
        kernel.send("comm_open", {"comm_id": "c", "target_name": "test.target", "data": {}})
        yield kernel


def say(kernel, data):
    return kernel.send("comm_msg", {"comm_id": "c", "data": data})


def test_a_message_is_delivered_while_a_cell_awaits(old_kernel):
    cell = old_kernel.begin(AWAIT)
    old_kernel.shown_by(cell, "begun")
    say(old_kernel, "first")
    ended = old_kernel.finish(cell)
    assert ended.status == "ok"
    assert ended.result is not None


def test_the_outputs_of_the_cell_stay_in_the_cell(old_kernel):
    cell = old_kernel.begin(AWAIT)
    old_kernel.shown_by(cell, "begun")
    say(old_kernel, "while running")
    ended = old_kernel.finish(cell)
    assert "ended" in ended.printed
    assert "in the handler" not in ended.printed


def test_messages_that_arrive_between_two_cells_of_run_all_are_not_held_back(old_kernel):
    cells = [old_kernel.begin("await asyncio.sleep(0.2)"), old_kernel.begin(AWAIT)]
    say(old_kernel, "sent before the second cell began")
    ended = [old_kernel.finish(cell) for cell in cells]
    assert [cell.status for cell in ended] == ["ok", "ok"]


def test_no_status_is_published_for_a_message_during_a_cell(old_kernel):
    cell = old_kernel.begin("arrived.clear(); print('begun'); await arrived.wait(); await asyncio.sleep(0.5)")
    old_kernel.shown_by(cell, "begun")
    message = say(old_kernel, "quiet")
    assert old_kernel.statuses_of(message, within=0.4) == []
    old_kernel.reply(cell)


def test_between_cells_a_message_is_handled_by_the_kernel_as_always(old_kernel):
    message = say(old_kernel, "idle")
    assert old_kernel.statuses_of(message, within=10) == ["busy", "idle"]


@pytest.mark.parametrize("request_type", ["comm_info_request", "kernel_info_request"])
def test_a_reloaded_page_gets_its_answers_while_a_cell_awaits(old_kernel, request_type):
    cell = old_kernel.begin("arrived.clear(); print('begun'); await asyncio.wait_for(arrived.wait(), 10)")
    old_kernel.shown_by(cell, "begun")
    request = old_kernel.send(request_type, {})
    assert old_kernel.reply(request, timeout=5)["content"]["status"] == "ok"
    say(old_kernel, "go on")
    assert old_kernel.reply(cell)["content"]["status"] == "ok"


def test_messages_keep_their_order(old_kernel):
    cell = old_kernel.begin(
        "heard.clear(); print('begun')\nwhile len(heard) < 300: await asyncio.sleep(0.01)\nheard == list(range(300))"
    )
    old_kernel.shown_by(cell, "begun")
    for number in range(300):
        say(old_kernel, number)
    assert old_kernel.finish(cell).result == "True"


def test_a_handler_that_raises_harms_neither_the_cell_nor_later_messages(old_kernel):
    old_kernel.run("get_ipython().kernel.comm_manager.get_comm('c').on_msg(lambda message: 1 / 0)")
    cell = old_kernel.begin("print('begun'); await asyncio.sleep(0.3); 'fine'")
    old_kernel.shown_by(cell, "begun")
    say(old_kernel, "boom")
    assert old_kernel.finish(cell).result == "'fine'"
    old_kernel.run(
        "def hear(message):\n    heard.append(message['content']['data']); print('in the handler'); arrived.set()\n"
        "get_ipython().kernel.comm_manager.get_comm('c').on_msg(hear)"
    )
    test_a_message_is_delivered_while_a_cell_awaits(old_kernel)


def test_an_interrupt_still_ends_the_cell_after_messages_came(old_kernel):
    cell = old_kernel.begin(
        "arrived.clear(); print('begun'); await arrived.wait(); print('went on')\n"
        "for _ in range(100): await asyncio.sleep(0.1)"
    )
    old_kernel.shown_by(cell, "begun")
    say(old_kernel, "hello")
    old_kernel.shown_by(cell, "went on")
    old_kernel.interrupt()
    assert old_kernel.finish(cell, timeout=5).error["ename"] == "CancelledError"


def test_uninstalled_the_kernel_is_as_it_was(tmp_path):
    with running_kernel(tmp_path, kernel6()) as kernel:
        kernel.run(LOAD)
        kernel.run(TARGET)
        kernel.send("comm_open", {"comm_id": "c", "target_name": "test.target", "data": {}})
        assert kernel.run("shim.uninstall()").status == "ok"
        cell = kernel.begin("print('begun'); await asyncio.sleep(0.5); len(heard)")
        kernel.shown_by(cell, "begun")
        say(kernel, "held back")
        assert kernel.finish(cell).result == "0"
        assert kernel.run("len(heard)").result == "1"


def test_nothing_is_installed_where_the_kernel_does_it_itself(tmp_path):
    with running_kernel(tmp_path, sys.executable) as kernel:
        assert kernel.run(LOAD).result == "False"
        kernel.run(TARGET)
        kernel.send("comm_open", {"comm_id": "c", "target_name": "test.target", "data": {}})
        test_a_message_is_delivered_while_a_cell_awaits(kernel)
