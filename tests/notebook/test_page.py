"""The widget behind the page channel, without a front end."""

import asyncio
import threading

import pytest

from codemode_jupyter.notebook import page
from codemode_jupyter.notebook.page import PageWidget, close_page_channel, page_channel


class RecordingComm:
    """Stands in for the comm of a kernel: keeps what is sent."""

    comm_id = "recording"

    def __init__(self):
        self.messages = []

    def send(self, data=None, metadata=None, buffers=None):  # noqa: ARG002  as a comm is called
        self.messages.append((data, buffers))

    def on_msg(self, callback):
        self.deliver = callback

    def on_close(self, callback):
        pass

    def close(self, *args, **kwargs):
        pass


@pytest.fixture
async def widget():
    made = PageWidget(asyncio.get_running_loop())
    made.comm = RecordingComm()
    yield made
    made.close()


@pytest.fixture
def channel():
    yield page_channel
    close_page_channel()


def from_a_page(widget, content):
    """Hand over a message as the comm does."""
    widget._handle_msg({"content": {"data": {"method": "custom", "content": content}}, "buffers": [b"bytes"]})


async def heard(queue):
    async with asyncio.timeout(5):
        return await queue.get()


async def test_what_is_sent_is_a_custom_message(widget):
    widget.send({"to": "*", "type": "who"}, [b"bytes"])
    [(data, buffers)] = widget.comm.messages
    assert data == {"method": "custom", "content": {"to": "*", "type": "who"}}
    assert buffers == [b"bytes"]


async def test_nothing_is_sent_once_it_is_closed(widget):
    comm = widget.comm
    widget.close()
    widget.send({"to": "*", "type": "who"})
    assert [data for data, _ in comm.messages if data.get("method") == "custom"] == []


async def test_a_message_is_dispatched_on_the_loop_whatever_thread_it_came_on(widget):
    queue = asyncio.Queue()
    loop_thread = threading.current_thread()
    widget.on_message(lambda content, buffers: queue.put_nowait((content, buffers, threading.current_thread())))
    threads = [loop_thread]

    def subshell():
        threads.append(threading.current_thread())
        from_a_page(widget, {"from": "page", "type": "hello"})

    other = threading.Thread(target=subshell)
    other.start()
    assert await heard(queue) == ({"from": "page", "type": "hello"}, [b"bytes"], loop_thread)
    other.join()
    assert threads[1] is not loop_thread


async def test_messages_keep_their_order_though_those_of_the_loops_own_thread_are_dispatched_at_once(widget):
    heard_so_far = []
    widget.on_message(lambda content, _buffers: heard_so_far.append(content["type"]))
    other = threading.Thread(target=from_a_page, args=(widget, {"from": "page", "type": "hello"}))
    other.start()
    other.join()
    assert heard_so_far == []
    from_a_page(widget, {"from": "page", "type": "bye"})
    assert heard_so_far == ["hello", "bye"]


async def test_a_callback_that_was_taken_back_is_not_called(widget):
    queue, gone = asyncio.Queue(), []
    unsubscribe = widget.on_message(lambda content, _buffers: gone.append(content))
    widget.on_message(lambda content, _buffers: queue.put_nowait(content))
    unsubscribe()
    unsubscribe()
    from_a_page(widget, {"from": "page", "type": "hello"})
    await heard(queue)
    assert gone == []


async def test_a_message_that_is_no_object_is_ignored(widget):
    queue = asyncio.Queue()
    widget.on_message(lambda content, _buffers: queue.put_nowait(content))
    for content in ("hello", None, ["from"], {"from": "page", "type": "hello"}):
        from_a_page(widget, content)
    assert await heard(queue) == {"from": "page", "type": "hello"}
    assert queue.empty()


async def test_the_page_gets_everything_it_needs_when_the_widget_is_made(widget):
    state = widget.get_state()
    assert "export default" in state["_esm"]
    assert state["_inline_frame"] == page.inline_frame()
    assert state["_served_frame"] == page.served_frame()
    assert state["_worker_source"] == page.worker_source()
    assert "http:" not in state["_inline_frame"]


async def test_a_kernel_has_one_page_channel(channel):
    assert channel() is channel()


async def test_a_closed_page_channel_is_made_anew(channel):
    first = channel()
    close_page_channel()
    assert channel() is not first


def test_the_page_channel_needs_a_running_loop(channel):
    with pytest.raises(RuntimeError):
        channel()


def test_a_message_after_the_end_of_the_loop_does_no_harm():
    async def make():
        return PageWidget(asyncio.get_running_loop())

    widget = asyncio.run(make())
    widget.on_message(lambda _content, _buffers: pytest.fail("nobody is there to be called"))
    from_a_page(widget, {"from": "page", "type": "hello"})
    widget.close()
