"""``%codemode`` shows what there is and decides about it; what it prints is short and safe to print."""

import pytest
from IPython.core.error import UsageError

from codemode_jupyter.connectors.tool import Tool
from codemode_jupyter.errors import CodemodeError
from codemode_jupyter.notebook.answering import split_answer
from codemode_jupyter.notebook.failures import ProgramFailedError
from codemode_jupyter.notebook.ids import find_execution, short_id
from codemode_jupyter.notebook.tables import one_line
from tests.notebook.cut_off import cut_off_run


async def gated(p):
    return await p.call("shelf.stow", {"what": "jar"})


async def gated_twice(p):
    return await p.gather(p.call("shelf.stow", {"what": "jar"}), p.call("shelf.stow", {"what": "cup"}))


async def noted(p):
    return await p.call("shelf.note", {"text": "hello"})


@pytest.fixture
def says(bench, capsys):
    """Run a line and return what it printed."""

    def run(line):
        capsys.readouterr()
        bench.run(line)
        return capsys.readouterr().out

    return run


@pytest.fixture
def paused(bench):
    """The id of an execution that waits."""
    return bench.run(bench.cell(gated)).execution_id


def test_help_lists_every_command(says):
    printed = says("%codemode help")
    for name in [
        "pending",
        "history",
        "show",
        "approve",
        "reject",
        "respond",
        "recover",
        "rollback",
        "snippets",
        "save",
        "rm",
        "doctor",
        "help",
    ]:
        assert f"%codemode {name}" in printed
    assert says("%codemode") == printed


def test_with_nothing_there_each_list_says_so(says):
    assert "Nothing is waiting" in says("%codemode pending")
    assert "Nothing has been run" in says("%codemode history")
    assert "No snippet" in says("%codemode snippets")
    assert "No run was cut off" in says("%codemode recover")


def test_pending_lists_calls_with_their_arguments(says, paused):
    printed = says("%codemode pending")
    assert short_id(paused) in printed
    assert "shelf.stow" in printed
    assert '{"what": "jar"}' in printed


def test_history_lists_executions_with_their_status(says, bench, paused):
    bench.run(bench.cell(noted))
    first, second = [line for line in says("%codemode history").splitlines() if "program" in line]
    assert "completed" in first
    assert "paused" in second


def test_approve_goes_on_with_the_run_shows_it_and_is_worth_its_outcome(says, bench, paused):
    printed = says(f"%codemode approve {short_id(paused)}")
    assert "Completed" in printed
    assert bench.variables["_"].result == {"id": 1}
    assert bench.shelf.created == [{"what": "jar"}]


def test_one_call_of_several_can_be_approved(bench):
    execution_id = bench.run(bench.cell(gated_twice)).execution_id
    outcome = bench.run(f"%codemode approve {short_id(execution_id)} 1")
    assert outcome.status == "paused"
    assert bench.shelf.created == [{"what": "cup"}]


def test_approving_twice_is_refused_and_runs_nothing_again(bench, paused):
    bench.run(f"%codemode approve {short_id(paused)}")
    failure = bench.fails(f"%codemode approve {short_id(paused)}")
    assert isinstance(failure, ProgramFailedError)
    assert failure.outcome.error.code == "not_paused"
    assert len(bench.shelf.created) == 1


def test_reject_ends_the_execution(says, bench, paused):
    assert "Rejected" in says(f"%codemode reject {short_id(paused)}")
    assert bench.run(f"(await runtime.execution({paused!r})).status") == "rejected"
    assert bench.fails(f"%codemode reject {short_id(paused)}").code == "not_pending"


def test_rollback_undoes_and_reports(says, bench):
    execution_id = bench.run(bench.cell(noted)).execution_id
    assert "reverted 1" in says(f"%codemode rollback {short_id(execution_id)}")
    assert len(bench.shelf.reverted) == 1


def test_show_shows_the_card_again(says, paused):
    printed = says(f"%codemode show {short_id(paused)}")
    assert "Waiting for you" in printed
    assert "jar" in printed


@pytest.fixture
def cut_off(bench):
    """The id of an execution whose call was under way when its kernel ended; ``runtime`` is the next kernel's."""
    bench.variables["_found"] = cut_off_run(bench.folder, bench.shelf, bench.sandbox)
    return bench.run("runtime, execution_id = await _found; execution_id")


def test_after_a_kernel_has_ended_each_command_leads_to_recover(says, cut_off):
    assert "1 run was cut off when the kernel ended: %codemode recover" in says("%codemode pending")
    assert "cut off" in says("%codemode history")
    assert "Cut off" in says(f"%codemode show {short_id(cut_off)}")


def test_recover_asks_about_a_call_in_doubt_and_runs_nothing_again(says, bench, cut_off):
    printed = says("%codemode recover")
    assert "It is not known whether this call happened." in printed
    assert "1 run was cut off when the kernel ended." in printed
    assert f"{short_id(cut_off)}  in doubt: shelf.slow" in printed
    assert bench.shelf.counts["slow"] == 1
    printed = says("%codemode pending")
    assert "did it happen?" in printed
    assert "%codemode show ID asks you" in printed
    assert "approve" not in printed
    printed = says("%codemode recover")
    assert "It is not known whether this call happened." in printed
    assert "No run was cut off; what is in doubt is shown above." in printed


def test_recover_goes_on_with_what_is_not_in_doubt_and_shows_it(says, bench):
    bench.shelf.extra.append(Tool("safe", bench.shelf._slow, idempotent=True))

    async def safe(p):
        return await p.call("shelf.safe", {"gate": "door"})

    bench.variables["_found"] = cut_off_run(bench.folder, bench.shelf, bench.sandbox, program=safe)
    execution_id = bench.run("runtime, execution_id = await _found; execution_id")
    printed = says("%codemode recover")
    assert printed.startswith("Completed 1 call")
    assert f"{short_id(execution_id)}  completed" in printed
    assert bench.shelf.counts["slow"] == 2


def test_recover_says_what_cannot_be_taken_up_and_why(says, bench, cut_off):
    bench.variables["found"] = bench.variables["runtime"].path
    bench.run("from codemode_jupyter import Runtime; runtime = Runtime(path=found)")
    printed = says("%codemode recover")
    assert "missing_connectors: Execution" in printed
    assert "1 run was cut off" in says("%codemode pending")


def test_a_snippet_is_saved_listed_and_removed(says, bench, paused):
    assert "'put'" in says(f"%codemode save put {short_id(paused)} -d 'Put a jar away'").replace('"', "'")
    printed = says("%codemode snippets")
    assert "put javascript" in " ".join(printed.split())
    assert "Put a jar away" in printed
    failure = bench.fails("%codemode rm putt")
    assert failure.code == "unknown_snippet"
    assert "Did you mean put?" in str(failure)
    assert "Removed put" in says("%codemode rm put")
    assert "No snippet" in says("%codemode snippets")


def test_an_unknown_command_is_told_with_the_nearest(bench):
    failure = bench.fails("%codemode aprove x")
    assert type(failure) is UsageError
    assert "did you mean approve" in str(failure)


@pytest.mark.parametrize("line", ["show", "approve", "approve a b c", "save x", "rm", "pending x"])
def test_wrong_arguments_are_answered_with_the_right_form(bench, line):
    assert f"write %codemode {line.split()[0]}" in str(bench.fails(f"%codemode {line}"))


def test_a_seq_that_is_no_number_is_told(bench, paused):
    assert "not 'first'" in str(bench.fails(f"%codemode approve {short_id(paused)} first"))


def test_r_says_which_runtime(says, bench, paused):
    bench.variables["others"] = bench.another("named")
    assert "Nothing is waiting" in says("%codemode -r others pending")
    assert "Nothing is waiting" in says("%codemode pending -r named")
    assert short_id(paused) in says("%codemode pending -r runtime")


def test_what_a_program_wrote_cannot_reach_the_terminal_as_control_characters(says, bench):
    async def evil(p):
        return await p.call("shelf.stow", {"what": "\x1b[31mred\u202egnp\x07"})

    bench.run(bench.cell(evil))
    bench.run(bench.cell(evil).replace("async () =>", "async () => /*\x1b[2J*/"))
    printed = says("%codemode pending") + says("%codemode history")
    assert "red" in printed
    assert all(character.isprintable() or character == "\n" for character in printed)


class TestFindingAnExecution:
    IDS = ("exec_000000000000001_aaaa1111", "exec_000000000000002_aaaa2222", "exec_000000000000003_bbbb2222")

    @pytest.mark.parametrize(
        ("text", "index"),
        [
            ("exec_000000000000001_aaaa1111", 0),
            ("000000000000001_aaaa1111", 0),
            ("000000000000002", 1),
            ("exec_000000000000002", 1),
            ("1111", 0),
            ("bbbb2222", 2),
            ("a2222", 1),
        ],
    )
    def test_the_whole_id_the_beginning_or_the_end_is_enough(self, text, index):
        assert find_execution(text, self.IDS) == self.IDS[index]

    def test_what_may_be_several_is_told(self):
        with pytest.raises(CodemodeError, match="aaaa2222, bbbb2222") as refusal:
            find_execution("2222", self.IDS)
        assert refusal.value.code == "ambiguous_execution"

    @pytest.mark.parametrize("text", ["aaaa111x", "exec_", ""])
    def test_what_is_none_is_told(self, text):
        with pytest.raises(CodemodeError) as refusal:
            find_execution(text, self.IDS)
        assert refusal.value.code == "unknown_execution"

    def test_the_nearest_is_named(self):
        with pytest.raises(CodemodeError, match="Did you mean aaaa1111"):
            find_execution("aaaa1113", self.IDS)


def test_one_line_is_cut_to_its_width():
    assert one_line("a  b\n\tc", 80) == "a b c"
    assert one_line("x" * 50, 10) == "x" * 9 + "…"


@pytest.mark.parametrize(
    ("typed", "answer"),
    [
        ("it's  nearer", "it's  nearer"),
        ("-5", "-5"),
        ('{"jars": 5, "shelf": "top"}', '{"jars": 5, "shelf": "top"}'),
        ("'{\"jars\": 5}'", '{"jars": 5}'),
        ('"two words"', "two words"),
        ("'a' or 'b'", "'a' or 'b'"),
        ("--wait -r asking", "--wait -r asking"),
        ('"', '"'),
    ],
)
@pytest.mark.parametrize("before", ["respond 1a2b", "-r asking respond 1a2b", " --runtime=asking  respond  1a2b"])
def test_an_answer_is_taken_as_it_was_typed_but_for_quotation_marks_around_it(before, typed, answer):
    assert split_answer(f"{before} {typed} ") == (before, answer)


@pytest.mark.parametrize("line", ["respond", "respond 1a2b", "search respond 1a2b x", "show respond", ""])
def test_other_lines_have_no_answer(line):
    assert split_answer(line) == (line, None)


FORM = {"type": "object", "properties": {"jars": {"type": "integer"}, "shelf": {"enum": ["top", "low"]}}}


async def asks_twice(p):
    return [await p.call("shelf.ask_form", {}), await p.call("shelf.ask_text", {})]


def test_what_a_tool_asks_is_listed_and_answered_by_a_command(says, bench):
    async def ask_form(_, context):
        return await context.interrupt("How many, and where?", FORM)

    async def ask_text(_, context):
        return await context.interrupt("Why?")

    bench.shelf.extra += [Tool("ask_form", ask_form), Tool("ask_text", ask_text)]
    bench.variables["runtime"] = bench.another("asking")
    id_ = bench.run(bench.cell(asks_twice)).execution_id
    printed = says("%codemode pending")
    assert '"How many, and where?"' in printed
    assert "%codemode respond ID ANSWER" in printed
    with pytest.raises(CodemodeError, match="no question that waits"):
        bench.run("%codemode respond nothing 5")
    with pytest.raises(CodemodeError, match="not JSON"):
        bench.run(f"%codemode respond {short_id(id_)} five")
    bench.run(f'%codemode respond {short_id(id_)} {{"jars": 5, "shelf": "top"}}')
    outcome = bench.run(f"%codemode respond {short_id(id_)}:1:0 it's nearer")
    assert outcome.result == [{"jars": 5, "shelf": "top"}, "it's nearer"]
