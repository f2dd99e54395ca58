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

_ORDINARY = re.compile(r"[\x20-\x7e\n\t]")
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
_WORDS = 200
"""Up to this many different words with imitations are told apart; with more, their letters are suspect everywhere."""
_MARKED = 500
"""Up to this many suspect characters of one text are elements with their name; further ones are plain text."""
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


def _imitations(text: str, characters: set[str]) -> dict[str, set[str]]:
    """Return the words of ``text`` with letters that imitate Latin ones, each with these letters.

    Such is a foreign letter in a word that has Latin ones, and a word of nothing but twins in a text that is not
    written in their script.
    """
    foreign = {letter for letter in characters if _script(letter) in _IMITATING_SCRIPTS}
    if not foreign:
        return {}
    written_in_it = any(letter not in _TWINS for letter in foreign)
    found: dict[str, set[str]] = {}
    for word in set(_WORD.findall(text)):
        letters = set(word)
        inside = letters & foreign
        mixed = any(_script(letter) == "LATIN" for letter in letters)
        twins = not written_in_it and len(word) > 1 and letters <= _TWINS
        if inside and (mixed or twins):
            found[word] = inside
    return found


def _belongs_to_emoji(text: str, index: int) -> bool:
    """Tell whether a joiner or style sign at ``index`` stands behind a symbol, as it does inside an emoji."""
    if text[index] not in (_ZERO_WIDTH_JOINER, _EMOJI_STYLE):
        return False
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
    characters = {character for character in set(text) if not _ORDINARY.match(character)}
    suspect: dict[str, _Kind] = {character: kind for character in characters if (kind := _kind(character)) != "plain"}
    imitations = _imitations(text, characters)
    if len(imitations) > _WORDS:
        suspect |= dict.fromkeys(set().union(*imitations.values()), "imitation")
        imitations = {}
    patterns = [re.escape(word) for word in sorted(imitations, key=len, reverse=True)]
    patterns += ["".join(["[", *map(re.escape, suspect), "]"])] if suspect else []
    done = piled = 0
    last = -2
    for found in re.finditer("|".join(patterns), text) if patterns else ():
        start, end = found.span()
        word = imitations.get(found.group(), set()) if end - start > 1 else set()
        for index in range(start, end):
            character = text[index]
            kind = "imitation" if character in word else suspect.get(character, "plain")
            piled = piled + 1 if kind == "combining" and index == last + 1 else 1
            last = index
            if kind == "combining":
                kind = "hidden" if piled > _COMBINING_ALLOWED else "plain"
            if kind == "plain" or (kind == "hidden" and _belongs_to_emoji(text, index)):
                continue
            if index > done:
                yield "plain", text[done:index]
            yield kind, character
            done = index + 1
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
    """Return ``text`` as nodes: suspect characters as named elements, right-to-left text kept in its place."""
    if text.isascii() and text.isprintable():
        return (text,) if text else ()
    nodes: list[Node] = []
    run: list[str] = []
    run_is_reversed = False

    def close_run() -> None:
        if run:
            nodes.append(element("bdi", "".join(run)) if run_is_reversed else "".join(run))
            run.clear()

    for kind, piece in _pieces(text):
        marked = kind in {"hidden", "imitation"}
        if marked and len(nodes) < _MARKED:
            close_run()
            nodes.append(_marked(kind, piece))
            continue
        is_reversed = kind == "right_to_left" and len(nodes) < _MARKED
        if is_reversed != run_is_reversed:
            close_run()
            run_is_reversed = is_reversed
        run.append(_mark(kind, piece) if marked else piece)
    close_run()
    return tuple(nodes)


def _marked(kind: _Kind, character: str) -> Element:
    name = unicodedata.name(character, "unnamed character").lower()
    title = f"{name}, not the Latin letter it looks like" if kind == "imitation" else name
    return element("span", _mark(kind, character), class_="cm-mark", title=title)
