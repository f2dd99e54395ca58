"""Text that shows what is in it: characters which hide, reorder or imitate others are made visible.

Owns: which characters are suspect and how they are written out (``⟨U+202E⟩``).
Never does: escaping for HTML or quoting; it takes text and gives text or nodes.

Suspect are, by Unicode's general categories and properties: control and format characters (zero-width, right-to-left
overrides, tags), separators that look like a blank or like nothing, unassigned, private and surrogate code points,
piles of combining marks, and letters of another script that imitate Latin ones (UTS #39 calls these confusable).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import Literal, TypeAlias

from codemode_jupyter.notebook.card.element import Element, Node, element

_Kind: TypeAlias = Literal["hidden", "imitation", "right_to_left", "combining", "plain"]

_SUSPECT = re.compile(r"[^\x20-\x7e\n\t]+")
_WORD = re.compile(r"[^\W\d_]+")
_INVISIBLE = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0")
_HIDDEN_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Zs"})
_IMITATING_SCRIPTS = frozenset({"CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE", "COPTIC", "LISU", "GEORGIAN"})
_ALWAYS_IMITATING = frozenset({"FULLWIDTH", "MATHEMATICAL", "HALFWIDTH"})
_IMITATING_SIGNS = frozenset(
    "\u2024\u2044\u2215\u2236\u29f8\ua789\u0589\u05c3\u02d0\u01c3\u2010\u2011\u2212\u2039\u203a"
)
# Cyrillic and Greek letters that can be taken for Latin ones: a word of nothing else may be an imitation of a Latin
# word.
_TWINS = frozenset("асеорхуіјѕһԁԛԝӏвкмнтАВЕКМНОРСТУХІЈЅԌᴦοαικνρυχΑΒΕΖΗΙΚΜΝΟΡΤΥΧ")
_COMBINING_ALLOWED = 2
_ZERO_WIDTH_JOINER, _EMOJI_STYLE = "\u200d", "\ufe0f"


@lru_cache(maxsize=4096)
def _kind(character: str) -> _Kind:
    category = unicodedata.category(character)
    if character in _INVISIBLE or category in _HIDDEN_CATEGORIES:
        return "hidden"
    if _EMOJI_STYLE >= character >= "\ufe00" or "\U000e0100" <= character <= "\U000e01ef":
        return "hidden"
    if character in _IMITATING_SIGNS or _script(character) in _ALWAYS_IMITATING:
        return "imitation"
    if category in {"Mn", "Me"}:
        return "combining"
    if unicodedata.bidirectional(character) in {"R", "AL", "AN"}:
        return "right_to_left"
    return "plain"


@lru_cache(maxsize=4096)
def _script(character: str) -> str:
    return unicodedata.name(character, "").partition(" ")[0]


def _imitations(text: str) -> set[int]:
    """Return the places of letters that imitate Latin ones: in a word of mixed scripts, or a word made of twins alone."""
    places: set[int] = set()
    words = [word for word in _WORD.finditer(text) if not word.group().isascii()]
    foreign = [letter for word in words for letter in set(word.group()) if _script(letter) in _IMITATING_SCRIPTS]
    written_in_it = any(letter not in _TWINS for letter in foreign)
    for word in words:
        letters = word.group()
        mixed = any(_script(letter) == "LATIN" for letter in letters)
        twins = not written_in_it and len(letters) > 1 and all(letter in _TWINS for letter in letters)
        if mixed or twins:
            start = word.start()
            places.update(start + i for i, letter in enumerate(letters) if _script(letter) in _IMITATING_SCRIPTS)
    return places


def _belongs_to_emoji(text: str, index: int) -> bool:
    """Tell whether the joiner or style sign at ``index`` stands behind a symbol, as it does inside an emoji."""
    before = text[index - 1 : index]
    if text[index] == _EMOJI_STYLE:
        return unicodedata.category(before) == "So" if before else False
    after = text[index + 1 : index + 2]
    return (
        bool(before and after)
        and unicodedata.category(after) == "So"
        and (unicodedata.category(before) in {"So", "Sk"} or before == _EMOJI_STYLE)
    )


def _pieces(text: str) -> Iterator[tuple[_Kind, str]]:
    """Cut ``text`` into runs; what is suspect comes one character at a time."""
    imitations = _imitations(text) if not text.isascii() else set()
    done = 0
    for run in _SUSPECT.finditer(text):
        start, combining, previous_end = run.start(), 0, run.start()
        if start > done:
            yield "plain", text[done:start]
        for index in range(start, run.end()):
            character = text[index]
            kind = "imitation" if index in imitations else _kind(character)
            combining = combining + 1 if kind == "combining" else 0
            if kind == "combining":
                kind = "hidden" if combining > _COMBINING_ALLOWED else "plain"
            if kind == "hidden" and character in (_ZERO_WIDTH_JOINER, _EMOJI_STYLE) and _belongs_to_emoji(text, index):
                kind = "plain"
            if kind == "plain":
                continue
            if index > previous_end:
                yield "plain", text[previous_end:index]
            yield kind, character
            previous_end = index + 1
        if run.end() > previous_end:
            yield "plain", text[previous_end : run.end()]
        done = run.end()
    if done < len(text):
        yield "plain", text[done:]


def _mark(kind: _Kind, character: str) -> str:
    point = f"⟨U+{ord(character):04X}⟩"
    return character + point if kind == "imitation" else point


def visible(text: str) -> str:
    """Return ``text`` with every suspect character written out, such as ``⟨U+202E⟩``; an imitation keeps its letter."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(piece if kind in {"plain", "right_to_left"} else _mark(kind, piece) for kind, piece in _pieces(text))


def visible_nodes(text: str) -> tuple[Node, ...]:
    """Return ``text`` as nodes: suspect characters as marked elements with their name, right-to-left text kept in its place."""
    if text.isascii() and text.isprintable():
        return (text,) if text else ()
    nodes: list[Node] = []
    right_to_left = ""

    def close_right_to_left() -> None:
        nonlocal right_to_left
        if right_to_left:
            nodes.append(element("bdi", right_to_left))
            right_to_left = ""

    for kind, piece in _pieces(text):
        if kind == "right_to_left":
            right_to_left += piece
            continue
        close_right_to_left()
        if kind == "plain":
            _append_text(nodes, piece)
        else:
            nodes.append(_marked(kind, piece))
    close_right_to_left()
    return tuple(nodes)


def _append_text(nodes: list[Node], text: str) -> None:
    if nodes and isinstance(nodes[-1], str):
        nodes[-1] += text
    else:
        nodes.append(text)


def _marked(kind: _Kind, character: str) -> Element:
    name = unicodedata.name(character, "unnamed character").lower()
    title = f"{name}, not the Latin letter it looks like" if kind == "imitation" else name
    return element("span", _mark(kind, character), class_="cm-mark", title=title)
