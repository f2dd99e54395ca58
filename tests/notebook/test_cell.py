"""What a ``%%codemode`` cell returns, sets, shows and raises."""

import pytest
from IPython.core.error import UsageError

from codemode_jupyter.notebook.failures import ProgramFailedError


async def answer(_):
    return [{"n": 1}]


async def gated(p):
    return await p.call("shelf.stow", {"what": "jar"})


async def broken(p):
    return await p.call("shelf.fragile", {})


def test_a_completed_program_gives_its_outcome(bench):
    outcome = bench.run(bench.cell(answer))
    assert (outcome.status, outcome.result) == ("completed", [{"n": 1}])
    assert bench.variables["_"] is outcome


def test_the_card_is_shown_once_and_the_outcome_not_again(bench, capsys):
    bench.run(bench.cell(answer))
    shown = capsys.readouterr().out
    assert shown.count("Completed") == 1
    assert "Outcome(" not in shown


def test_an_outcome_that_is_the_value_of_a_plain_cell_is_shown_as_a_card(bench, capsys):
    bench.run(bench.cell(answer))
    capsys.readouterr()
    bench.run("_")
    assert "Completed" in capsys.readouterr().out


def test_o_sets_the_variable_to_the_result(bench):
    bench.run(bench.cell(answer, "-o found"))
    assert bench.variables["found"] == [{"n": 1}]


def test_a_gated_call_ends_the_cell_and_the_variable_waits_for_the_approval(bench):
    bench.variables["found"] = "from an earlier run"
    outcome = bench.run(bench.cell(gated, "-o found"))
    assert outcome.status == "paused"
    assert bench.variables["found"] is None
    bench.run(f"await runtime.approve({outcome.execution_id!r})")
    bench.run("import asyncio; await asyncio.sleep(0)")
    assert bench.variables["found"] == {"id": 1}


def test_an_older_run_that_is_approved_later_does_not_overwrite_the_variable_of_a_newer_one(bench):
    older = bench.run(bench.cell(gated, "-o found"))
    bench.run(bench.cell(answer, "-o found"))
    bench.run(f"await runtime.approve({older.execution_id!r})")
    bench.run("import asyncio; await asyncio.sleep(0)")
    assert bench.variables["found"] == [{"n": 1}]


def test_with_wait_the_cell_goes_on_after_the_approval(bench):
    bench.decide_soon("approve")
    outcome = bench.run(bench.cell(gated, "--wait -o found"))
    assert outcome.status == "completed"
    assert bench.variables["found"] == {"id": 1}


def test_with_wait_a_rejection_makes_the_cell_fail(bench):
    bench.decide_soon("reject")
    failure = bench.fails(bench.cell(gated, "--wait"))
    assert isinstance(failure, ProgramFailedError)
    assert bench.shelf.created == []


def test_a_program_that_fails_makes_the_cell_fail_with_one_line(bench, capsys):
    failure = bench.fails(bench.cell(broken, "-o found"))
    assert isinstance(failure, ProgramFailedError)
    assert failure.outcome.status == "error"
    assert bench.variables["found"] is None
    [line] = failure._render_traceback_()
    assert "\n" not in line
    assert str(failure) in line
    assert "Traceback" not in capsys.readouterr().out


def test_a_program_that_cannot_be_parsed_makes_the_cell_fail_with_its_place(bench):
    failure = bench.fails("%%codemode\nreturn 1 +;\n")
    assert failure.outcome.error.code == "syntax_error"
    assert "line 1" in str(failure)


def test_a_value_in_the_message_of_a_failure_cannot_add_lines(bench):
    async def shout(_):
        raise ValueError("one\ntwo\nthree")

    [line] = bench.fails(bench.cell(shout))._render_traceback_()
    assert "one" in line
    assert "two" not in line


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("--wiat", "--wiat"),
        ("-o", "-o"),
        ("-o 1x", "1x"),
        ("-o class", "class"),
        ("-l ruby", "ruby"),
        ("extra", "extra"),
        ("-r 'open", "quotation"),
    ],
)
def test_wrong_options_are_told_in_one_sentence_and_nothing_runs(bench, options, words):
    failure = bench.fails(bench.cell(answer, options))
    assert type(failure) is UsageError
    assert words in str(failure)
    assert "\n" not in str(failure)
    assert bench.sandbox.passes == 0


@pytest.mark.parametrize("language", ["js", "javascript", "JavaScript", "ts", "typescript"])
def test_javascript_has_several_names(bench, language):
    assert bench.run(bench.cell(answer, f"-l {language}")).status == "completed"


@pytest.mark.parametrize("language", ["py", "Python"])
def test_a_program_may_be_in_python(bench, language):
    assert bench.run(bench.cell(answer, f"-l {language}")).status == "completed"
    assert bench.sandbox.passes == 1


class TestWhichRuntime:
    def test_r_takes_the_variable_of_that_name(self, bench):
        bench.variables["tools"] = bench.another("named")
        outcome = bench.run(bench.cell(answer, "-r tools"))
        assert bench.run(f"(await tools.execution({outcome.execution_id!r})).status") == "completed"

    def test_r_takes_the_runtime_of_that_name(self, bench):
        bench.variables["tools"] = bench.another("named")
        outcome = bench.run(bench.cell(answer, "-r named"))
        assert bench.run(f"(await tools.execution({outcome.execution_id!r})).status") == "completed"

    def test_an_unknown_name_is_told_with_the_nearest(self, bench):
        failure = bench.fails(bench.cell(answer, "-r runtmie"))
        assert type(failure) is UsageError
        assert "'runtmie'" in str(failure)
        assert "'runtime'" in str(failure)

    def test_a_variable_that_is_no_runtime_is_told(self, bench):
        bench.variables["number"] = 1
        assert "is an int, not a Runtime" in str(bench.fails(bench.cell(answer, "-r number")))

    def test_without_r_the_only_one_is_taken_whatever_its_name(self, bench):
        bench.variables["tools"] = bench.variables["alias"] = bench.variables.pop("runtime")
        assert bench.run(bench.cell(answer)).status == "completed"

    def test_without_r_several_are_asked_about(self, bench):
        bench.variables["tools"] = bench.variables.pop("runtime")
        bench.variables["others"] = bench.another("named")
        failure = bench.fails(bench.cell(answer))
        assert "tools, others" in str(failure)
        assert "-r NAME" in str(failure)

    def test_past_outputs_do_not_count(self, bench):
        bench.run("runtime")
        bench.variables["tools"] = bench.variables.pop("runtime")
        bench.variables["_5"] = bench.another("named")
        assert bench.run(bench.cell(answer)).status == "completed"

    def test_where_there_is_none_one_is_made_and_kept(self, bench, monkeypatch):
        del bench.variables["runtime"]
        monkeypatch.setattr("codemode_jupyter.notebook.environment.find_deno", lambda: None)
        failure = bench.fails("%%codemode\nreturn 1;\n")
        assert failure.outcome.error.code == "no_page"
        made = bench.variables["runtime"]
        bench.fails("%%codemode\nreturn 1;\n")
        assert bench.variables["runtime"] is made
        assert made.path == bench.folder / "codemode.sqlite3"

    def test_a_variable_of_the_user_is_never_overwritten(self, bench):
        bench.variables["runtime"] = "3.11"
        assert "is a str, not a Runtime" in str(bench.fails("%%codemode\nreturn 1;\n"))
        assert bench.variables["runtime"] == "3.11"
