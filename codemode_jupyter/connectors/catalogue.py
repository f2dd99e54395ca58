"""The catalogue: what there is to call, found by a question and described by name.

Owns: ``codemode.search`` and ``codemode.describe`` over connectors and snippets.
Never does: run anything, or read snippets from a store; they are passed in afresh.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, Protocol, TypeAlias

from codemode_jupyter.connectors.declarations.comments import comment, python_comment, text_lines
from codemode_jupyter.connectors.declarations.notes import shortened
from codemode_jupyter.connectors.declarations.overview import overview
from codemode_jupyter.connectors.declarations.python import generate_stubs
from codemode_jupyter.connectors.declarations.typescript import generate_types
from codemode_jupyter.connectors.names import nearest_names
from codemode_jupyter.connectors.search.document import Document, tool_document
from codemode_jupyter.connectors.search.index import SearchIndex
from codemode_jupyter.connectors.search.search import Searcher
from codemode_jupyter.connectors.search.vectors import Embed
from codemode_jupyter.connectors.tool import Tool
from codemode_jupyter.errors import CodemodeError

MOST_RESULTS = 50
"""Most results that one search can give."""

MOST_DECLARED = 100
"""Tools of a connector that ``describe`` declares; of a connector with more it lists the names."""

LONGEST_TYPES = 200_000
"""Characters of declarations of a connector; instead of longer ones ``describe`` lists the names."""

Language: TypeAlias = Literal["javascript", "python"]
"""Language of the programs that a description is for."""

_SNIPPET = "snippet:"
_FENCES: Mapping[str, str] = {"javascript": "ts", "python": "python"}
_LONGEST_LINE = 200  # characters of a description in a result
_LONGEST_DESCRIPTION = 4000
_FENCE = re.compile("`{3,}")


class SnippetLike(Protocol):
    """What is asked of a snippet."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def description(self) -> str:
        """What it does."""

    @property
    def code(self) -> str:
        """Its program."""


@dataclass(frozen=True, slots=True)
class CatalogueEntry:
    """One connector as the catalogue knows it."""

    name: str
    instructions: str
    tools: Mapping[str, Tool]


@dataclass(frozen=True, slots=True)
class Description:
    """How something is used.

    ``types`` are TypeScript declarations or Python stubs; of a connector with very many tools a list of them; of a
    snippet its program in a fence.
    """

    path: str
    kind: Literal["connector", "method", "snippet"]
    description: str
    types: str
    requires_approval: bool = False

    def wire(self) -> dict[str, Any]:
        """Return the form that a program gets."""
        row: dict[str, Any] = {
            "path": self.path,
            "kind": self.kind,
            "description": self.description,
            "types": self.types,
        }
        return {**row, "requiresApproval": True} if self.requires_approval else row


class Catalogue:
    """All connectors of a runtime.

    Parameters
    ----------
    entries : iterable of CatalogueEntry
        The connectors with their tools; the index of each is built at the first search.
    before : Catalogue, optional
        An older catalogue: what it has indexed of connectors whose tools are the same objects is used again.
    embed : callable, optional
        Texts to vectors, so that search also goes by meaning; vectors are made at the first search and kept in memory.
    """

    def __init__(
        self, entries: Iterable[CatalogueEntry], before: Catalogue | None = None, embed: Embed | None = None
    ) -> None:
        self._entries = {entry.name: entry for entry in entries}
        self._before = before
        self._embed = embed
        self._searching = threading.Lock()
        self._latest: tuple[tuple[Document, ...], Searcher] | None = None

    def search(self, query: str, snippets: Sequence[SnippetLike] = (), limit: int = 10) -> dict[str, Any]:
        """Return what fits a question, best first.

        Parameters
        ----------
        query : str
            A question or some words, in any language; an empty one finds nothing.
        snippets : sequence of SnippetLike, default ()
            The snippets there are now.
        limit : int, default 10
            Most results, 1 to 50.

        Returns
        -------
        dict
            ``results`` (each with ``path``, ``connector``, ``method``, the first line of its ``description``, ``kind``,
            ``score`` and, for what needs approval, ``requiresApproval``), ``total`` and ``truncated``.
        """
        with self._searching:  # one builds the index, the others wait for it
            found = self._searcher(snippets).rank(query, max(1, min(limit, MOST_RESULTS)))
        rows = [self._row(document, score) for document, score in found.best]
        return {"results": rows, "total": found.total, "truncated": found.total > len(rows)}

    def describe(
        self, target: str, snippets: Sequence[SnippetLike] = (), language: Language = "javascript"
    ) -> Description:
        """Return how a connector, ``connector.method``, a method alone or a snippet is used.

        Parameters
        ----------
        target : str
            A name; a snippet that has the name of a connector or method is meant by ``snippet:NAME``.
        snippets : sequence of SnippetLike, default ()
            The snippets there are now.
        language : {"javascript", "python"}, default "javascript"
            The language of the program that will use it: TypeScript declarations, or Python stubs.

        Raises
        ------
        CodemodeError
            ``unknown_name``, with the nearest names (``data["suggestions"]``), ``ambiguous_name``, ``invalid_option``.
        """
        if language not in _FENCES:
            raise CodemodeError(
                "invalid_option", f"`language` is {language!r:.100}.", hint='Use "javascript" or "python".'
            )
        name = target.strip().strip(".").removesuffix("()")
        connector, _, method = name.partition(".")
        entry = self._entries.get(name)
        if entry is not None:
            return _connector_description(entry, language)
        if connector in self._entries and method in self._entries[connector].tools:
            return _method_description(connector, self._entries[connector].tools[method], language)
        for snippet in snippets:
            if name in (snippet.name, f"{_SNIPPET}{snippet.name}"):
                return self._snippet_description(snippet, language)
        owners = [entry for entry in self._entries.values() if name in entry.tools]
        if len(owners) == 1:
            return _method_description(owners[0].name, owners[0].tools[name], language)
        if owners:
            paths = [f"{owner.name}.{name}" for owner in owners]
            raise CodemodeError(
                "ambiguous_name",
                f'"{name}" is a method of {len(paths)} connectors.',
                hint=f"Say which: {', '.join(paths)}.",
                data={"suggestions": paths},
            )
        raise self._unknown(target, snippets)

    def _unknown(self, target: str, snippets: Sequence[SnippetLike]) -> CodemodeError:
        methods = {f"{entry.name}.{name}": name for entry in self._entries.values() for name in entry.tools}
        names = [*self._entries, *methods, *(self._snippet_path(one) for one in snippets)]
        near = nearest_names(target, names)
        # A method's own name may be near although its path is not, or be the beginning of what was meant.
        own = set(nearest_names(target.rpartition(".")[2], methods.values()))
        near += [path for path, name in methods.items() if name in own and path not in near]
        if not near:
            near = [row["path"] for row in self.search(target, snippets, 3)["results"]]
        hint = f"Did you mean {' or '.join(near[:3])}?" if near else "Look for it with codemode.search(…)."
        return CodemodeError(
            "unknown_name",
            f'"{shortened(target, _LONGEST_LINE)}" not found.',
            hint=hint,
            data={"suggestions": near[:3]},
        )

    @cached_property
    def _indexes(self) -> dict[str, SearchIndex]:
        before, self._before = self._before, None
        known = {} if before is None else before._built()  # noqa: SLF001  another one of this class
        return {
            name: known[name][1]
            if name in known and known[name][0] is entry.tools
            else SearchIndex(tool_document(name, tool) for tool in entry.tools.values())
            for name, entry in self._entries.items()
        }

    def _built(self) -> dict[str, tuple[Mapping[str, Tool], SearchIndex]]:
        """Return the indexes that there are, with the tools they are of."""
        if "_indexes" not in self.__dict__:
            return {} if self._before is None else self._before._built()  # noqa: SLF001  another one of this class
        return {name: (self._entries[name].tools, index) for name, index in self._indexes.items()}

    def _searcher(self, snippets: Sequence[SnippetLike]) -> Searcher:
        """Return the searcher over connectors and snippets, the one before where nothing changed."""
        documents = tuple(Document(self._snippet_path(one), one.name, "", one.description) for one in snippets)
        if self._latest is None or self._latest[0] != documents:
            extra = (SearchIndex(documents),) if documents else ()
            self._latest = documents, Searcher((*self._indexes.values(), *extra), self._embed)
        return self._latest[1]

    def _row(self, document: Document, score: float) -> dict[str, Any]:
        tool = self._entries[document.connector].tools[document.name] if document.connector else None
        row = {
            "path": document.key,
            "connector": document.connector,
            "method": document.name,
            "description": _first_line(document.description),
            "kind": "snippet" if tool is None else "method",
            "score": round(score, 4),
        }
        return {**row, "requiresApproval": True} if tool is not None and tool.requires_approval is not False else row

    def _snippet_path(self, snippet: SnippetLike) -> str:
        connector, _, method = snippet.name.partition(".")
        taken = snippet.name in self._entries or (
            connector in self._entries and method in self._entries[connector].tools
        )
        return f"{_SNIPPET}{snippet.name}" if taken else snippet.name

    def _snippet_description(self, snippet: SnippetLike, language: Language) -> Description:
        fence = "`" * max(3, 1 + max((len(run) for run in _FENCE.findall(snippet.code)), default=0))
        written = getattr(snippet, "language", language)
        mark = _FENCES.get(written, "")
        types = f"{snippet.description}\n\n{fence}{mark}\n{snippet.code}\n{fence}".lstrip()
        return Description(self._snippet_path(snippet), "snippet", snippet.description, types)


def _first_line(text: str) -> str:
    return shortened(next(iter(text_lines(text[:_LONGEST_DESCRIPTION])), ""), _LONGEST_LINE)


def _declared(tools: Iterable[Tool], namespace: str, language: Language) -> str:
    return generate_types(tools, namespace) if language == "javascript" else generate_stubs(tools, namespace)


def _connector_description(entry: CatalogueEntry, language: Language) -> Description:
    tools = list(entry.tools.values())
    types = _declared(tools, entry.name, language) if len(tools) <= MOST_DECLARED else None
    if types is None or len(types) > LONGEST_TYPES:
        said, types = [entry.instructions], overview(entry.name, tools)
    elif language == "javascript":
        said = comment(text_lines(entry.instructions), "")
    else:
        said = python_comment((entry.instructions,), "")
    text = "\n".join([*said, "", types]) if entry.instructions else types
    return Description(entry.name, "connector", entry.instructions, text)


def _method_description(connector: str, tool: Tool, language: Language) -> Description:
    path, gated = f"{connector}.{tool.name}", tool.requires_approval is not False
    return Description(path, "method", tool.description, _declared([tool], connector, language), gated)
