"""The life of a card: live, decided by clicks, static at the end, controls below the newest finished run only."""

import asyncio
import json
import sqlite3
from types import SimpleNamespace

import pytest

from codemode_jupyter.errors import CodemodeError
from codemode_jupyter.notebook.card import RunView, show_execution
from codemode_jupyter.notebook.card import controls as controls_module
from codemode_jupyter.notebook.card import outputs as outputs_module
from codemode_jupyter.notebook.card import view as view_module
from codemode_jupyter.notebook.card.element import to_wire
from codemode_jupyter.notebook.card.layout import bare_layout
from codemode_jupyter.notebook.card.outcome import OutcomeFormatter, holder
from codemode_jupyter.notebook.card.status import Status
from codemode_jupyter.notebook.card.widget import CardWidget
from codemode_jupyter.runtime.runtime import Runtime
from tests.notebook.cut_off import cut_off_run
from tests.notebook.test_card_layout import elements, inner_text
from tests.runtime.fake_sandbox import FakeExecutor
from tests.runtime.shelf import Shelf

PLACE = "codemode-place-"


class Outputs:
    """What stands in the cells: every output made, with the bundle it shows and all it has shown."""

    def __init__(self):
        self.made = []

    def make(self, bundle=None):
        output = RecordedOutput(bundle)
        self.made.append(output)
        return output


class RecordedOutput:
    def __init__(self, bundle):
        self.history = [bundle or {"text/plain": ""}]

    def replace(self, bundle):
        self.history.append(bundle)

    def clear(self):
        self.history.append({"text/plain": ""})

    @property
    def text(self):
        return self.history[-1]["text/plain"]

    @property
    def is_live(self):
        return PLACE in self.history[-1].get("text/html", "")


class Widgets:
    """The widgets that were made, with a page for each: clicks go in, trees come out."""

    def __init__(self):
        self.made = []

    def make(self, tree, on_action, loop):
        widget = PagedWidget(tree, on_action, loop)
        self.made.append(widget)
        return widget


class PagedWidget(CardWidget):
    def __init__(self, tree, on_action, loop):
        self.trees = [tree]
        super().__init__(tree, on_action, loop)

    def _put(self, tree):
        self.trees.append(tree)
        super()._put(tree)

    def says(self, text):
        return text in inner_text(self.trees[-1])

    def click(self, action, number=0, **fields):
        button = elements(self.trees[-1], data_action=action)[number].attributes
        content = {
            "action": action,
            "execution": button["data-execution"],
            "seq": int(button["data-seq"]) if "data-seq" in button else None,
            "digest": button.get("data-digest"),
            "fields": fields,
        }
        self._hand_over(self, json.loads(json.dumps(content)), [])
        return content


@pytest.fixture
def outputs(monkeypatch):
    kept = Outputs()
    monkeypatch.setattr(outputs_module, "Output", kept.make)
    monkeypatch.setattr(outputs_module, "current_place", lambda: "page")
    return kept


@pytest.fixture
def widgets(monkeypatch):
    kept = Widgets()
    for module in (view_module, controls_module):
        monkeypatch.setattr(module, "CardWidget", kept.make)
    monkeypatch.setattr(view_module, "newest_controls", controls_module.NewestControls())
    yield kept
    for widget in kept.made:
        widget.close()


@pytest.fixture
def shelf():
    return Shelf()


@pytest.fixture
async def runtime(tmp_path, shelf):
    made = Runtime([shelf], executor=FakeExecutor(), path=tmp_path / "log.sqlite3")
    yield made
    await made.close()


async def until(condition, what):
    deadline = asyncio.get_running_loop().time() + 10
    while not condition():
        assert asyncio.get_running_loop().time() < deadline, what
        await asyncio.sleep(0.01)


async def begin(runtime, program):
    """Run a program as a cell does."""
    view = RunView(runtime)

    def on_start(execution_id):
        view.show()
        view.attach(execution_id)

    outcome = await runtime.execute(runtime._executor.program(program), on_start=on_start)
    await view.settle()
    return outcome


async def answer(_):
    return 42


async def gated(p):
    return await p.call("shelf.stow", {"what": "jar"})


async def two_gated(p):
    return await p.gather(p.call("shelf.stow", {"what": "jar"}), p.call("shelf.stow", {"what": "lid"}))


async def noted(p):
    await p.call("shelf.note", {"text": "first"})
    return await p.call("shelf.note", {"text": "second"})


async def test_a_quick_run_goes_from_a_word_to_its_static_card_without_a_widget(runtime, outputs, widgets):
    await begin(runtime, answer)
    card = outputs.made[0]
    assert card.history[0]["text/plain"] == "Running"
    assert card.text.startswith("Completed")
    assert not any(PLACE in bundle.get("text/html", "") for bundle in card.history)
    assert len(widgets.made) == 1, "the one of the controls"


async def test_a_run_that_goes_on_becomes_live_and_then_static(runtime, shelf, outputs, widgets):
    async def slow(p):
        return await p.call("shelf.slow", {})

    running = asyncio.ensure_future(begin(runtime, slow))
    await until(lambda: outputs.made and outputs.made[0].is_live, "the card is live")
    assert widgets.made[0].says("shelf.slow")
    assert widgets.made[0].says("Running")
    shelf.gate("slow").set()
    await running
    assert not outputs.made[0].is_live
    assert outputs.made[0].text.startswith("Completed")
    assert widgets.made[0].says("Completed"), "a page that was reloaded still shows the widget"


async def test_a_paused_run_is_approved_by_its_button_and_its_card_becomes_static(runtime, shelf, outputs, widgets):
    outcome = await begin(runtime, gated)
    assert outcome.status == "paused"
    assert outputs.made[0].is_live
    assert "Waiting for you" in outputs.made[0].text, "the saved notebook says it, too"
    assert "<button" not in outputs.made[0].history[-1]["text/html"]
    widgets.made[0].click("approve")
    await until(lambda: not outputs.made[0].is_live, "the card is static")
    assert shelf.counts["stow"] == 1
    assert "approved by you" in outputs.made[0].text


async def test_an_approval_that_a_locked_store_refuses_says_so_and_can_be_given_again(runtime, shelf, outputs, widgets):
    await begin(runtime, gated)
    widget = widgets.made[0]
    locking = sqlite3.connect(runtime.path, isolation_level=None)
    try:
        locking.execute("begin immediate")
        widget.click("approve")
        await until(lambda: widget.says("is locked by another program"), "the card says why")
    finally:
        locking.close()
    assert shelf.counts["stow"] == 0
    widget.click("approve")
    await until(lambda: outputs.made[0].text.startswith("Completed"), "it can be approved now")
    assert shelf.counts["stow"] == 1


async def test_no_output_holds_a_view_of_a_widget(runtime, outputs, widgets):
    await begin(runtime, gated)
    widgets.made[0].click("approve")
    await until(lambda: outputs.made[1].is_live, "the run has ended and its controls are there")
    for output in outputs.made:
        for bundle in output.history:
            assert set(bundle) <= {"text/html", "text/plain"}, "a saved notebook would show it as an error"


async def test_the_output_is_written_anew_only_when_what_waits_has_changed(runtime, shelf, outputs, widgets):
    async def slow_then_gated(p):
        await p.call("shelf.slow", {})
        await p.gather(p.call("shelf.stow", {"what": "jar"}), p.call("shelf.stow", {"what": "lid"}))

    running = asyncio.ensure_future(begin(runtime, slow_then_gated))
    await until(lambda: outputs.made and outputs.made[0].is_live, "the card is live")
    assert outputs.made[0].text.startswith("Running")
    assert "%codemode show" in outputs.made[0].text
    shelf.gate("slow").set()
    await running
    await until(lambda: outputs.made[0].text.startswith("Waiting for you"), "the saved notebook says that it waits")
    written = len(outputs.made[0].history)
    (execution,) = await runtime.executions()
    stale = {"action": "approve", "execution": execution.id, "seq": 1, "digest": "f" * 64}
    widgets.made[0]._hand_over(widgets.made[0], stale, [])
    await until(lambda: widgets.made[0].says("nothing was changed"), "the stale click is refused")
    assert len(outputs.made[0].history) == written
    widgets.made[0].click("approve", 1)
    await until(lambda: len(elements(widgets.made[0].trees[-1], data_action="approve")) == 1, "one still waits")
    assert "jar" in outputs.made[0].text
    assert all(PLACE in bundle["text/html"] for bundle in outputs.made[0].history[1:])
    assert len(widgets.made) == 1


async def test_the_card_says_at_once_that_it_is_approving(runtime, outputs, widgets):
    await begin(runtime, gated)
    widgets.made[0].click("approve")
    await until(lambda: not outputs.made[0].is_live, "the card is static")
    texts = [inner_text(tree) for tree in widgets.made[0].trees]
    assert any("approving…" in text for text in texts)


async def test_the_same_click_twice_acts_once_and_says_so(runtime, shelf, outputs, widgets):
    async def then_again(p):
        await p.call("shelf.stow", {"what": "jar"})
        return await p.call("shelf.stow", {"what": "lid"})

    await begin(runtime, then_again)
    first = widgets.made[0].click("approve")
    await until(lambda: widgets.made[0].says("lid"), "the second call waits")
    widgets.made[0]._hand_over(widgets.made[0], first, [])
    await until(lambda: widgets.made[0].says("nothing was changed"), "the stale click is refused")
    assert shelf.counts["stow"] == 1
    assert widgets.made[0].says("lid")


async def test_a_click_for_other_arguments_than_shown_is_refused(runtime, shelf, outputs, widgets):
    await begin(runtime, gated)
    widget = widgets.made[0]
    button = elements(widget.trees[-1], data_action="approve")[0].attributes
    for forged in ({"digest": "f" * 64}, {"digest": None}, {"seq": None}, {"seq": 7}, {"execution": "exec_other"}):
        content = {
            "action": "approve",
            "execution": button["data-execution"],
            "seq": 0,
            "digest": button["data-digest"],
        }
        widget._hand_over(widget, content | forged, [])
        if "execution" not in forged:
            await until(lambda: widget.says("nothing was changed"), f"{forged} is refused")
    for nonsense in (None, "approve", ["approve"], {}, {"action": "close"}, {"action": ["approve"]}):
        widget._hand_over(widget, nonsense, [])
    await asyncio.sleep(0)
    assert shelf.counts["stow"] == 0
    widget.click("approve")
    await until(lambda: not outputs.made[0].is_live, "the right click still works")


async def test_several_calls_are_approved_together(runtime, shelf, outputs, widgets):
    await begin(runtime, two_gated)
    widgets.made[0].click("approve_all")
    await until(lambda: not outputs.made[0].is_live, "the card is static")
    assert shelf.counts["stow"] == 2


async def test_of_several_calls_one_is_approved_and_the_other_goes_on_waiting(runtime, shelf, outputs, widgets):
    await begin(runtime, two_gated)
    widgets.made[0].click("approve", 1)
    await until(lambda: shelf.counts["stow"] == 1 and widgets.made[0].says("Waiting"), "one has run")
    await until(lambda: len(elements(widgets.made[0].trees[-1], data_action="approve")) == 1, "one still waits")
    assert shelf.created == [{"what": "lid"}]


async def test_a_call_is_rejected_with_a_reason(runtime, shelf, outputs, widgets):
    await begin(runtime, gated)
    widgets.made[0].click("reject", reason=" wrong jar ")
    await until(lambda: not outputs.made[0].is_live, "the card is static")
    assert outputs.made[0].text.startswith("Rejected")
    assert "rejected by user: wrong jar" in outputs.made[0].text
    assert shelf.counts["stow"] == 0


async def test_a_decision_made_elsewhere_shows_in_the_card(runtime, outputs, widgets):
    outcome = await begin(runtime, gated)
    await runtime.approve(outcome.execution_id)
    await until(lambda: outputs.made[0].text.startswith("Completed"), "the card follows")


async def test_a_running_run_is_stopped_by_its_button(runtime, outputs, widgets):
    async def slow(p):
        return await p.call("shelf.slow", {})

    running = asyncio.ensure_future(begin(runtime, slow))
    await until(lambda: widgets.made, "the card is live")
    widgets.made[0].click("stop")
    outcome = await running
    assert outcome.error.code == "stopped"
    assert outputs.made[0].text.startswith("Stopped")


async def test_controls_stand_below_the_newest_finished_run_only(runtime, outputs, widgets):
    await begin(runtime, answer)
    assert outputs.made[1].is_live
    assert widgets.made[0].place in outputs.made[1].history[-1]["text/html"]
    await begin(runtime, answer)
    assert not outputs.made[1].is_live
    assert outputs.made[1].text == ""
    assert outputs.made[3].is_live


async def test_a_run_with_nothing_to_save_or_undo_has_no_controls(runtime, outputs, widgets):
    async def fails(p):
        raise ValueError("no")

    await begin(runtime, fails)
    assert len(outputs.made[1].history) == 1


async def test_a_failed_run_can_be_rolled_back_but_not_saved(runtime, shelf, outputs, widgets):
    async def fails(p):
        await p.call("shelf.note", {"text": "first"})
        raise ValueError("no")

    await begin(runtime, fails)
    controls = widgets.made[-1]
    assert controls.says("This undoes 1 call")
    assert not controls.says("Save as snippet")


async def test_saving_gives_way_to_one_line(runtime, outputs, widgets):
    outcome = await begin(runtime, answer)
    widgets.made[-1].click("save", name="forty-two", description="The answer")
    await until(lambda: not outputs.made[1].is_live, "the controls are gone")
    assert outputs.made[1].text == (
        f'Saved as snippet "forty-two". %codemode show {outcome.execution_id[-8:]} brings the controls back.'
    )
    (snippet,) = await runtime.snippets()
    assert (snippet.name, snippet.description) == ("forty-two", "The answer")


async def test_a_name_that_is_missing_or_refused_is_said_and_can_be_mended(runtime, outputs, widgets):
    await begin(runtime, answer)
    controls = widgets.made[-1]
    controls.click("save", name=" ")
    await until(lambda: controls.says("needs a name"), "the missing name is said")
    controls.click("save", name="\x00/../")
    await until(
        lambda: not controls.says("needs a name") and elements(controls.trees[-1], class_="cm-notice"), "refused"
    )
    controls.click("save", name="fine")
    await until(lambda: not outputs.made[1].is_live, "the controls are gone")


async def test_a_name_that_exists_is_said_and_replaced_only_on_request(runtime, outputs, widgets):
    first = await begin(runtime, answer)
    await runtime.save_snippet("taken", execution_id=first.execution_id, description="The first")
    await begin(runtime, gated)
    widgets.made[-1].click("approve")
    await until(lambda: outputs.made[3].is_live, "the controls are there")
    controls = widgets.made[-1]
    controls.click("save", name="taken")
    await until(lambda: controls.says('A snippet named "taken" exists (The first)'), "the name is said")
    assert (await runtime.snippets())[0].description == "The first"
    controls.click("replace", name="taken", description="The second")
    await until(lambda: not outputs.made[3].is_live, "the controls are gone")
    assert outputs.made[3].text.startswith('Saved as snippet "taken" in place of the one before.')
    assert [snippet.description for snippet in await runtime.snippets()] == ["The second"]


async def test_the_name_to_replace_is_asked_again_when_it_is_another_one(runtime, outputs, widgets):
    first = await begin(runtime, answer)
    for name in ("one", "two"):
        await runtime.save_snippet(name, execution_id=first.execution_id)
    controls = widgets.made[-1]
    controls.click("save", name="one")
    await until(lambda: controls.says('"one" exists'), "the name is said")
    controls.click("replace", name="two")
    await until(lambda: controls.says('"two" exists'), "another name is asked about again")


async def test_a_rollback_says_what_it_undid_in_the_line_and_in_the_card(runtime, shelf, outputs, widgets):
    await begin(runtime, noted)
    widgets.made[-1].click("rollback")
    await until(lambda: outputs.made[0].text.startswith("Rolled back"), "the card follows")
    assert outputs.made[1].text.startswith("Rolled back: 2 calls undone.")
    assert len(shelf.reverted) == 2


async def test_a_partly_failed_rollback_says_which_calls_are_left_and_why(runtime, outputs, widgets):
    async def bad(p):
        await p.call("shelf.note", {"text": "first"})
        return await p.call("shelf.note", {"bad": "glue"})

    await begin(runtime, bad)
    widgets.made[-1].click("rollback")
    await until(lambda: outputs.made[0].text.startswith("Partly rolled back"), "the card follows")
    assert "1 call undone, 1 failed (shelf.note: " in outputs.made[1].text
    assert "cannot undo glue" in outputs.made[1].text


async def test_show_brings_card_and_controls_of_any_run_back(runtime, outputs, widgets):
    outcome = await begin(runtime, answer)
    await begin(runtime, answer)
    await show_execution(runtime, outcome.execution_id)
    assert outputs.made[4].text.startswith("Completed")
    assert outputs.made[5].is_live
    assert not outputs.made[3].is_live


async def test_show_of_a_paused_run_has_working_buttons(runtime, shelf, outputs, widgets):
    outcome = await begin(runtime, gated)
    await show_execution(runtime, outcome.execution_id)
    widgets.made[1].click("approve")
    await until(
        lambda: outputs.made[0].text.startswith("Completed") and outputs.made[2].text.startswith("Completed"), "both"
    )
    assert shelf.counts["stow"] == 1


@pytest.fixture
async def later(tmp_path, shelf):
    """The runtime of the next kernel, and an execution whose call was under way when the kernel before ended."""
    runtime, execution_id = await cut_off_run(tmp_path, shelf, FakeExecutor())
    yield runtime, execution_id
    await runtime.close()


@pytest.fixture
async def in_doubt(later, outputs, widgets):
    """The same, taken up, with its card."""
    runtime, execution_id = later
    await runtime.recover()
    await show_execution(runtime, execution_id)
    return runtime


async def test_a_run_that_was_cut_off_says_so_and_has_no_stop_button(later, outputs, widgets):
    await show_execution(*later)
    assert outputs.made[0].text.startswith("Cut off")
    assert "%codemode recover" in outputs.made[0].text
    assert not widgets.made


async def test_its_card_becomes_live_when_it_is_taken_up(later, outputs, widgets):
    await show_execution(*later)
    await later[0].recover()
    await until(lambda: outputs.made[0].is_live, "the card asks")
    assert widgets.made[0].says("It is not known whether this call happened.")


async def test_a_call_in_doubt_is_run_again_by_its_button(in_doubt, shelf, outputs, widgets):
    assert shelf.counts["slow"] == 1
    widgets.made[0].click("run_again")
    await until(lambda: outputs.made[0].text.startswith("Completed"), "the run has ended")
    assert shelf.counts["slow"] == 2
    assert any("running again…" in inner_text(tree) for tree in widgets.made[0].trees)


async def test_a_call_that_happened_is_not_run_and_gives_the_result_that_was_typed(in_doubt, shelf, outputs, widgets):
    widgets.made[0].click("happened", result='{"id": 12}')
    await until(lambda: outputs.made[0].text.startswith("Completed"), "the run has ended")
    assert shelf.counts["slow"] == 1
    (execution,) = await in_doubt.executions()
    assert execution.result == {"id": 12}


async def test_a_call_that_happened_without_a_result_gives_null(in_doubt, outputs, widgets):
    widgets.made[0].click("happened", result=" ")
    await until(lambda: outputs.made[0].text.startswith("Completed"), "the run has ended")
    assert "null" in outputs.made[0].text


@pytest.mark.parametrize("text", ["done", "{id: 12}", "[1", "NaN", "-Infinity", "'a'", "[" * 50_000])
async def test_a_result_that_is_not_json_is_refused_and_can_be_mended(in_doubt, shelf, outputs, widgets, text):
    widgets.made[0].click("happened", result=text)
    await until(lambda: widgets.made[0].says("The result is not JSON"), "the mistake is said")
    assert widgets.made[0].says("nothing was changed")
    widgets.made[0].click("happened", result="12")
    await until(lambda: outputs.made[0].text.startswith("Completed"), "the run has ended")
    assert shelf.counts["slow"] == 1


async def test_giving_up_ends_the_run(in_doubt, shelf, outputs, widgets):
    widgets.made[0].click("give_up")
    await until(lambda: outputs.made[0].text.startswith("Failed"), "the run has ended")
    assert "it is not known whether shelf.slow" in outputs.made[0].text
    assert shelf.counts["slow"] == 1


async def test_an_answer_to_what_is_not_asked_any_more_is_refused(in_doubt, shelf, outputs, widgets):
    widget = widgets.made[0]
    sent = widget.click("run_again") | {"digest": "f" * 64}
    await until(lambda: outputs.made[0].text.startswith("Completed"), "the run has ended")
    await show_execution(in_doubt, sent["execution"])
    for stale in (sent, sent | {"action": "happened"}, sent | {"action": "give_up"}):
        widget._hand_over(widget, stale, [])
    await until(lambda: "nothing was changed" in outputs.made[0].text, "the click is refused")
    assert shelf.counts["slow"] == 2


async def test_an_answer_for_another_call_than_the_one_shown_is_refused(in_doubt, shelf, outputs, widgets):
    widget = widgets.made[0]
    button = elements(widget.trees[-1], data_action="run_again")[0].attributes
    content = {"action": "run_again", "execution": button["data-execution"], "seq": 0, "digest": button["data-digest"]}
    for forged in ({"digest": "f" * 64}, {"digest": None}, {"seq": 7}, {"seq": None}, {"action": "approve"}):
        widget._hand_over(widget, content | forged, [])
        await until(lambda: elements(widget.trees[-1], class_="cm-notice"), f"{forged} is refused")
        widget.show(bare_layout(Status("Running", "running")))
    assert shelf.counts["slow"] == 1


async def test_show_of_an_unknown_run_is_refused(runtime, outputs, widgets):
    with pytest.raises(CodemodeError) as refusal:
        await show_execution(runtime, "exec_unknown")
    assert refusal.value.code == "unknown_execution"
    assert outputs.made == []


async def test_a_run_that_was_deleted_is_said_in_its_card(runtime, outputs, widgets):
    outcome = await begin(runtime, gated)
    await runtime.delete_execution(outcome.execution_id)
    await until(lambda: outputs.made[0].text.startswith("Not available"), "the card says it")


async def test_a_fault_of_the_card_is_said_in_it_and_the_run_goes_on(runtime, outputs, widgets, monkeypatch):
    def broken(state):
        raise ZeroDivisionError("layout")

    monkeypatch.setattr(view_module, "card_layout", broken)
    outcome = await begin(runtime, answer)
    assert outcome.result == 42
    assert "ZeroDivisionError: layout" in outputs.made[0].text


@pytest.fixture
async def several(tmp_path, shelf):
    """A shell's variables with three runtimes, each with a file of its own, of which ``third`` is never used."""
    executor = FakeExecutor()
    runtimes = {
        name: Runtime([shelf], executor=executor, path=tmp_path / f"{name}.sqlite3") for name in ("a", "b", "third")
    }
    yield SimpleNamespace(user_ns={"x": 1, **runtimes})
    for runtime in runtimes.values():
        await runtime.close()


async def test_an_outcome_that_waits_gets_the_buttons_of_the_runtime_that_holds_it(several, shelf, outputs, widgets):
    first, second, third = (several.user_ns[name] for name in ("a", "b", "third"))
    await first.execute(first._executor.program(gated))
    outcome = await second.execute(second._executor.program(gated))
    OutcomeFormatter(several)(outcome)
    assert "Waiting for you" in outputs.made[0].text, "what is known without asking stands there at once"
    await until(lambda: widgets.made, "the card is live")
    widgets.made[0].click("approve")
    await until(lambda: outputs.made[0].text.startswith("Completed"), "the run has ended")
    assert [len(await runtime.pending()) for runtime in (first, second)] == [1, 0]
    assert not third.path.exists(), "nobody asked the one that has no file"


async def test_an_outcome_that_no_runtime_holds_stays_static_and_says_how_to_decide(several, runtime, outputs, widgets):
    outcome = await runtime.execute(runtime._executor.program(gated))
    formatter = OutcomeFormatter(several)
    formatter(outcome)
    await until(lambda: not formatter._tasks, "every runtime was asked")
    assert "await runtime.approve(" in outputs.made[0].text
    assert not widgets.made


async def test_of_runtimes_on_one_file_the_one_with_the_connectors_is_taken(several, tmp_path):
    complete = several.user_ns["a"]
    outcome = await complete.execute(complete._executor.program(gated))
    bare = Runtime(path=complete.path)
    assert await holder([bare, complete], outcome.execution_id) is complete
    assert await holder([bare], outcome.execution_id) is bare
    (tmp_path / "broken.sqlite3").write_text("not a store " * 100)
    assert await holder([Runtime(path=tmp_path / "broken.sqlite3"), complete], outcome.execution_id) is complete
    await bare.close()


async def test_in_a_kernel_without_a_person_the_card_is_static_and_has_no_controls(
    runtime, outputs, widgets, monkeypatch
):
    monkeypatch.setattr(outputs_module, "current_place", lambda: "file")
    await begin(runtime, gated)
    assert "await runtime.approve(" in outputs.made[0].text
    assert not outputs.made[0].is_live
    await begin(runtime, answer)
    assert not outputs.made[3].is_live
    assert widgets.made == []


async def test_the_widget_is_closed_once_no_page_shows_it(runtime, outputs, widgets):
    await begin(runtime, gated)
    widget = widgets.made[0]
    for action in ("shown", "shown"):
        widget._hand_over(widget, {"action": action}, [])
    widget.click("approve")
    await until(lambda: not outputs.made[0].is_live, "the card is static")
    widget._hand_over(widget, {"action": "hidden"}, [])
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert widget.comm is not None, "a second page still shows it"
    widget._hand_over(widget, {"action": "hidden"}, [])
    await until(lambda: widget.comm is None, "the widget is closed")


async def test_many_changes_make_few_updates(runtime, outputs, widgets):
    async def busy(p):
        for number in range(300):
            await p.call("shelf.peek", {"i": number})
        return "done"

    await begin(runtime, busy)
    assert outputs.made[0].text.startswith("Completed 300 calls")
    assert sum(len(widget.trees) for widget in widgets.made) + len(outputs.made[0].history) < 60


async def test_the_trait_holds_the_tree_as_plain_lists(runtime, outputs, widgets):
    await begin(runtime, gated)
    widget = widgets.made[0]
    assert widget.tree == json.loads(json.dumps(to_wire(widget.trees[-1])))
