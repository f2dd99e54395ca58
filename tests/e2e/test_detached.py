"""Detached runs as a person meets them: the notebook about them, the inbox, and a kernel that is restarted."""

import re
import shutil
from pathlib import Path

import nbformat
from nbclient import NotebookClient

from tests.e2e.lab import DARK, LIGHT
from tests.e2e.notebooks import SETUP

APPROVALS = Path(__file__).resolve().parents[2] / "notebooks" / "approvals.ipynb"

DETACHED = """
%%codemode --detach -o outcome
const number = await world.read({ number: 7 });
console.log("read", number);
const answer = await world.act({ word: "seven" });
return { number, answer };
"""


def test_a_detached_run_is_approved_from_the_inbox_and_its_end_arrives_there(desk, screenshots):
    desk.write(SETUP, DETACHED, "%codemode inbox", "6 * 7", "outcome", "%codemode pending")
    tab = desk.open()
    tab.run(0)
    run = tab.run(1).shows("Waiting for you", "seven", "read")
    assert tab.run(3).shows("42").text.count("new") == 0
    inbox = tab.run(2).shows("Inbox", "nothing new", "1 run waiting for you", "Waiting for you")
    for theme, word in ((DARK, "dark"), (LIGHT, "light")):
        tab.theme(theme)
        inbox.picture(screenshots / f"lab-inbox-waiting-{word}.png")
    inbox.press("Approve").shows("1 new", "Completed")
    run.shows("Completed", "seven")
    tab.run(3).shows("42", "1 new", "1 run ended in the background: %codemode inbox shows how.")
    assert "ended in the background" not in tab.run(4).shows("{'number': 7, 'answer': {'done': 'seven'}}").text
    tab.run(5).shows("1 run ended in the background")
    for theme, word in ((DARK, "dark"), (LIGHT, "light")):
        tab.theme(theme)
        inbox.picture(screenshots / f"lab-inbox-arrived-{word}.png")
        tab.cell(3).picture(screenshots / f"lab-badge-{word}.png")
    inbox.press("Seen").shows("nothing new")
    assert desk.effects == ["read 7", "act seven"]


def test_an_end_that_nobody_saw_arrives_again_after_a_restart_of_the_kernel(desk):
    desk.write(SETUP, DETACHED, "%codemode inbox", DETACHED.replace("seven", "eight"), "6 * 7")
    tab = desk.open()
    tab.run(0)
    tab.run(1).shows("Waiting for you").press("Approve").shows("Completed")
    tab.run(3).shows("Waiting for you", "eight")
    tab.restart_kernel()
    tab.run(0)
    inbox = tab.run(2).shows("1 new", "seven", "1 run waiting for you", "eight")
    inbox.press("Approve").shows("2 new")
    tab.run(4).shows("42", "2 new")
    inbox.press("All seen").shows("nothing new")
    tab.restart_kernel()
    tab.run(0)
    tab.run(2).shows("nothing new").lacks("waiting for you")
    assert desk.effects == ["read 7", "act seven", "read 7", "act eight"]


def positions():
    """Where each cell stands, by its id."""
    return {cell.id: index for index, cell in enumerate(nbformat.read(APPROVALS, as_version=4).cells)}


def test_the_notebook_about_approvals_works_by_hand(desk, screenshots):
    shutil.copy(APPROVALS, desk.folder / "approvals.ipynb")
    tab = desk.open("approvals.ipynb")
    at = positions()

    def run(name):
        return tab.run(at[name])

    for name in ("load", "shop", "model", "runtime", "attached"):
        assert "Error" not in run(name).text
    run("detached").shows("Order 1002: I asked for the refund.")
    inbox = run("inbox").shows("2 runs waiting for you", "1001", "1002", "40", "25.5")
    run("outcome").shows("the turn still waits", "nothing has been told yet")
    inbox.press("Approve", 0).shows("1 run waiting for you")
    inbox.press("Approve").lacks("waiting for you")
    run("outcome").shows("Order 1001: 40 paid back.", "Order 1002: 25.5 paid back.")
    inbox.picture(screenshots / "lab-approvals-light.png")

    run("desk")
    card = run("by-hand").shows("Waiting for you", "9.9")
    desk_inbox = run("desk-inbox").shows("nothing new", "1 run waiting for you")
    card.press("Approve").shows("Completed")
    desk_inbox.shows("1 new", "9.9").press("Seen").shows("nothing new")


APPROVE = """
for call in await runtime.pending():
    await runtime.approve(call.execution_id)
async with asyncio.timeout(20):
    while not (said and waiting_turn.done()):
        await asyncio.sleep(0.01)
"""


class WithSomebodyWhoClicks(NotebookClient):
    """Runs the notebook without a page, and approves in Python what its text asks the reader to approve."""

    async def async_execute_cell(self, cell, cell_index, **options):
        done = await super().async_execute_cell(cell, cell_index, **options)
        if cell.id == "inbox":
            reply = await self.kc.execute_interactive(
                APPROVE, silent=False, store_history=False, output_hook=lambda _: None
            )
            assert reply["content"]["status"] == "ok", reply["content"]
        return done


def shown(notebook):
    texts = {}
    for cell in notebook.cells:
        parts = [
            output.get("text") or output.get("data", {}).get("text/plain") or "\n".join(output.get("traceback", []))
            for output in cell.get("outputs", ())
        ]
        texts[cell.id] = re.sub(r"\x1b\[[0-9;]*m", "", "\n".join(parts))
    return texts


def test_the_notebook_about_approvals_works_without_a_browser(tmp_path):
    notebook = nbformat.read(APPROVALS, as_version=4)
    WithSomebodyWhoClicks(notebook, timeout=60, resources={"metadata": {"path": str(tmp_path)}}).execute()
    texts = shown(notebook)
    assert "I asked for the refund" in texts["detached"]
    assert "Order 1001: 40 paid back." in texts["outcome"]
    assert "Order 1002: 25.5 paid back." in texts["outcome"]
    assert "(1001, 40)" in texts["outcome"] or "(1001, 40.0)" in texts["outcome"]


def test_run_all_of_the_notebook_about_approvals_goes_on_though_nobody_approves(tmp_path):
    notebook = nbformat.read(APPROVALS, as_version=4)
    NotebookClient(notebook, timeout=60, resources={"metadata": {"path": str(tmp_path)}}).execute()
    texts = shown(notebook)
    assert "2 runs waiting for you" in texts["inbox"]
    assert "the turn still waits" in texts["outcome"]
    assert "'refunds': []" in texts["outcome"]
    assert "Waiting for you" in texts["by-hand"]


def test_the_notebook_about_approvals_is_committed_without_outputs():
    for cell in nbformat.read(APPROVALS, as_version=4).cells:
        assert not cell.get("outputs")
        assert cell.get("execution_count") is None
