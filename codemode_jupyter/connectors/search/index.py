"""The words of some documents and where they occur.

Owns: postings in order of impact, and fetching the candidates that cover most of a question.
Never does: the final ranking.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import combinations
from operator import itemgetter

from codemode_jupyter.connectors.search.document import Document, WeightedWords, is_unstable, weighted_words
from codemode_jupyter.connectors.search.vectors import Vectors
from codemode_jupyter.connectors.search.words import raw_words

_SATURATION = 1.2  # k1 of BM25
_MOST_NOTIONS = 6  # that choose candidates; the others only rank them


class SearchIndex:
    """An inverted index of documents.

    ``postings`` has for each word the gain of each document (by position), best first: BM25 without rarity, which
    depends on all indexes that are asked together. ``vectors`` are kept here once somebody has made them.
    """

    def __init__(self, documents: Iterable[Document]) -> None:
        self.documents = tuple(documents)
        self.words: list[WeightedWords] = [weighted_words(document) for document in self.documents]
        self._named: dict[tuple[str, ...], list[int]] = defaultdict(list)
        for position, document in enumerate(self.documents):
            for words in {tuple(raw_words(document.name)), tuple(raw_words(document.key))}:
                self._named[words].append(position)
        self.names = [frozenset(raw_words(document.name)) for document in self.documents]
        self.connectors = [tuple(raw_words(document.connector)) for document in self.documents]
        self.unstable = [is_unstable(document) for document in self.documents]
        self.postings = _postings(self.words)
        self.vectors: Vectors | None = None
        self._masks: dict[str, int] = {}

    def mask(self, words: Iterable[str]) -> int:
        """Return the documents that have any of some words, as a set of bits."""
        found = 0
        for word in words:
            if word not in self._masks:
                bits = bytearray(len(self.documents) // 8 + 1)
                for position in self.postings.get(word, ()):
                    bits[position >> 3] |= 1 << (position & 7)
                self._masks[word] = int.from_bytes(bits, "little")
            found |= self._masks[word]
        return found

    def named(self, words: tuple[str, ...]) -> Sequence[int]:
        """Return the documents whose whole name or path has these words."""
        return self._named.get(words, ())

    def candidates(self, notions: Sequence[Mapping[str, float]], most: int) -> list[int]:
        """Return the documents worth ranking, no more than ``most``.

        Parameters
        ----------
        notions : sequence of mapping
            What is asked for, rarest first.
        most : int
            How many to return; those that cover the most and rarest notions come first, and among them those where
            the rarest notion stands in the best places.
        """
        leading = notions[:_MOST_NOTIONS]
        masks = [self.mask(notion) for notion in leading]
        found: dict[int, None] = {}
        seen = 0
        for chosen in _by_coverage(len(leading)):
            mask = masks[chosen[0]]
            for other in chosen[1:]:
                mask &= masks[other]
            mask &= ~seen
            if not mask:
                continue
            for position in self._best_of(mask, leading[chosen[0]], most - len(found)):
                found[position] = None
            seen |= mask
            if len(found) >= most:
                break
        return list(found)

    def _best_of(self, mask: int, notion: Mapping[str, float], most: int) -> Iterable[int]:
        if mask.bit_count() <= most:
            return positions_in(mask)
        best: dict[int, None] = {}
        each = max(1, most // len(notion))
        for word in sorted(notion, key=lambda one: -notion[one]):
            taken = 0
            for position in self.postings.get(word, ()):
                if mask >> position & 1:
                    best[position] = None
                    taken += 1
                    if taken >= each or len(best) >= most:
                        break
        return best


def positions_in(mask: int) -> list[int]:
    """Return the positions of the bits that are set."""
    found: list[int] = []
    for at, byte in enumerate(mask.to_bytes((mask.bit_length() + 7) // 8, "little")):
        if byte:
            found.extend(8 * at + bit for bit in range(8) if byte >> bit & 1)
    return found


def _by_coverage(count: int) -> Sequence[tuple[int, ...]]:
    """Return all choices of some notions, the largest first and among equals that of the rarest."""
    return [chosen for size in range(count, 0, -1) for chosen in combinations(range(count), size)]


def _postings(documents: Sequence[WeightedWords]) -> dict[str, dict[int, float]]:
    places: dict[str, list[int]] = defaultdict(list)
    for position, words in enumerate(documents):
        for word in words.weights:
            places[word].append(position)
    found: dict[str, dict[int, float]] = {}
    for word, positions in places.items():
        gains = [(_gain(documents[position].weights[word]), position) for position in positions]
        gains.sort(key=itemgetter(0), reverse=True)
        found[word] = {position: gain for gain, position in gains}
    return found


@cache
def _gain(weight: float) -> float:
    return weight * (_SATURATION + 1) / (weight + _SATURATION)
