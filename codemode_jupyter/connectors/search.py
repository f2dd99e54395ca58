"""Search over what can be called: which methods and snippets fit a question.

Owns: the index of words and the ranking: BM25 over weighted fields (Robertson and Zaragoza 2009), without its share for
length, since descriptions are cut and names are short.
Never does: the wording of results, or reading tools.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from codemode_jupyter.connectors.words import one_edit_apart, query_words, raw_words, words_of

_FIELD_WEIGHTS = {"name": 4.0, "connector": 1.5, "description": 1.5, "parameters": 0.7}
_SATURATION = 1.2  # k1 of BM25
_LONGEST_TEXT = 60  # words of a description that count
_PREFIX_SHARE = 0.6
_TYPO_SHARE = 0.5
_SHORTEST_TYPO = 4
_WHOLE_NAME = 4.0
_OTHER_FIELD = 0.2
_SAME_FORM = 0.3


@dataclass(frozen=True, slots=True)
class Document:
    """One thing that can be found. ``key`` is its path; the other fields are what is searched."""

    key: str
    name: str
    connector: str = ""
    description: str = ""
    parameters: str = ""


class SearchIndex:
    """The words of some documents, and where they occur."""

    def __init__(self, documents: Iterable[Document]) -> None:
        self.documents = tuple(documents)
        self.postings: dict[str, list[tuple[int, float]]] = defaultdict(list)
        self.names = [raw_words(document.name) for document in self.documents]
        self.paths = [raw_words(document.key) for document in self.documents]
        self.written = [frozenset(words) for words in self.names]
        for position, document in enumerate(self.documents):
            for word, weight in _weighted_words(document).items():
                self.postings[word].append((position, weight))

    @cached_property
    def vocabulary(self) -> list[str]:
        """All words, sorted."""
        return sorted(self.postings)

    def similar(self, word: str) -> Iterator[tuple[str, float]]:
        """Yield the words that a word of a question may mean, each with how much it counts."""
        if word in self.postings:
            yield word, 1.0
        found = False
        at = bisect_left(self.vocabulary, word)
        while at < len(self.vocabulary) and self.vocabulary[at].startswith(word):
            if (other := self.vocabulary[at]) != word and len(word) > 1:
                found = True
                yield other, _PREFIX_SHARE * max(0.5, len(word) / len(other))
            at += 1
        if not found and word not in self.postings and len(word) >= _SHORTEST_TYPO:
            for other in self.vocabulary:
                if len(other) >= _SHORTEST_TYPO and one_edit_apart(word, other):
                    yield other, _TYPO_SHARE
                elif len(other) >= _SHORTEST_TYPO and word.startswith(other):
                    yield other, _PREFIX_SHARE * len(other) / len(word)


def rank(question: str, indexes: Sequence[SearchIndex]) -> list[tuple[Document, float]]:
    """Return the documents that fit a question, best first, ties by path.

    A document needs no more than one word of the question; those that have more of its rare words stand higher.
    """
    wanted = query_words(question)
    total = sum(len(index.documents) for index in indexes)
    meant = [{word: list(index.similar(word)) for word in wanted} for index in indexes]
    rarities = {word: _rarity(word, indexes, meant, total) for word in wanted}
    possible = sum(rarities.values()) or 1.0
    written = raw_words(question)
    found: list[tuple[Document, float]] = []
    for index, similar in zip(indexes, meant, strict=True):
        for position, gains in _gains(index, similar, rarities).items():
            coverage = sum(rarities[word] for word in gains) / possible
            score = sum(gains.values()) * (0.4 + 0.6 * coverage)
            if written in (index.names[position], index.paths[position]):
                score += _WHOLE_NAME * possible
            score += _SAME_FORM * len(index.written[position].intersection(written))
            found.append((index.documents[position], score))
    return sorted(found, key=lambda item: (-round(item[1], 6), item[0].key.casefold(), item[0].key))


Similar = Mapping[str, Sequence[tuple[str, float]]]


def _gains(index: SearchIndex, similar: Similar, rarities: Mapping[str, float]) -> dict[int, dict[str, float]]:
    """Return, for each document that has any of the words, what each word adds."""
    gains: dict[int, dict[str, float]] = defaultdict(dict)
    for word, others in similar.items():
        for other, share in others:
            for position, weight in index.postings[other]:
                gain = share * rarities[word] * weight * (_SATURATION + 1) / (weight + _SATURATION)
                gains[position][word] = max(gains[position].get(word, 0.0), gain)
    return gains


def _rarity(word: str, indexes: Sequence[SearchIndex], meant: Sequence[Similar], total: int) -> float:
    """Return the inverse document frequency of a word, taken with what it may stand for."""
    having = sum(
        len({position for other, _ in similar[word] for position, _ in index.postings[other]})
        for index, similar in zip(indexes, meant, strict=True)
    )
    return math.log(1 + (total - having + 0.5) / (having + 0.5))


def _weighted_words(document: Document) -> dict[str, float]:
    """Return the weight of each word: that of the best field it stands in, and a little for each other."""
    texts = {
        "name": words_of(document.name),
        "connector": words_of(document.connector),
        "description": words_of(document.description)[:_LONGEST_TEXT],
        "parameters": words_of(document.parameters)[:_LONGEST_TEXT],
    }
    weights: dict[str, float] = {}
    for field, words in texts.items():  # best field first
        for word in dict.fromkeys(words):
            weights[word] = weights[word] + _OTHER_FIELD if word in weights else _FIELD_WEIGHTS[field]
    return weights
