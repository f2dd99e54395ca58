"""Questions of running tools in the card: their form, what it sends, how the run goes on."""

import pytest

from codemode_jupyter.connectors.questions import Question, QuestionField, check_answer
from codemode_jupyter.errors import CodemodeError
from codemode_jupyter.notebook.card.layout import card_layout
from codemode_jupyter.notebook.card.question import answer_content
from codemode_jupyter.notebook.card.text import to_text
from tests.notebook.card_examples import FORM, HOSTILE_FORM, ID, QUESTIONS, TREES, TRICK, VISIT, asking
from tests.notebook.card_stage import chromium, stage
from tests.notebook.test_card_layout import elements, inner_text


@pytest.fixture(scope="module")
def browser():
    with chromium() as started:
        yield started


@pytest.fixture
def cards(browser):
    with stage(browser) as ready:
        yield ready
        assert ready.faults == []


def test_the_form_has_a_control_for_each_field_and_says_who_reads_the_answer():
    tree = TREES["question-form"]
    text = inner_text(tree)
    assert "harbour.reserve asks you:" in text
    assert "Your answer goes to the server behind harbour." in text
    assert [one.attributes["data-field"] for one in elements(tree, tag="input")] == ["answer-0", "answer-1", "answer-4"]
    selects = elements(tree, tag="select")
    offered = [[option.attributes.get("value", "") for option in elements(one, tag="option")] for one in selects]
    assert offered == [["", "true", "false"], ["", "p", "s"]]
    assert [inner_text(one) for one in elements(tree, tag="option", selected="")] == ["No", "Starboard"]
    assert elements(tree, data_action="accept")[0].attributes["data-digest"] == "digest-q"


def test_a_static_card_shows_the_question_without_buttons():
    state = asking(FORM)
    static = card_layout(type(state)(state.record, state.pending))
    assert "Which ship is it?" in to_text(static)
    assert not elements(static, tag="button")


@pytest.mark.parametrize(
    ("question", "host", "warned"),
    [
        (VISIT, "login.example.com", False),
        (TRICK, None, True),
        (Question("?", url="javascript:alert(1)"), None, True),
        (Question("?", url="https://xn--pypal-4ve.com/"), "xn--pypal-4ve.com", False),
        (Question("?", url="https://p\u0430ypal.com/"), None, True),
        (Question("?", url="http://127.0.0.1:8080/x"), "127.0.0.1", False),
    ],
)
def test_an_address_is_text_with_its_host_plainly_visible(question, host, warned):
    tree = card_layout(asking(question))
    strong = [inner_text(one) for one in elements(tree, tag="strong")]
    assert (host in strong) if host else ("Better do not open it" in " ".join(strong))
    assert ("Better do not open it" in inner_text(tree)) == warned
    assert not elements(tree, tag="a")


def test_progress_and_lines_of_a_server_show_in_the_card():
    text = inner_text(TREES["progress"])
    assert "sounding the bay" in text
    assert "3 of 10" in text
    assert "from harbour" in text


def test_hostile_names_of_fields_are_read_back_by_their_place():
    assert answer_content(HOSTILE_FORM, {"answer-0": "a", "answer-1": "two", "other": "x"}) == {
        "__proto__": "a",
        "x": "two",
    }


def test_an_answer_is_read_by_the_kinds_of_its_fields_and_every_fault_is_named():
    typed = {"name": "Ever", "length": " 4e2 ", "tanker": "Yes", "side": "Starboard", "days": "mon, Tuesday"}
    assert check_answer(FORM, typed) == {
        "name": "Ever",
        "length": 400.0,
        "tanker": True,
        "side": "s",
        "days": ["mon", "tue"],
    }
    with pytest.raises(CodemodeError) as refusal:
        check_answer(FORM, {"name": "E", "tanker": "perhaps", "side": "up", "days": "fri", "more": 1})
    assert [fault["path"] for fault in refusal.value.data["faults"]] == [
        "name",
        "length",
        "tanker",
        "side",
        "days",
        "more",
    ]
    assert refusal.value.code == "invalid_answer"
    numbers = Question("?", (QuestionField("n", "integer"), QuestionField("d", format="date")))
    for wrong in ({"n": "1.5"}, {"n": "nan"}, {"n": True}, {"d": "tomorrow"}, {"d": 5}):
        with pytest.raises(CodemodeError, match="must be"):
            check_answer(numbers, wrong)


def test_the_form_in_a_page_sends_what_was_typed_and_chosen_and_keeps_it_over_an_update(cards):
    index = cards.mount(TREES["question-form"])
    name, length = cards.page.get_by_label("Name of the ship"), cards.page.get_by_label("Length")
    name.fill("Ever")
    length.fill("400")
    cards.page.get_by_label("Tanker").select_option("Yes")
    cards.update(index, card_layout(asking(FORM, notices=["Something else happened."])))
    assert name.input_value() == "Ever"
    length.press("Enter")
    (sent,) = cards.sent
    assert sent == {
        "action": "accept",
        "execution": ID,
        "seq": 2,
        "digest": "digest-q",
        "fields": {"answer-0": "Ever", "answer-1": "400", "answer-2": "true", "answer-3": "s", "answer-4": ""},
    }


def test_a_hostile_question_in_a_page_is_text(cards):
    for name in QUESTIONS:
        cards.mount(TREES[name])
    assert cards.page.locator("#stage").locator("img, script, b, a, style").count() == 0


def test_a_question_that_is_kept_is_answered_or_rejected_and_says_where_its_answer_goes(cards):
    text = inner_text(TREES["question-kept"])
    assert "Your answer goes to hotel.book and is kept in the log of this run: no place for passwords." in text
    assert not elements(TREES["question-kept"], data_action="decline")
    cards.mount(TREES["question-kept"])
    cards.page.get_by_label("Name of the guest").fill("Edda")
    cards.page.get_by_label("First night").fill("2031-02-03")
    guests = cards.page.get_by_label("Other guests")
    guests.fill('["Bo",')
    guests.press("Enter")
    guests.press_sequentially('"Cy"]')
    assert cards.sent == [], "Enter in a field of several lines begins a line"
    cards.page.get_by_label("Name of the guest").press("Enter")
    (sent,) = cards.sent
    assert (sent["action"], sent["digest"]) == ("accept", "digest-k")
    assert sent["fields"] == {
        "answer-0": "Edda",
        "answer-1": "2031-02-03",
        "answer-2": "",
        "answer-3": '["Bo",\n"Cy"]',
        "reason": "",  # of the drawer that rejects
    }


def test_each_fault_stands_at_its_field_and_marks_it():
    tree = TREES["question-kept-faults"]
    marked = [one.attributes["data-field"] for one in elements(tree, aria_invalid="true")]
    assert marked == ["answer-0", "answer-3"]
    assert [inner_text(one) for one in elements(tree, class_="cm-fault cm-size")] == ["is needed", "must be string"]
