"""Search over what can be called: which methods and snippets fit a question.

Owns: the ranking: BM25 over weighted fields (Robertson and Zaragoza 2009) of notions instead of words, softened by how
much of the question is covered, and by how much of a document's title the question accounts for.
Never does: the wording of results, or reading tools.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from heapq import nlargest, nsmallest
from operator import itemgetter

from codemode_jupyter.connectors.search.document import Document
from codemode_jupyter.connectors.search.index import SearchIndex
from codemode_jupyter.connectors.search.question import Question, Vocabulary, read_question
from codemode_jupyter.connectors.search.vectors import Embed, Vectors, fused
from codemode_jupyter.connectors.search.words import raw_words

FUSED = 50
"""How many of each order are fused."""

_CANDIDATES = 400  # chosen by what they cover, of each index its share
_FEWEST = 40  # of each index
_RANKED = 120  # of these, chosen by their words
_OWN_RARITY = 0.25  # how much what was said counts by its own rarity, instead of by that of its notion
_UNCOVERED = 0.4  # of a score, what remains where next to nothing of the question is covered
_TITLE = 0.8
_WHOLE_NAME = 4.0
_SAME_FORM = 0.1
_EFFECT = {True: 1.15, False: 0.85}
_MANY = 1.25
_DEPRECATED = 0.7
_UNSTABLE = 0.9


@dataclass(frozen=True, slots=True)
class Found:
    """The answer to a question: the best documents with their scores, and how many fit at all."""

    best: list[tuple[Document, float]]
    total: int


class Searcher:
    """Ranks over some indexes as if they were one.

    Parameters
    ----------
    indexes : sequence of SearchIndex
        What is searched; each is built once and may be shared by many searchers.
    embed : callable, optional
        Texts to vectors; then the order by meaning counts, too.
    """

    def __init__(self, indexes: Sequence[SearchIndex], embed: Embed | None = None) -> None:
        self.indexes = tuple(indexes)
        self._embed = embed
        self._total = sum(len(index.documents) for index in self.indexes)

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """All words of the indexes."""
        return Vocabulary(set[str]().union(*(index.postings for index in self.indexes)))

    def rank(self, text: str, limit: int) -> Found:
        """Return the documents that fit a question, best first, ties by path.

        A document needs no more than one word of the question; those that have more of its rare words stand higher.
        """
        if self._embed is None or not raw_words(text):
            return self._by_words(text, limit)
        words, meaning = self._by_words(text, FUSED), self._by_meaning(text, self._embed)
        documents = {document.key: document for document, _ in (*words.best, *meaning)}
        scores = fused((one.key for one, _ in words.best), (one.key for one, _ in meaning))
        best = [(documents[key], score) for key, score in list(scores.items())[:limit]]
        return Found(best, max(words.total, len(scores)))

    def _by_meaning(self, text: str, embed: Embed) -> list[tuple[Document, float]]:
        found: list[tuple[Document, float]] = []
        for index in self.indexes:
            if index.vectors is None:
                index.vectors = Vectors(embed, index.documents)
            found += zip(index.documents, index.vectors.nearness(text), strict=True)
        return nlargest(FUSED, found, key=itemgetter(1))

    def _by_words(self, text: str, limit: int) -> Found:
        question = read_question(text, self.vocabulary)
        having = [sum(index.mask(notion).bit_count() for index in self.indexes) for notion in question.notions]
        rarities = [self._rarity(have) for have in having]
        order = sorted(range(len(rarities)), key=lambda at: -rarities[at])
        notions = [question.notions[at] for at in order]
        weighed = [rarities[at] for at in order]
        likely = {
            (at, position): score
            for at, index in enumerate(self.indexes)
            for position, score in self._likely(index, question, notions, weighed).items()
        }
        named = {(at, position) for at, index in enumerate(self.indexes) for position in index.named(question.written)}
        meant = frozenset(word for notion in notions for word in notion)
        possible = sum(rarities) or 1.0
        scored = []
        for place in {*named, *nlargest(_RANKED, likely, key=likely.__getitem__)}:
            index, position = self.indexes[place[0]], place[1]
            score = likely[place] * self._fit(index, position, question, meant)
            if place in named:
                score += _WHOLE_NAME * possible
            elif question.written == index.connectors[position]:
                score += possible
            scored.append((index.documents[position], score))
        best = nsmallest(limit, scored, key=lambda one: (-round(one[1], 6), one[0].key.casefold(), one[0].key))
        every = [word for notion in notions for word in notion]
        return Found(best, sum(index.mask(every).bit_count() for index in self.indexes))

    def _likely(
        self, index: SearchIndex, question: Question, notions: Sequence[Mapping[str, float]], rarities: Sequence[float]
    ) -> dict[int, float]:
        """Return the documents of one index that are worth a closer look, with what their words alone come to."""
        possible = sum(rarities) or 1.0
        postings = [
            [
                (share * self._rarity_within(word, share, rarity), places)
                for word, share in notion.items()
                if (places := index.postings.get(word))
            ]
            for notion, rarity in zip(notions, rarities, strict=True)
        ]
        most = max(_FEWEST, math.ceil(_CANDIDATES * len(index.documents) / self._total))
        named = index.named(question.written)
        candidates = dict.fromkeys((*named, *index.candidates(notions, most)), 0.0)
        covered = dict(candidates)
        for alternatives, rarity in zip(postings, rarities, strict=True):
            gains: dict[int, float] = {}
            for share, places in alternatives:
                for position in candidates.keys() & places.keys():
                    gain = share * places[position]
                    if gain > gains.get(position, 0.0):
                        gains[position] = gain
            for position, gain in gains.items():
                candidates[position] += gain
                covered[position] += rarity
        for position, part in covered.items():
            candidates[position] *= _UNCOVERED + (1 - _UNCOVERED) * part / possible
        return candidates

    def _rarity_within(self, word: str, share: float, rarity: float) -> float:
        """Return the rarity of a word of a notion: what was said itself may be rarer than all that it may stand for."""
        if share < 1:
            return rarity
        have = sum(len(index.postings.get(word, ())) for index in self.indexes)
        return rarity + _OWN_RARITY * (self._rarity(have) - rarity)

    def _rarity(self, have: int) -> float:
        """Return the inverse document frequency of what so many documents have."""
        return math.log(1 + (self._total - have + 0.5) / (have + 0.5))

    def _fit(self, index: SearchIndex, position: int, question: Question, meant: frozenset[str]) -> float:
        """Return the factor for how well a document fits beyond its words."""
        words = index.words[position]
        factor = 1 + _TITLE * max((len(title & meant) / len(title) for title in words.titles), default=0.0)
        if question.effect is not None and words.effect is not None:
            factor *= _EFFECT[question.effect == words.effect]
        if question.many and words.many and question.effect in (None, "read"):
            factor *= _MANY
        factor += _SAME_FORM * len(index.names[position].intersection(question.written))
        if index.documents[position].deprecated:
            factor *= _DEPRECATED
        return factor * _UNSTABLE if index.unstable[position] else factor
