"""Characters that hide, reorder or imitate are shown for what they are."""

import pytest

from codemode_jupyter.notebook.card.element import Element
from codemode_jupyter.notebook.card.visible import visible, visible_nodes


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain text, 12 %", "plain text, 12 %"),
        ("two\nlines\tand a tab", "two\nlines\tand a tab"),
        ("\x1b[31mred", "⟨U+001B⟩[31mred"),
        ("a\r\nb", "a⟨U+000D⟩\nb"),
        ("nul \x00 bell \x07", "nul ⟨U+0000⟩ bell ⟨U+0007⟩"),
        ("pay \u202eecila", "pay ⟨U+202E⟩ecila"),
        ("zero\u200bwidth\ufeff", "zero⟨U+200B⟩width⟨U+FEFF⟩"),
        ("no\u00a0break", "no⟨U+00A0⟩break"),
        ("tag\U000e0041", "tag⟨U+E0041⟩"),
        ("lone \ud83d", "lone ⟨U+D83D⟩"),
        ("private \ue000", "private ⟨U+E000⟩"),
        ("invisible \u3164", "invisible ⟨U+3164⟩"),
        ("Zo\u0301\u0302\u0303\u0304", "Zo\u0301\u0302⟨U+0303⟩⟨U+0304⟩"),
    ],
)
def test_what_hides_or_reorders_is_written_out(text, shown):
    assert visible(text) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("p\u0430ypal.com", "p\u0430⟨U+0430⟩ypal.com"),
        ("\u0440\u0430\u0443", "\u0440⟨U+0440⟩\u0430⟨U+0430⟩\u0443⟨U+0443⟩"),
        ("\uff41dmin", "\uff41⟨U+FF41⟩dmin"),
        ("\U0001d5baccount", "\U0001d5ba⟨U+1D5BA⟩ccount"),
        ("etc\u2215passwd", "etc\u2215⟨U+2215⟩passwd"),
    ],
)
def test_letters_that_imitate_others_are_marked(text, shown):
    assert visible(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "\u041f\u0440\u0438\u0432\u0435\u0442, \u043c\u0438\u0440: \u0441\u043e\u0440",
        "größe, naïve, Ørsted, 5 µm",
        "温度 25 度",
        "שלום עולם",
        "مرحبا",
        "👩\u200d💻 and ❤\ufe0f",
        "한국어, ไทย, हिन्दी",
        "“quotes” \u2013 dashes — and … dots",
    ],
)
def test_text_of_other_languages_is_left_alone(text):
    assert visible(text) == text


def test_a_marked_character_tells_its_name():
    marks = [node for node in visible_nodes("a\u202eb p\u0430y") if isinstance(node, Element)]
    assert [mark.attributes["title"] for mark in marks] == [
        "right-to-left override",
        "cyrillic small letter a, not the Latin letter it looks like",
    ]


def test_right_to_left_words_are_isolated_so_that_they_move_nothing():
    nodes = visible_nodes("pay שלום now")
    assert [node if isinstance(node, str) else (node.tag, node.children) for node in nodes] == [
        "pay ",
        ("bdi", ("שלום",)),
        " now",
    ]


def test_a_flood_of_hidden_characters_stays_cheap_and_visible():
    nodes = visible_nodes("x\u200b" * 100_000)
    assert len(nodes) < 1_100
    text = "".join(node if isinstance(node, str) else "".join(node.children) for node in nodes)
    assert text == "x⟨U+200B⟩" * 100_000


def test_a_flood_of_different_imitations_stays_cheap_and_visible():
    words = " ".join(f"p\u0430y{chr(97 + n % 26)}{chr(97 + n // 26 % 26)}{chr(97 + n // 676)}" for n in range(5_000))
    assert visible(words).count("⟨U+0430⟩") == 5_000
