"""What can be done with a finished run: keep it, undo it, read it in the saved notebook."""

import re

from playwright.sync_api import expect

from tests.e2e.notebooks import GATED, QUICK, SETUP

NO_WIDGET_IS_LOADING = "() => !document.querySelector('.jp-Notebook')?.innerText.includes('Loading widget')"


def test_a_run_is_rolled_back_by_its_button(desk):
    desk.write(SETUP, GATED)
    tab = desk.open()
    cell = tab.run(0, 1).shows("Waiting for you").press("Approve").shows("Completed")
    cell.press("Roll back").shows("world.act").press("Undo 1 call").shows("Rolled back: 1 call undone")
    assert desk.effects == ["read 7", "act seven", "undo seven"]


def test_a_run_is_saved_as_a_snippet_and_run_with_an_input(desk):
    program = "%%codemode\nasync (input) => 'hello ' + (input?.name ?? 'nobody')"
    desk.write(SETUP, program, "%%codemode\nreturn await codemode.run('greet', {name: 'Ada'});")
    tab = desk.open()
    cell = tab.run(0, 1).shows("Completed", "hello nobody").press("Save as snippet")
    cell.field("Name").fill("greet")
    cell.field("Description").fill("Greets somebody")
    cell.press("Save").shows('Saved as snippet "greet"').lacks("Description")
    tab.run(2).shows("Completed", "hello Ada")


def test_the_controls_leave_when_another_run_starts_and_come_back_on_request(desk):
    desk.write(SETUP, QUICK, QUICK.replace("6 * 7", "1"), "_id = _.execution_id[-6:]; _id", "%codemode show ID")
    tab = desk.open()
    first = tab.run(0, 1).shows("Completed", "Save as snippet")
    second = tab.run(2).shows("Completed", "Save as snippet")
    first.lacks("Save as snippet").shows("Completed", "42")
    execution = tab.run(3).text.strip().split("'")[1]
    again = tab.cell(4).write(f"%codemode show {execution}").run().finished()
    again.shows("Completed", "Save as snippet")
    second.lacks("Save as snippet").shows("Completed")


def test_a_saved_notebook_shows_its_runs_without_a_kernel(desk):
    desk.write(SETUP, GATED, "%%codemode\nreturn [{city: 'Oslo', mm: 3}, {city: 'Bergen', mm: 30}];")
    tab = desk.open()
    tab.run(0, 1).shows("Waiting for you").press("Approve").shows("Completed")
    tab.run(2).shows("Completed", "Bergen")
    tab.save()
    tab.close()
    desk.server.end_kernels()
    (desk.folder / "effects.txt").unlink()

    again = desk.open()
    # What is said about a widget without a kernel comes last.
    again.page.wait_for_function(NO_WIDGET_IS_LOADING)
    again.cell(1).shows("Completed", "world.act").lacks("Error displaying widget")
    again.cell(2).shows("Completed", "Oslo", "Bergen").lacks("Error displaying widget")
    assert again.cell(1).button("Approve").count() == 0


def test_a_notebook_saved_while_a_run_waits_says_so_without_a_kernel_and_how_to_go_on(desk, screenshots):
    desk.write(SETUP, GATED)
    tab = desk.open()
    tab.run(0, 1).shows("Waiting for you")
    tab.save()
    tab.close()
    desk.server.end_kernels()

    again = desk.open()
    again.page.wait_for_function(NO_WIDGET_IS_LOADING)
    cell = again.cell(1).shows("Waiting for you", "world.act", "seven", "%codemode show")
    cell.lacks("Error displaying widget")
    assert cell.output.get_by_role("button").count() == 0
    cell.picture(screenshots / "lab-saved-waiting-light.png")


def test_a_notebook_saved_after_the_run_came_to_wait_shows_what_waits(desk):
    slow = GATED.replace("const number", "await new Promise((resolve) => setTimeout(resolve, 700));\n  const number")
    desk.write(SETUP, slow)
    tab = desk.open()
    tab.run(0)
    cell = tab.cell(1).run().shows("Running")
    cell.finished().shows("Waiting for you")
    saved = tab.save().cells[1].outputs[0]["data"]
    assert set(saved) == {"text/html", "text/plain"}
    assert saved["text/plain"].startswith("Waiting for you")


def test_the_saved_outcome_has_a_text_form_and_no_script(desk):
    desk.write(SETUP, QUICK)
    tab = desk.open()
    tab.run(0, 1).shows("Completed", "42")
    saved = tab.save()
    shown = [output["data"] for output in saved.cells[1].outputs if "text/html" in output.get("data", {})]
    static = [data for data in shown if "application/vnd.jupyter.widget-view+json" not in data]
    assert static, saved.cells[1].outputs
    for data in static:
        assert not re.search(r"<script|javascript:|\son\w+=", data["text/html"], re.IGNORECASE)
    assert any("Completed" in data["text/plain"] and "42" in data["text/plain"] for data in static)


def test_every_control_has_a_name_for_screen_readers(desk):
    desk.write(SETUP, GATED)
    tab = desk.open()
    cell = tab.run(0, 1).shows("Waiting for you")
    buttons = cell.output.get_by_role("button")
    assert buttons.count() >= 2
    for button in buttons.all():
        expect(button).to_have_accessible_name(re.compile(r"\w"))
