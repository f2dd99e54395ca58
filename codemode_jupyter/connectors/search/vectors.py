"""Search by meaning: vectors of texts, when a host gives a function that makes them.

Owns: vectors of documents, made once and kept in memory, the order by cosine, and its fusion with the order by words
(reciprocal rank fusion; Cormack, Clarke and Büttcher 2009).
Never does: make vectors itself, or store them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from typing import Any, TypeAlias

from codemode_jupyter.connectors.search.document import Document
from codemode_jupyter.errors import CodemodeError

Embed: TypeAlias = Callable[[list[str]], Any]
"""Texts to vectors: one row of numbers for each text, as a NumPy array or nested lists."""

_TEXT_LENGTH = 40  # words of a description
_BATCH = 64
_CONSTANT = 10  # of reciprocal rank fusion: small, since few of many documents fit a question
_SHARE = 0.4  # of the vectors' order beside the words' order
_NOT_PROSE = re.compile(r"\]\([^)]*\)|https?://\S+|\b(?:GET|HEAD|OPTIONS|POST|PUT|PATCH|DELETE) /\S*")
_JOINT = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[_\W]+")


def embedded_text(document: Document) -> str:
    """Return what a document is taken to mean: its name in words, and the beginning of its description."""
    name = _JOINT.sub(" ", document.name).strip()
    return f"{name}. {' '.join(_NOT_PROSE.sub(' ', document.description[:2000]).split()[:_TEXT_LENGTH])}"


class Vectors:
    """The vectors of some documents.

    Parameters
    ----------
    embed : callable
        Makes vectors of texts.
    documents : sequence of Document
        What they are of; their vectors are made at once.

    Raises
    ------
    CodemodeError
        ``missing_extra`` (NumPy), ``embed_failed``, ``invalid_vectors``: not one row for each text.
    """

    def __init__(self, embed: Embed, documents: Sequence[Document]) -> None:
        self._embed = embed
        texts = [embedded_text(document) for document in documents]
        parts = [self._rows(texts[at : at + _BATCH]) for at in range(0, len(texts), _BATCH)]
        self._matrix = _numpy().concatenate(parts) if parts else None

    def nearness(self, question: str) -> list[float]:
        """Return the cosine of a question and each document."""
        return [] if self._matrix is None else (self._matrix @ self._rows([question])[0]).tolist()

    def _rows(self, texts: list[str]) -> Any:
        numpy = _numpy()
        try:
            made = self._embed(texts)
        except Exception as error:
            raise CodemodeError("embed_failed", f"`embed` raised {type(error).__name__}: {error!s:.200}.") from error
        try:
            rows = numpy.asarray(made, dtype="float32")
        except (TypeError, ValueError) as error:
            raise _invalid(len(texts), str(error)) from error
        if rows.ndim != 2 or rows.shape[0] != len(texts):  # noqa: PLR2004  rows and columns
            raise _invalid(len(texts), f"an array of shape {rows.shape}")
        lengths = numpy.linalg.norm(rows, axis=1, keepdims=True)
        return numpy.nan_to_num(rows / numpy.where(lengths == 0, 1, lengths))


def fused(by_words: Iterable[str], by_meaning: Iterable[str]) -> dict[str, float]:
    """Return the scores of keys that stand high in either of two orders, best first."""
    scores: dict[str, float] = {}
    for order, share in ((by_words, 1.0), (by_meaning, _SHARE)):
        for rank, key in enumerate(order):
            scores[key] = scores.get(key, 0.0) + share / (_CONSTANT + rank)
    return dict(sorted(scores.items(), key=lambda item: -item[1]))


def _numpy() -> Any:
    try:
        return import_module("numpy")
    except ImportError as error:
        raise CodemodeError(
            "missing_extra",
            "Search by meaning needs NumPy.",
            hint='Install it: pip install "codemode-jupyter[semantic]".',
        ) from error


def _invalid(count: int, what: str) -> CodemodeError:
    return CodemodeError(
        "invalid_vectors",
        f"`embed` was given {count} texts and returned {what:.200}.",
        hint="Return one row of numbers for each text, all of one length.",
    )
