"""A question as search reads it: the notions it is about, and what it wants done.

Owns: phrases, words that say nothing, synonyms, and what an unknown word may have meant.
Never does: know documents beyond which words they have.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from codemode_jupyter.connectors.search.vocabulary import (
    ABBREVIATIONS,
    EFFECTS,
    LONGEST_PHRASE,
    PHRASES,
    STOP_WORDS,
    SYNONYMS,
    Effect,
)
from codemode_jupyter.connectors.search.words import fold, one_edit_apart, raw_words, stem, words_of

_MOST_WORDS = 32
_SHORTEST_TYPO = 4
_SHORTEST_PART = 3
_PREFIX = 0.6
_TYPO = 0.6
_MOST_ALTERNATIVES = 24
_PHRASE = 0.9
_SHORTEST_PLURAL = 4
_ASKING = frozenset(
    [
        *("what", "which", "who", "whose", "how", "where", "when", "why"),
        *("is", "are", "am", "does", "do", "did", "has", "have"),
    ]
)


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked for.

    Attributes
    ----------
    notions : tuple of dict
        For each thing that is said, the stems that may stand for it with how much each counts.
    effect : {"read", "create", "update", "delete"} or None
        What is to be done, where that is said.
    many : bool
        More than one thing is asked for.
    written : tuple of str
        All its words as they are written, in lower case.
    """

    notions: tuple[Mapping[str, float], ...]
    effect: Effect | None
    many: bool
    written: tuple[str, ...]


class Vocabulary:
    """The words that documents have, and what a word that they do not have may mean."""

    def __init__(self, words: Collection[str]) -> None:
        self._words = words
        self._sorted = sorted(words)

    def __contains__(self, word: str) -> bool:
        return word in self._words

    def beginning_with(self, word: str) -> Iterator[str]:
        """Yield the words that begin so."""
        at = bisect_left(self._sorted, word)
        while at < len(self._sorted) and self._sorted[at].startswith(word):
            yield self._sorted[at]
            at += 1

    def guesses(self, word: str) -> dict[str, float]:
        """Return what a word may mean that no document has: a beginning, two words in one, or a typing error."""
        found = {other: _PREFIX * max(0.5, len(word) / len(other)) for other in self.beginning_with(word)}
        if not found and len(word) >= _SHORTEST_TYPO:
            found = {other: _TYPO for other in self._lookalikes(word) if one_edit_apart(word, other)}
        if not found:
            for at in range(_SHORTEST_PART, len(word) - _SHORTEST_PART + 1):
                parts = (stem(word[:at]), stem(word[at:]))
                if all(part in self for part in parts):
                    found = dict.fromkeys(parts, _TYPO)
        if not found and len(word) > _SHORTEST_TYPO:
            begun = [word[:at] for at in range(len(word) - 1, _SHORTEST_TYPO - 1, -1) if word[:at] in self]
            found = {other: _PREFIX * len(other) / len(word) for other in begun[:1]}
        return dict(sorted(found.items(), key=lambda item: -item[1])[:_MOST_ALTERNATIVES])

    def _lookalikes(self, word: str) -> Iterator[str]:
        """Yield the words of about the same length that begin or end like a word: one edit changes one end at most."""
        for length in range(max(_SHORTEST_TYPO, len(word) - 1), len(word) + 2):
            yield from self._by_end.get((word[0], "", length), ())
            yield from self._by_end.get(("", word[-1], length), ())

    @cached_property
    def _by_end(self) -> Mapping[tuple[str, str, int], Sequence[str]]:
        found: dict[tuple[str, str, int], list[str]] = defaultdict(list)
        for word in self._sorted:
            found[word[0], "", len(word)].append(word)
            found["", word[-1], len(word)].append(word)
        return found


def read_question(text: str, vocabulary: Vocabulary) -> Question:
    """Return what a question says."""
    written = tuple(raw_words(text)[:_MOST_WORDS])
    notions: list[dict[str, float]] = []
    whole = [one for word in written for one in ABBREVIATIONS.get(word, (word,))]
    for said, meant in _parts(whole):
        if meant:
            notion = {word: _PHRASE for one in meant for word in (stem(one),) if word in vocabulary}
            spoken = [stem(word) for word in said if word not in STOP_WORDS]
            notion |= {word: 1.0 for word in spoken if word in vocabulary and len(spoken) == 1}
            if notion:
                notions.append(notion)
                continue
        notions.extend(_notion(word, vocabulary) for word in said if word not in STOP_WORDS)
    notions = _joined(written, vocabulary) + notions
    if not any(notions):
        notions = [_notion(word, vocabulary) for word in written]
    distinct = {tuple(sorted(notion)): notion for notion in notions if notion}
    return Question(tuple(distinct.values()), _effect(written, vocabulary), _many(written), written)


def _parts(words: Sequence[str]) -> Iterator[tuple[Sequence[str], Sequence[str]]]:
    """Yield the words of a question, those of a known phrase together with what it means."""
    at = 0
    while at < len(words):
        for length in range(min(LONGEST_PHRASE, len(words) - at), 0, -1):
            said = tuple(words[at : at + length])
            if said in PHRASES:
                yield said, PHRASES[said]
                break
        else:
            length = 1
            yield words[at : at + 1], ()
        at += length


def _notion(word: str, vocabulary: Vocabulary) -> dict[str, float]:
    """Return the stems that a word may stand for."""
    notion: dict[str, float] = {}
    for one in words_of(word):
        if one in vocabulary:
            notion[one] = 1.0
        for other, share in SYNONYMS.get(one, {}).items():
            if other in vocabulary:
                notion.setdefault(other, share)
    if notion:
        return notion
    forms = dict.fromkeys((fold(word), stem(word)))
    return next((found for form in forms if (found := vocabulary.guesses(form))), {})


def _joined(words: Sequence[str], vocabulary: Vocabulary) -> list[dict[str, float]]:
    """Return the words that two neighbours make together: ``web hook``, ``config map``."""
    made = [stem(first + second) for first, second in pairwise(words)]
    return [{word: 1.0} for word in made if len(word) >= 2 * _SHORTEST_PART and word in vocabulary]


def _effect(words: Sequence[str], vocabulary: Vocabulary) -> Effect | None:
    for word in words:
        if word in _ASKING:
            return "read"
        if (effect := EFFECTS.get(word) or _mistyped_effect(word, vocabulary)) is not None:
            return effect
    return None


def _mistyped_effect(word: str, vocabulary: Vocabulary) -> Effect | None:
    """Return the effect of the verb that a word means which no document has."""
    if len(word) <= _SHORTEST_TYPO or stem(word) in vocabulary:
        return None
    return next((effect for verb, effect in EFFECTS.items() if one_edit_apart(word, verb)), None)


def _many(words: Sequence[str]) -> bool:
    if any(word in ("all", "every", "list", "many") for word in words):
        return True
    return any(
        len(word) >= _SHORTEST_PLURAL
        and word.endswith("s")
        and not word.endswith(("ss", "us", "is"))
        and word not in STOP_WORDS
        for word in words
    )
