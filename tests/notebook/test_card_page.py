"""The live card in a real Chromium: its elements, what a click sends, what survives an update, how it looks."""

from pathlib import Path

import pytest

from codemode_jupyter.notebook.card.html import markup
from codemode_jupyter.notebook.card.layout import CardState, card_layout
from tests.notebook.card_examples import CREATE_ARGS, DAILY, ID, TREES, call, paused, record, waiting
from tests.notebook.card_stage import THEMES, chromium, stage


@pytest.fixture(scope="module")
def browser():
    with chromium() as started:
        yield started


@pytest.fixture
def cards(browser):
    with stage(browser) as ready:
        yield ready
        assert ready.faults == []


CONTRAST = (Path(__file__).parent / "contrast.js").read_text(encoding="utf-8").partition("\n")[2]
TWO = card_layout(paused(waiting(2, CREATE_ARGS), waiting(3, {"title": "Second"}, "close_issue")))
ONE_LEFT = card_layout(paused(waiting(3, {"title": "Second"}, "close_issue")))


@pytest.mark.parametrize("theme", THEMES)
def test_pictures_of_every_state(browser, theme):
    with stage(browser, theme) as cards:
        for name, tree in TREES.items():
            cards.clear()
            cards.mount(tree)
            assert cards.screenshot(name).stat().st_size > 500
        assert cards.faults == []


@pytest.mark.parametrize("name", ["waiting-one", "controls", "waiting-several", "doubt-and-waiting"])
def test_pictures_of_opened_drawers(cards, name):
    cards.mount(TREES[name])
    for opener in cards.page.locator("button[aria-expanded]").all():
        opener.click()
    cards.screenshot(f"{name}-open")
    assert cards.page.locator("[data-form]:visible").count() == cards.page.locator("button[aria-expanded]").count()


def test_the_live_card_and_the_static_html_have_the_same_text(cards):
    for name, tree in TREES.items():
        cards.clear()
        cards.mount(tree)
        live = cards.page.locator("#stage").evaluate("el => el.textContent")
        static = cards.page.evaluate(
            "html => new DOMParser().parseFromString(html, 'text/html').body.textContent", markup(tree)
        )
        assert live == static, name


def test_nothing_hostile_becomes_an_element(cards):
    for name in ("hostile", "waiting-hostile"):
        cards.mount(TREES[name])
    assert cards.page.locator("#stage").locator("img, script, b, a, style").count() == 0
    assert "<img src=x onerror=alert(1)>" in cards.page.locator("#stage").inner_text()


@pytest.mark.parametrize(
    "tree",
    [
        ["script", {}, ["alert(1)"]],
        ["div", {}, [["img", {"src": "x"}, []]]],
        ["div", {"onclick": "alert(1)"}, []],
        ["div", {"style": "color:red"}, []],
        ["div", {"id": "x"}, []],
        ["input", {"type": "submit"}, []],
        ["SCRIPT", {}, []],
        ["iframe", {"srcdoc": "x"}, []],
    ],
)
def test_the_page_refuses_what_is_not_on_its_own_lists(cards, tree):
    cards.page.evaluate("tree => window.mount(tree)", tree)
    assert cards.page.locator("#stage").inner_text().startswith("This card cannot be shown")
    assert cards.page.locator("#stage").locator("script, img, iframe, input, [onclick], [style]").count() == 0


def test_a_click_sends_what_it_is_about_and_nothing_else_can_be_clicked_until_the_answer(cards):
    index = cards.mount(TWO)
    approve = cards.page.get_by_role("button", name="Approve tracker.create_issue", exact=True)
    approve.dblclick()
    assert cards.sent == [
        {"action": "approve", "execution": ID, "seq": 2, "digest": "digest-2", "fields": {}},
    ]
    assert approve.inner_text() == "approving…"
    for name in ("Approve tracker.close_issue", "Reject tracker.close_issue", "Approve all 2 calls that wait"):
        button = cards.page.get_by_role("button", name=name, exact=True, include_hidden=True)
        assert button.get_attribute("aria-disabled") == "true"
        button.evaluate("button => button.click()")
    assert len(cards.sent) == 1
    cards.update(index, TWO)
    assert len(cards.sent) == 1


def test_after_a_refused_click_the_buttons_work_again(cards):
    index = cards.mount(TWO)
    cards.page.get_by_role("button", name="Approve tracker.create_issue", exact=True).click()
    deciding = {2: "approve"}
    cards.update(
        index,
        card_layout(paused(waiting(2, CREATE_ARGS), waiting(3, {"title": "Second"}, "close_issue"), deciding=deciding)),
    )
    refused = card_layout(
        paused(waiting(2, CREATE_ARGS), waiting(3, {"title": "Second"}, "close_issue"), notices=["It was stale."])
    )
    cards.update(index, refused)
    approve = cards.page.get_by_role("button", name="Approve tracker.create_issue", exact=True)
    assert approve.inner_text() == "Approve"
    assert "It was stale." in cards.page.locator("[role=status].cm-notices").inner_text()
    approve.click()
    assert len(cards.sent) == 2


def test_a_click_that_only_the_page_knew_of_is_undone_by_the_next_word_of_the_kernel(cards):
    index = cards.mount(TWO)
    cards.page.get_by_role("button", name="Approve tracker.create_issue", exact=True).click()
    cards.update(index, TREES["waiting-stale"])
    approve = cards.page.get_by_role("button", name="Approve tracker.create_issue", exact=True)
    assert approve.inner_text() == "Approve"
    assert approve.get_attribute("aria-disabled") is None


def test_reject_sends_its_reason(cards):
    cards.mount(TWO)
    cards.page.get_by_role("button", name="Reject tracker.close_issue…", exact=True).click()
    cards.page.keyboard.type("not <b>now</b>")
    cards.page.get_by_role("button", name="Reject tracker.close_issue", exact=True).click()
    assert cards.sent == [
        {"action": "reject", "execution": ID, "seq": 3, "digest": "digest-3", "fields": {"reason": "not <b>now</b>"}},
    ]


def test_each_answer_about_a_call_in_doubt_sends_what_it_is_about(cards):
    about = {"execution": ID, "seq": 2, "digest": "digest-2"}
    for label, action in (("Run tracker.create_issue again", "run_again"), ("Give up tracker.create_issue", "give_up")):
        cards.clear()
        cards.mount(TREES["doubt-one"])
        cards.page.get_by_role("button", name=label).click()
        assert cards.sent[-1] == {"action": action, **about, "fields": {}}
    cards.clear()
    cards.mount(TREES["doubt-one"])
    cards.page.get_by_role("button", name="tracker.create_issue happened…").click()
    cards.page.keyboard.insert_text('{"id": 12}')
    cards.page.get_by_role("button", name="tracker.create_issue happened, go on").click()
    assert cards.sent[-1] == {"action": "happened", **about, "fields": {"result": '{"id": 12}'}}
    assert len(cards.sent) == 3


def test_a_call_in_doubt_is_answered_by_keyboard_alone(cards):
    index = cards.mount(TREES["doubt-refused"])
    keyboard = cards.page.keyboard
    reached = []
    while "Give up tracker.close_issue and end the run" not in reached:
        assert len(reached) < 12
        keyboard.press("Tab")
        reached.append(cards.page.evaluate("document.activeElement.getAttribute('aria-label')"))
    assert reached[-3:-1] == ["Run tracker.close_issue again", "tracker.close_issue happened…"]
    keyboard.press("Shift+Tab")
    keyboard.press("Enter")
    keyboard.type("tru")
    cards.update(index, TREES["doubt-refused"])
    keyboard.type("e")
    keyboard.press("Enter")
    assert [(message["action"], message["fields"]) for message in cards.sent] == [("happened", {"result": "true"})]


def test_a_double_click_does_not_decide_about_the_call_that_comes_next(cards):
    index = cards.mount(TREES["waiting-one"])
    approve = cards.page.get_by_role("button", name="Approve tracker.create_issue", exact=True)
    place = approve.bounding_box()
    at = (place["x"] + 5, place["y"] + 5)
    cards.page.mouse.click(*at)
    cards.update(index, card_layout(paused(waiting(5, CREATE_ARGS))))
    cards.page.mouse.down(click_count=2)
    cards.page.mouse.up(click_count=2)
    assert [message["seq"] for message in cards.sent] == [2]
    cards.page.mouse.click(*at)
    assert [message["seq"] for message in cards.sent] == [2, 5]


def test_a_key_that_is_held_down_decides_once(cards):
    index = cards.mount(TWO)
    cards.page.get_by_role("button", name="Approve tracker.create_issue", exact=True).focus()
    cards.page.keyboard.down("Enter")
    cards.update(index, ONE_LEFT)
    assert cards.page.evaluate("document.activeElement.getAttribute('aria-label')") == "Approve tracker.close_issue"
    cards.page.keyboard.down("Enter")
    assert [message["seq"] for message in cards.sent] == [2]
    cards.page.keyboard.up("Enter")
    cards.page.keyboard.press("Enter")
    assert [message["seq"] for message in cards.sent] == [2, 3]


def test_save_sends_name_and_description(cards):
    cards.mount(TREES["controls"])
    cards.page.get_by_role("button", name="Save as snippet…").click()
    cards.page.keyboard.type("rain")
    cards.page.get_by_label("Description (optional)").fill("Wet days")
    cards.page.get_by_role("button", name="Save", exact=True).click()
    assert cards.sent == [
        {
            "action": "save",
            "execution": ID,
            "seq": None,
            "digest": None,
            "fields": {"name": "rain", "description": "Wet days"},
        },
    ]


def test_roll_back_says_which_calls_and_asks_first(cards):
    cards.mount(TREES["controls"])
    cards.page.get_by_role("button", name="Roll back…").click()
    assert cards.sent == []
    assert "tracker.create_issue" in cards.page.locator("[data-form=rollback]").inner_text()
    cards.page.get_by_role("button", name="Undo 1 call").click()
    assert [message["action"] for message in cards.sent] == ["rollback"]


def test_everything_is_done_by_keyboard_alone(cards):
    cards.mount(TWO)
    keyboard = cards.page.keyboard
    reached = []
    for _ in range(12):
        keyboard.press("Tab")
        focused = cards.page.evaluate(
            "[document.activeElement.tagName, document.activeElement.getAttribute('aria-label')]"
        )
        reached.append(focused)
        if focused[1] == "Reject tracker.create_issue…":
            break
    assert ["BUTTON", "Approve tracker.create_issue"] in reached
    assert [tag for tag, _ in reached].count("SUMMARY") >= 2
    keyboard.press("Enter")
    assert cards.page.evaluate("document.activeElement.dataset.field") == "reason"
    keyboard.press("Escape")
    assert cards.page.evaluate("document.activeElement.getAttribute('aria-label')") == "Reject tracker.create_issue…"
    assert cards.page.locator("[data-form]:visible").count() == 0
    keyboard.press("Space")
    keyboard.type("no")
    keyboard.press("Enter")
    assert [(message["action"], message["seq"], message["fields"]) for message in cards.sent] == [
        ("reject", 2, {"reason": "no"})
    ]


def test_the_focused_element_is_seen(cards):
    cards.mount(TWO)
    cards.page.get_by_role("button", name="Reject tracker.create_issue…", exact=True).focus()
    cards.page.keyboard.press("Shift+Tab")
    style = cards.page.evaluate(
        "getComputedStyle(document.activeElement).outlineStyle + getComputedStyle(document.activeElement).outlineWidth"
    )
    assert style == "solid2px"
    cards.screenshot("focus")


def test_a_long_argument_scrolls_by_keyboard_to_its_end(cards):
    cards.mount(TREES["waiting-long"])
    region = cards.page.get_by_role("region", name="body, 42,698 characters, 401 lines")
    region.focus()
    cards.page.keyboard.press("End")
    cards.page.wait_for_function(
        "el => el.scrollTop + el.clientHeight >= el.scrollHeight - 2", arg=region.element_handle()
    )
    assert region.inner_text().endswith("THE TAIL")


def test_focus_typed_text_and_open_folds_survive_an_update(cards):
    index = cards.mount(TWO)
    cards.page.locator("summary", has_text="weather.daily").click()
    cards.page.get_by_role("button", name="Reject tracker.close_issue…", exact=True).click()
    cards.page.keyboard.type("half a rea")
    cards.update(index, ONE_LEFT)
    cards.page.keyboard.type("son")
    assert cards.page.evaluate("document.activeElement.value") == "half a reason"
    assert cards.page.locator("details[data-key=call-0]").get_attribute("open") is not None
    assert cards.page.locator(".cm-ask").count() == 1


def test_when_the_focused_button_leaves_the_focus_goes_to_the_next_decision_then_to_the_status(cards):
    index = cards.mount(TWO)
    cards.page.get_by_role("button", name="Approve tracker.create_issue", exact=True).focus()
    cards.update(index, ONE_LEFT)
    assert cards.page.evaluate("document.activeElement.getAttribute('aria-label')") == "Approve tracker.close_issue"
    cards.update(index, TREES["completed-text"])
    assert cards.page.evaluate("document.activeElement.textContent") == "Completed"


def test_any_state_can_follow_any_other(cards):
    names = [name for name in TREES if name not in ("waiting-long", "many-calls", "completed-wide-table")]
    for first in ("running", "waiting-several"):
        index = cards.mount(TREES[first])
        for name in names:
            cards.update(index, TREES[name])
            live = cards.page.locator("#stage > div").last.evaluate("el => el.textContent")
            fresh = cards.mount(TREES[name])
            assert live == cards.page.locator("#stage > div").last.evaluate("el => el.textContent"), (first, name)
            cards.unmount(fresh)
            cards.page.locator("#stage > div").last.evaluate("el => el.remove()")


def test_a_growing_list_of_calls_keeps_the_elements_that_are_there(cards):
    calls = [DAILY]
    index = cards.mount(card_layout(CardState(record("running", calls), live=True)))
    cards.page.evaluate("window.first = document.querySelector('[data-key=call-0]')")
    for seq in range(1, 53):
        calls.append(call(seq))
        cards.update(
            index, card_layout(CardState(record("running", calls[-20:] if len(calls) > 50 else calls), live=True))
        )
        if seq < 49:
            assert cards.page.evaluate("window.first === document.querySelector('[data-key=call-0]')")
    assert cards.page.locator("details.cm-call").count() == 20


def test_a_closed_card_leaves_no_listener_and_no_button(cards):
    index = cards.mount(TWO)
    approve = cards.page.get_by_role("button", name="Approve tracker.create_issue", exact=True).element_handle()
    assert cards.unmount(index) == 0
    assert cards.page.get_by_role("button").count() == 0
    approve.evaluate("button => button.click()")
    assert cards.sent == []


def test_a_card_shows_in_its_place_whenever_it_comes_and_in_every_one(cards):
    index = cards.mount(TREES["controls"], "codemode-place-1")
    assert cards.page.get_by_role("button").count() == 0
    cards.put("codemode-place-1")
    cards.put("codemode-place-2")
    cards.page.get_by_role("button", name="Save as snippet…").wait_for()
    assert cards.page.locator(".codemode-card").count() == 1
    cards.put("codemode-place-1")
    cards.page.wait_for_function("document.querySelectorAll('.codemode-card').length === 2")
    cards.update(index, TREES["controls-existing-name"])
    assert cards.page.get_by_text("Replace it, or choose another name.").count() == 2


def test_the_kernel_is_told_which_pages_show_a_card(cards):
    cards.mount(TREES["controls"], "codemode-place-1")
    for _ in range(2):
        cards.put("codemode-place-1")
        cards.page.wait_for_function("window.sent.at(-1)?.action === 'shown'")
        cards.clear()
        cards.page.wait_for_function("window.sent.at(-1)?.action === 'hidden'")
    assert cards.page.evaluate("window.sent.map((message) => message.action)") == ["shown", "hidden"] * 2


def test_focus_typed_text_and_open_folds_survive_when_the_output_is_written_anew(cards):
    cards.mount(TWO, "codemode-place-1")
    cards.put("codemode-place-1")
    cards.page.locator("summary", has_text="weather.daily").click()
    cards.page.get_by_role("button", name="Reject tracker.close_issue…", exact=True).click()
    cards.page.keyboard.type("half a rea")
    cards.page.evaluate(
        "document.getElementById('stage').innerHTML = '<div class=codemode-place-1>the static card</div>'"
    )
    cards.page.keyboard.type("son")
    assert cards.page.evaluate("document.activeElement.value") == "half a reason"
    assert cards.page.locator("details[data-key=call-0]").get_attribute("open") is not None
    assert cards.page.get_by_text("the static card").count() == 0
    assert cards.page.evaluate("window.sent.map((message) => message.action)") == ["shown"]


def test_a_card_that_moves_takes_the_focus_from_nobody(cards):
    cards.mount(TWO, "codemode-place-1")
    cards.put("codemode-place-1")
    cards.page.get_by_role("button", name="Reject tracker.close_issue…", exact=True).click()
    cards.page.evaluate("document.body.insertAdjacentHTML('beforeend', '<input id=elsewhere>')")
    cards.page.locator("#elsewhere").focus()
    cards.clear()
    cards.put("codemode-place-1")
    cards.page.get_by_role("button", name="Reject tracker.close_issue…", exact=True).wait_for()
    assert cards.page.evaluate("document.activeElement.id") == "elsewhere"


def test_without_its_kernel_a_card_has_no_buttons_and_says_how_to_go_on(cards):
    for name in ("waiting-several", "doubt-one", "running"):
        cards.clear()
        index = cards.mount(TREES[name])
        assert cards.page.get_by_role("button").count() > 0
        cards.cut(index)
        assert cards.page.get_by_role("button").count() == 0
        said = cards.page.get_by_text("The kernel that showed this card is gone.")
        said.wait_for()
        assert "%codemode show 2c3d7f3a" in said.inner_text()
    cards.screenshot("without-kernel")


def test_the_status_is_announced_and_every_control_has_a_name(cards):
    cards.mount(TREES["waiting-several"])
    assert cards.page.get_by_role("status").first.inner_text() == "Waiting for you"
    assert cards.page.get_by_role("region", name="tracker.close_issue waits for your decision").count() == 1
    for button in cards.page.get_by_role("button").all():
        name = button.get_attribute("aria-label")
        assert name
        assert "tracker." in name or "calls" in name


def test_no_motion_where_a_person_wants_none(browser):
    with stage(browser) as cards:
        cards.mount(TREES["running"])
        animation = "getComputedStyle(document.querySelector('.cm-dot')).animationName"
        assert cards.page.evaluate(animation) == "cm-breathe"
        cards.page.emulate_media(reduced_motion="reduce")
        assert cards.page.evaluate(animation) == "none"


@pytest.mark.parametrize("theme", THEMES)
def test_text_has_enough_contrast(browser, theme):
    """WCAG 2.2, 1.4.3: at least 4.5 to 1."""
    with stage(browser, theme) as cards:
        for name in (
            "running",
            "waiting-several",
            "waiting-hostile",
            "doubt-and-waiting",
            "cut-off",
            "completed-table",
            "completed-tree",
            "failed-call",
            "console",
            "controls-existing-name",
            "rolled-back",
        ):
            cards.clear()
            cards.mount(TREES[name])
            assert cards.page.evaluate(CONTRAST) == [], name
