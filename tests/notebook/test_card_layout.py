"""What the card says, state by state, and that nothing foreign becomes markup."""

import html as standard_html
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from codemode_jupyter.notebook.card.element import ATTRIBUTES, TAGS, Element, element, to_wire
from codemode_jupyter.notebook.card.html import markup, to_html
from codemode_jupyter.notebook.card.layout import CardState, card_layout
from codemode_jupyter.notebook.card.pending import pending_layout
from codemode_jupyter.notebook.card.status import clock, duration
from codemode_jupyter.notebook.card.text import to_text
from codemode_jupyter.runtime.digest import combined_digest
from codemode_jupyter.runtime.records import ErrorDetail
from tests.notebook.card_examples import (
    CREATE_ARGS,
    CREATED,
    DAILY,
    HOSTILE,
    ID,
    NOON,
    TREES,
    call,
    doubtful,
    paused,
    record,
    waiting,
)


def elements(node, *, tag=None, **attributes):
    if not isinstance(node, Element):
        return []
    wanted = {name.rstrip("_").replace("_", "-"): value for name, value in attributes.items()}
    here = (tag is None or node.tag == tag) and all(
        node.attributes.get(name) == value for name, value in wanted.items()
    )
    return [node] * here + [found for child in node.children for found in elements(child, tag=tag, **attributes)]


def inner_text(node):
    return node if isinstance(node, str) else "".join(inner_text(child) for child in node.children)


def first_line(name):
    return to_text(TREES[name]).splitlines()[0]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("running", "Running 2 calls exec 2c3d7f3a"),
        ("waiting-one", "Waiting for you 3 calls · 1 waiting 41 ms · exec 2c3d7f3a"),
        ("completed-text", "Completed 2 calls · 1 replayed 58 ms · exec 2c3d7f3a"),
        ("failed-call", "Failed 2 calls · 1 failed 41 ms · exec 2c3d7f3a"),
        ("timed-out", "Timed out 2 calls 41 ms · exec 2c3d7f3a"),
        ("stopped", "Stopped 2 calls 41 ms · exec 2c3d7f3a"),
        ("syntax-error", "Not run exec 2c3d7f3a"),
        ("rejected", "Rejected 2 calls 41 ms · exec 2c3d7f3a"),
        ("rolled-back", "Rolled back 2 calls 41 ms · exec 2c3d7f3a"),
        ("partly-rolled-back", "Partly rolled back 3 calls 41 ms · exec 2c3d7f3a"),
    ],
)
def test_the_head_says_the_status_the_calls_the_time_and_the_id(name, words):
    assert first_line(name) == words


@pytest.mark.parametrize(("preparation", "words"), [("", "Waiting for its turn"), ("Loading Python… 12 of 13 MB",) * 2])
def test_the_head_says_what_a_run_waits_for_before_it_begins(preparation, words):
    waits = record(status="running", waits_for_turn=True, preparation=preparation)
    assert to_text(card_layout(CardState(waits))).startswith(words)


def test_each_call_has_a_line_with_what_it_came_to():
    lines = to_text(TREES["completed-text"]).splitlines()
    assert lines[1] == '✓ weather.daily {city: "Seattle", year: 2015} 365 rows replayed'
    assert lines[2].startswith('✓ tracker.create_issue {title: "Rain on 144 days in 2015"')
    assert lines[2].endswith(f"{{id: 12}} approved by you {clock(NOON + 60)}")
    assert to_text(TREES["failed-call"]).splitlines()[2] == (
        "✗ tracker.find {label: 3} label: Input should be a valid string failed"
    )


@pytest.mark.parametrize(
    ("state", "note"),
    [
        ("reverted", "undone"),
        ("cancelled", "cancelled"),
        ("in_doubt", "may have happened"),
        ("approved", "approved"),
    ],
)
def test_the_state_of_a_call_is_told_in_words(state, note):
    tree = card_layout(CardState(record("error", [call(0, state=state, has_result=False, result=None)])))
    assert note in to_text(tree)


def test_a_call_that_still_executes_is_in_doubt_once_nobody_runs_it():
    calls = [call(0, state="executing", has_result=False)]
    running, stopped = (card_layout(CardState(record(status, calls))) for status in ("running", "error"))
    assert "running" in to_text(running).splitlines()[1]
    assert "may have happened" in to_text(stopped).splitlines()[1]


def test_a_call_opens_to_its_whole_arguments_and_result():
    tree = card_layout(CardState(record("completed", [CREATED], result=1)))
    body = inner_text(elements(tree, tag="details", data_key="call-2")[0])
    assert CREATE_ARGS["body"] in body
    assert "{id: 12}" in body


def test_many_calls_are_folded_with_a_count_and_bounded():
    text = to_text(TREES["many-calls"])
    assert "1,180 earlier calls · 13 failed" in text
    assert "980 calls before these not shown" in markup(TREES["many-calls"])
    assert len(elements(TREES["many-calls"], tag="details", class_="cm-call cm-ok")) < 230


def test_fifty_calls_are_not_folded():
    tree = card_layout(CardState(record("completed", [call(n) for n in range(50)], result=1)))
    assert "earlier" not in to_text(tree)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("completed-undefined", "It returned nothing (undefined)."),
        ("completed-null", "It returned nothing (null or undefined)."),
        ("completed-number", "144"),
        ("completed-text", "December was the wettest month."),
        ("completed-table", "December  284.5  26"),
        ("completed-bytes", "1,024 bytes"),
        ("rolled-back", "undone"),
    ],
)
def test_the_result_is_shown_in_its_form(name, words):
    assert words in to_text(TREES[name])


def test_a_program_in_python_that_returned_nothing_returned_none():
    program = replace(record("completed", result=None), language="python")
    assert "It returned nothing (None)." in to_text(card_layout(CardState(program)))


def test_an_error_shows_name_message_place_and_the_line_with_a_caret():
    assert to_text(TREES["failed-excerpt"]).splitlines()[3:7] == [
        "TypeError Cannot read properties of undefined (reading 'mm') (line 4, column 18)",
        "3 │   const wettest = months.sort(byRain)[0];",
        "4 │   return wettest.mm;",
        "  │                  ^",
    ]


def test_an_excerpt_of_a_long_line_shows_the_part_with_the_fault():
    code = "x" * 5_000 + "FAULT" + "y" * 5_000
    tree = card_layout(
        CardState(record("error", [], code=code, error=ErrorDetail("program_error", "no", line=1, column=5_001)))
    )
    shown = to_text(tree)
    line, caret = (text.partition("│ ")[2] for text in shown.splitlines() if "│" in text)
    assert line[caret.index("^") :].startswith("FAULT")
    assert len(line) < 200


def test_a_place_outside_the_program_is_no_fault_of_the_card():
    for line, column in [(99, 1), (0, 0), (1, 99_999), (1, None)]:
        tree = card_layout(
            CardState(record("error", error=ErrorDetail("program_error", "no", line=line, column=column)))
        )
        assert "no" in to_text(tree)


def test_console_lines_tell_their_level():
    text = to_text(TREES["console"])
    assert "Console (5)" in text
    assert "warn two days have no value" in text
    assert "error the second station did not answer" in text


# ---- what waits


def test_every_argument_of_a_waiting_call_is_complete():
    tail = "x" * 200_000 + "THE TAIL"
    args = {"body": tail, "deep": {"list": [{"n": n, "text": "y" * 80} for n in range(3_000)]}, "last": "LAST"}
    text = inner_text(pending_layout([waiting(1, args)], {}, live=True))
    assert tail in text
    assert "n: 2999" in text
    assert "LAST" in text
    assert "200,008 characters, complete (the box scrolls if they do not fit)" in text


def test_arguments_in_any_number_are_complete():
    text = inner_text(pending_layout([waiting(1, {f"key{n}": n for n in range(10_000)})], {}, live=True))
    assert "key9999: 9999" in text
    text = inner_text(pending_layout([waiting(1, ["first", {"second": 2}])], {}, live=True))
    assert '["first", {second: 2}]' in text


@pytest.mark.parametrize("text", ["42", "true", "null", "", " padded ", '"quoted"', "[1]", "{}", "undefined", "NaN"])
def test_a_text_that_could_be_taken_for_something_else_is_quoted(text):
    box = pending_layout([waiting(1, {"value": text, "number": 1})], {}, live=True)
    assert inner_text(elements(box, tag="pre")[0]) == f'"{text}"' if '"' not in text else '"\\"quoted\\""'


def test_hidden_characters_of_arguments_are_visible_before_an_approval():
    text = inner_text(TREES["waiting-hostile"])
    for mark in ("⟨U+202E⟩", "⟨U+200B⟩", "⟨U+0430⟩", "⟨U+001B⟩", "⟨U+E0068⟩", "⟨U+D83D⟩"):
        assert mark in text


def test_buttons_are_bound_to_execution_seq_and_digest():
    calls = [waiting(2, CREATE_ARGS), waiting(3, {"title": "Second"})]
    box = pending_layout(calls, {}, live=True)
    for pending in calls:
        for action in ("approve", "reject"):
            (button,) = elements(box, data_action=action, data_seq=str(pending.seq))
            assert button.attributes["data-execution"] == ID
            assert button.attributes["data-digest"] == pending.digest
            assert button.attributes["aria-label"] == f"{action.capitalize()} tracker.create_issue"
    (together,) = elements(box, data_action="approve_all")
    assert together.attributes["data-digest"] == combined_digest(calls)
    assert inner_text(together) == "Approve all 2"


def test_one_waiting_call_has_no_approve_all():
    assert not elements(pending_layout([waiting(2, {})], {}, live=True), data_action="approve_all")


def test_while_a_decision_is_under_way_no_other_can_be_made():
    box = pending_layout([waiting(2, {}), waiting(3, {})], {2: "approve"}, live=True)
    assert {
        node.attributes.get("aria-disabled")
        for node in elements(box, tag="button")
        if node.attributes["data-action"] != "toggle"
    } == {"true"}
    assert inner_text(elements(box, data_action="approve", data_seq="2")[0]) == "approving…"


def test_the_static_card_of_a_paused_run_has_no_buttons_and_says_how_to_decide():
    tree = TREES["waiting-static"]
    assert not elements(tree, tag="button")
    assert f'await runtime.approve("{ID}")' in to_text(tree)


def test_a_call_in_doubt_is_explained_and_has_three_answers_bound_to_what_is_shown():
    box = pending_layout([doubtful(2, CREATE_ARGS)], {}, live=True)
    text = inner_text(box)
    assert "It is not known whether this call happened." in text
    assert "The kernel ended while it was under way, before its outcome was recorded." in text
    assert CREATE_ARGS["body"] in text
    names = {
        "run_again": "Run tracker.create_issue again",
        "happened": "tracker.create_issue happened, go on",
        "give_up": "Give up tracker.create_issue and end the run",
    }
    for action, name in names.items():
        (button,) = elements(box, data_action=action)
        assert (button.attributes["data-execution"], button.attributes["data-seq"]) == (ID, "2")
        assert button.attributes["data-digest"] == "digest-2"
        assert button.attributes["aria-label"] == name
    assert elements(box, tag="input", data_field="result")
    assert not elements(box, data_action="approve")
    assert "1 in doubt" in first_line("doubt-one")


def test_while_a_call_is_in_doubt_others_can_be_rejected_but_not_yet_approved():
    box = pending_layout([doubtful(2, {}), waiting(3, {}), waiting(4, {})], {}, live=True)
    assert not elements(box, data_action="approve") + elements(box, data_action="approve_all")
    assert [button.attributes["data-seq"] for button in elements(box, data_action="reject")] == ["3", "4"]
    assert inner_text(box).count("It can be approved once the call in doubt is settled.") == 2


def test_while_an_answer_is_under_way_no_other_can_be_given():
    box = pending_layout([doubtful(2, {})], {2: "run_again"}, live=True)
    buttons = [button for button in elements(box, tag="button") if button.attributes["data-action"] != "toggle"]
    assert {button.attributes.get("aria-disabled") for button in buttons} == {"true"}
    assert [inner_text(button) for button in buttons] == ["running again…", "Go on", "Give up"]


def test_the_static_card_of_a_call_in_doubt_explains_it_and_says_how_to_answer():
    tree = TREES["doubt-static"]
    assert not elements(tree, tag="button")
    text = to_text(tree)
    assert "It is not known whether this call happened." in text
    assert "%codemode show 2c3d7f3a" in text
    assert f'await runtime.respond("{ID}:2", "run_again")' in text
    assert "approve" not in text


def test_a_run_whose_kernel_is_gone_says_so_and_how_to_take_it_up_again():
    assert first_line("cut-off") == "Cut off 2 calls · 1 in doubt exec 2c3d7f3a"
    assert "%codemode recover" in to_text(TREES["cut-off"])
    live = CardState(record("running", [DAILY]), live=True, stale=True)
    assert not elements(card_layout(live), data_action="stop")


def test_the_program_is_left_out_where_it_stands_above():
    assert not elements(card_layout(CardState(record(result=1), program=False)), data_key="program")
    assert elements(card_layout(CardState(record(result=1))), data_key="program")


# ---- markup


class Collector(HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.tags, self.attributes, self.text = set(), set(), []
        self.open = []

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes.update(name for name, _ in attrs)
        if tag != "input":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "style" not in self.open:
            self.text.append(data)


@pytest.mark.parametrize("name", TREES)
def test_html_has_only_allowed_tags_and_attributes_and_keeps_every_text(name):
    parsed = Collector()
    parsed.feed(to_html(TREES[name]))
    parsed.close()
    assert not parsed.open
    assert parsed.tags <= TAGS | {"style"}
    assert parsed.attributes <= ATTRIBUTES
    assert "".join(parsed.text).replace("\n", "") == inner_text(TREES[name]).replace("\n", "")


def test_what_is_hostile_arrives_as_text():
    html = markup(TREES["hostile"])
    assert not re.search(r"<(img|script|b)\b", html)
    assert standard_html.escape("<img src=x onerror=alert(1)>", quote=False) in html


def test_a_digest_or_name_cannot_leave_its_attribute():
    hostile = '"><script>alert(1)</script>'
    tree = pending_layout(
        [type(waiting(1, {}))(hostile, 1, hostile, hostile, {hostile: hostile}, hostile, hostile)], {}, live=True
    )
    assert "<script" not in markup(tree)
    parsed = Collector()
    parsed.feed(markup(tree))
    assert parsed.attributes <= ATTRIBUTES


@pytest.mark.parametrize("name", TREES)
def test_every_tree_can_be_sent_and_saved_as_utf8(name):
    def texts(wire):
        if isinstance(wire, str):
            yield wire
        else:
            yield from wire[1].values()
            for child in wire[2]:
                yield from texts(child)

    for text in texts(to_wire(TREES[name])):
        text.encode("utf-8")
    to_html(TREES[name]).encode("utf-8")
    to_text(TREES[name]).encode("utf-8")


@pytest.mark.parametrize("name", [name for name in TREES if "hostile" in name])
def test_the_text_form_has_no_control_characters(name):
    assert re.fullmatch(r"[^\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\ufeff]*", to_text(TREES[name]))


def test_math_delimiters_stand_under_a_class_that_typesetters_skip():
    for name in TREES:
        classes = TREES[name].attributes["class"].split()
        assert {"mathjax_ignore", "tex2jax_ignore"} <= set(classes)


@pytest.mark.parametrize(
    ("tag", "attributes"),
    [
        ("script", {}),
        ("a", {}),
        ("img", {}),
        ("h2", {}),
        ("div", {"style": "x"}),
        ("div", {"onclick": "x"}),
        ("div", {"id": "x"}),
        ("input", {"srcdoc": "x"}),
    ],
)
def test_what_is_not_on_the_lists_cannot_be_made(tag, attributes):
    with pytest.raises(ValueError, match="has no"):
        Element(tag, attributes)


def test_elements_leave_out_what_is_not_there():
    made = element(
        "div", None, "", ["a", (element("span"), None)], class_=None, hidden=False, open=True, aria_label="x"
    )
    assert made == Element("div", {"open": "", "aria-label": "x"}, ("a", Element("span")))


def test_hostile_keys_of_a_call_do_not_break_the_card():
    for args in (HOSTILE, [HOSTILE], "text", 3, None, True):
        card_layout(CardState(record("completed", [call(0, args=args, result=args)], result=args)))
        card_layout(paused(waiting(2, args)))


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.0001, "<1 ms"),
        (0.041, "41 ms"),
        (0.9996, "1.0 s"),
        (1.24, "1.2 s"),
        (125, "2 min 5 s"),
        (None, ""),
        (0, "0 ms"),
    ],
)
def test_durations_are_short(seconds, text):
    assert duration(seconds) == text


def test_daily_is_replayed_only_when_a_decision_came_after_it():
    later = call(3, started_at=NOON + 70)
    tree = card_layout(CardState(record("completed", [DAILY, CREATED, later], passes=2, result=1)))
    notes = [inner_text(node) for node in elements(tree, tag="span", class_="cm-note cm-soft")]
    assert notes[0] == "replayed"
    assert notes[2] == "6 ms"
