"""Words of names and texts, as search compares them.

Owns: splitting and folding. Never does: ranking.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

_RUN = re.compile(r"[^\W_]+")
# Where a name changes into its next word: load|URLs, HTTP|Status, v|2|beta.
_JOINT = re.compile(
    r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z](?!s(?![a-z]))[a-z])|(?<=[A-Za-z])(?=[0-9])|(?<=[0-9])(?=[A-Za-z])"
)
_WITHOUT_BLANKS = re.compile("[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]+")  # Japanese and Chinese write no blanks

_STOP_WORDS = frozenset(
    [
        *("a", "an", "and", "are", "as", "at", "be", "by", "can", "could", "do", "does", "for", "from", "has", "have"),
        *("how", "i", "if", "in", "into", "is", "it", "its", "me", "my", "of", "on", "or", "our", "please", "should"),
        *("so", "some", "that", "the", "their", "them", "then", "there", "these", "this", "to", "us", "want", "was"),
        *("we", "what", "when", "where", "which", "who", "will", "with", "would", "you", "your"),
    ]
)


def raw_words(text: str) -> list[str]:
    """Return the words of a text or name in lower case, in order."""
    runs = _RUN.findall(unicodedata.normalize("NFKC", text))
    return [word.casefold() for run in runs for word in _JOINT.sub(" ", run).split()]


def words_of(text: str) -> list[str]:
    """Return the folded words of a text or name, in order."""
    words: list[str] = []
    for raw in raw_words(text):
        word = fold(raw)
        words.append(word)
        if _WITHOUT_BLANKS.search(word):
            words.extend(word[at : at + 2] for at in range(len(word) - 1) if len(word) > 2)  # noqa: PLR2004
    return words


def query_words(text: str) -> list[str]:
    """Return the distinct words of a question that say something; all of them if none does."""
    words = list(dict.fromkeys(words_of(text)))
    return [word for word in words if word not in _STOP_WORDS] or words


@lru_cache(maxsize=65_536)
def fold(word: str) -> str:
    """Return a word in lower case, without accents and plural ending."""
    lowered = word.casefold()
    plain = "".join(one for one in unicodedata.normalize("NFD", lowered) if not unicodedata.combining(one))
    return singular(unicodedata.normalize("NFC", plain))


def singular(word: str) -> str:
    """Return an English word without its plural ending, by the commonest rules."""
    if len(word) <= 3 or not word.endswith("s") or word.endswith(("ss", "us", "is")):  # noqa: PLR2004  gas, bus
        return word
    if word.endswith("ies") and len(word) > 4:  # noqa: PLR2004  ties, pies
        return f"{word[:-3]}y"
    return word[:-2] if word.endswith(("sses", "shes", "ches", "xes", "zes")) else word[:-1]


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
