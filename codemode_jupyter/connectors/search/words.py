"""Words of names and texts, as search compares them.

Owns: splitting, folding and stemming. Never does: ranking, or knowing what a word means.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

import snowballstemmer

_RUN = re.compile(r"[^\W_]+")
# Where a name changes into its next word: load|URLs, HTTP|Status, v|2|beta.
_JOINT = re.compile(
    r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z](?!s(?![a-z]))[a-z])|(?<=[A-Za-z])(?=[0-9])|(?<=[0-9])(?=[A-Za-z])"
)
_WITHOUT_BLANKS = re.compile("[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]+")  # Japanese and Chinese write no blanks
_APOSTROPHE = re.compile(r"(?<=\w)['\u2019](s|t|re|ve|ll|m|d)\b", re.IGNORECASE)

# British endings as American ones. Both sides of a comparison are folded, so a wrong one does no harm.
_SPELLINGS = (
    (re.compile(r"is(e[drs]?|ing|ations?)$"), r"iz\1"),
    (re.compile(r"(?<=.{3})our(s|ed|ing|ite|ites)?$"), r"or\1"),
    (re.compile(r"ence(s?)$"), r"ense\1"),
    (re.compile(r"(?<=.{3})ogue(s?)$"), r"og\1"),
)
_LONGEST_WORD = 60  # longer runs are data, not words
_SHORTEST_SPELLING = 6

_stemmer = snowballstemmer.stemmer("english")


def raw_words(text: str) -> list[str]:
    """Return the words of a text or name in lower case, in order."""
    plain = text if text.isascii() else unicodedata.normalize("NFKC", text)
    if "'" in plain or "\u2019" in plain:
        plain = _APOSTROPHE.sub("", plain)
    words = _RUN.findall(_JOINT.sub(" ", plain).casefold())
    return [word for word in words if len(word) <= _LONGEST_WORD]


def words_of(text: str) -> list[str]:
    """Return the stems of the words of a text or name, in order.

    Of Japanese and Chinese, which write no blanks, also each two neighbouring characters.
    """
    words = list(map(stem, raw_words(text)))
    if text.isascii():
        return words
    pairs = [
        word[at : at + 2]
        for word in words
        if len(word) > 2 and _WITHOUT_BLANKS.search(word)  # noqa: PLR2004  a pair is there already
        for at in range(len(word) - 1)
    ]
    return words + pairs


@lru_cache(maxsize=65_536)
def fold(word: str) -> str:
    """Return a word in lower case, without accents, in American spelling."""
    lowered = word.casefold()
    if not lowered.isascii():
        plain = "".join(one for one in unicodedata.normalize("NFD", lowered) if not unicodedata.combining(one))
        lowered = unicodedata.normalize("NFC", plain)
    if len(lowered) >= _SHORTEST_SPELLING:
        for british, american in _SPELLINGS:
            lowered = british.sub(american, lowered)
    return lowered


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """Return the stem of a word: folded, and an English one without its endings (the Snowball stemmer)."""
    folded = fold(word)
    return str(_stemmer.stemWord(folded)) if folded.isascii() else folded


def one_edit_apart(first: str, second: str) -> bool:
    """Say whether one letter was added, left out, changed, or swapped with its neighbour."""
    if abs(len(first) - len(second)) > 1 or first == second:
        return False
    start = 0
    while start < min(len(first), len(second)) and first[start] == second[start]:
        start += 1
    one, other = first[start:], second[start:]
    swapped = len(one) > 1 and len(other) > 1 and one[0] == other[1] and one[1] == other[0] and one[2:] == other[2:]
    return swapped or one[1:] == other[1:] or one[1:] == other or one == other[1:]
