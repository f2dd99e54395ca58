"""Which page hosts the sandbox."""

from codemode_jupyter.sandbox.election import Election, Page


def election(*ids):
    result = Election()
    for page_id in ids:
        result.join(Page(page_id))
    return result


def test_without_a_page_nothing_is_elected():
    assert Election().elected is None


def test_the_first_page_is_elected_and_a_second_tab_does_not_take_over():
    assert election("first", "second").elected.id == "first"


def test_when_the_elected_page_leaves_the_one_that_came_last_follows():
    pages = election("first", "second", "third")
    assert pages.leave("first").id == "first"
    assert pages.elected.id == "third"


def test_when_another_page_leaves_the_elected_one_stays():
    pages = election("first", "second")
    pages.leave("second")
    assert pages.elected.id == "first"
    assert pages.leave("second") is None


def test_a_page_with_a_fault_gives_way_to_one_without():
    pages = election("first", "second")
    pages.fail(pages.elected, "forbidden")
    assert pages.elected.id == "second"


def test_a_page_with_a_fault_stays_elected_when_it_is_the_only_one():
    pages = election("only")
    pages.fail(pages.elected, "forbidden")
    assert pages.elected.fault == "forbidden"


def test_a_new_page_replaces_one_with_a_fault():
    pages = election("broken")
    pages.fail(pages.elected, "forbidden")
    pages.join(Page("fresh"))
    assert pages.elected.id == "fresh"


def test_the_last_page_to_leave_leaves_nobody():
    pages = election("only")
    pages.leave("only")
    assert pages.elected is None
    assert len(pages) == 0
