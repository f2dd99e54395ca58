"""What is searched of a tool or a snippet: its words, by where they stand.

Owns: reading names, descriptions and schemas into weighted words. Never does: rank.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from codemode_jupyter.connectors.search.vocabulary import EFFECTS, METHODS, STOP_WORDS, Effect
from codemode_jupyter.connectors.search.words import raw_words, stem, words_of
from codemode_jupyter.connectors.tool import Tool

_NAME, _TITLE, _PATH, _TEXT, _CONNECTOR, _PARAMETER, _NOTE = 3.0, 3.0, 1.6, 1.0, 1.0, 0.7, 0.35
_OTHER_PLACE = 0.25  # of its weight, a further place where the same word stands

_TITLE_LENGTH = 16  # words
_TEXT_LENGTH = 60
_PARAMETER_LENGTH = 120
_NOTE_LENGTH = 160
_NOTE_WORDS = 12  # of one parameter's description
_REQUEST_LENGTH = 400  # characters at the end where a request line is looked for, too
_LONGEST_TEXT = 4000  # characters that are looked at
_DEPTH = 3  # of objects in objects

_EMPTY = STOP_WORDS - {"all", "every"}  # a name has these for a reason

_REQUEST_LINE = re.compile(r"\b(GET|HEAD|OPTIONS|POST|PUT|PATCH|DELETE)\s+(/\S*)")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n\s*\n|\n(?=[-*#])")
_NOT_WORDS = re.compile(r"\]\([^)]*\)|https?://\S+|<[^>]{0,200}>")
_OBSOLETE = re.compile(r"\W{0,4}(this \w+ is )?deprecated\b|\bclosing down\b", re.IGNORECASE)
_UNSTABLE = re.compile(r"^(alpha|beta|experimental|preview|legacy)$|^v\d+(alpha|beta)\d*$")


@dataclass(frozen=True, slots=True)
class Document:
    """One thing that can be found.

    Attributes
    ----------
    key : str
        Its path.
    name, connector, description : str
        What results print.
    parameters : str
        Names of its parameters and of their properties.
    notes : str
        What the schema says about the parameters.
    deprecated : bool
        It should be found after what replaces it.
    """

    key: str
    name: str
    connector: str = ""
    description: str = ""
    parameters: str = ""
    notes: str = ""
    deprecated: bool = False


def tool_document(connector: str, tool: Tool) -> Document:
    """Return what is searched of a tool."""
    names: list[str] = []
    notes: list[str] = []
    for name, note in _parameters(tool.input_schema, 0):
        names.append(name)
        notes.append(note)
        if len(names) > _PARAMETER_LENGTH:
            break
    described = tool.description[:_LONGEST_TEXT]
    obsolete = tool.input_schema.get("deprecated") is True if isinstance(tool.input_schema, Mapping) else False
    return Document(
        f"{connector}.{tool.name}",
        tool.name,
        connector,
        tool.description,
        " ".join(names),
        " ".join(notes),
        obsolete or bool(_OBSOLETE.search(described[:300])),
    )


@dataclass(frozen=True, slots=True)
class WeightedWords:
    """The words of a document.

    ``weights`` by stem; ``titles`` the stems of its name, and those of its first sentence; ``effect`` what it does, as
    far as its HTTP method or its verb says; ``many`` whether it gives a list.
    """

    weights: dict[str, float]
    titles: tuple[frozenset[str], ...]
    effect: Effect | None
    many: bool


def weighted_words(document: Document) -> WeightedWords:
    """Return the words of a document: each with the weight of its best place and a little for every other one."""
    text = document.description[:_LONGEST_TEXT]
    requests = _REQUEST_LINE.findall(text) or _REQUEST_LINE.findall(document.description[-_REQUEST_LENGTH:])
    prose = _NOT_WORDS.sub(" ", _REQUEST_LINE.sub(" ", text))
    first, _, rest = _split_sentence(prose)
    title, name = words_of(first)[:_TITLE_LENGTH], words_of(document.name)
    path = words_of(" ".join(re.sub(r"\{[^}]*\}", " ", path) for _, path in requests[:1]))
    places = (
        (name, _NAME),
        (title, _TITLE),
        (path, _PATH),
        (words_of(rest)[:_TEXT_LENGTH], _TEXT),
        (words_of(document.connector), _CONNECTOR),
        (words_of(document.parameters)[:_PARAMETER_LENGTH], _PARAMETER),
        (words_of(document.notes)[:_NOTE_LENGTH], _NOTE),
    )
    weights: dict[str, float] = {}
    for words, weight in places:  # the best places first
        for word in dict.fromkeys(words):
            weights[word] = weights[word] + _OTHER_PLACE * weight if word in weights else weight
    titles = tuple(saying for words in (name, title) if (saying := frozenset(words) - _EMPTY))
    return WeightedWords(weights, titles, _effect(document, requests, first), _gives_many(document, first))


def _split_sentence(text: str) -> tuple[str, str, str]:
    """Return the first sentence of a text, nothing, and the rest."""
    stripped = text.strip()
    found = _SENTENCE_END.search(stripped)
    return (stripped, "", "") if found is None else (stripped[: found.start()], "", stripped[found.end() :])


def _effect(document: Document, requests: list[tuple[str, str]], first: str) -> Effect | None:
    if requests:
        return METHODS[requests[0][0]]
    for word in (*raw_words(document.name)[:3], *raw_words(first)[:2]):
        if (effect := EFFECTS.get(word) or EFFECTS.get(stem(word))) is not None:
            return effect
    return None


def _gives_many(document: Document, first: str) -> bool:
    words = (*raw_words(document.name), *raw_words(first)[:4])
    return any(word in ("list", "lists", "all", "search", "every") for word in words)


def _parameters(schema: object, depth: int) -> Iterator[tuple[str, str]]:
    """Yield the names of the properties of an object, those within them after it, each with what is said about it."""
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    if not isinstance(properties, Mapping) or depth > _DEPTH:
        return
    inner: list[object] = []
    for name, value in properties.items():
        note = ""
        if isinstance(value, Mapping):
            note = " ".join((*_beginning(value.get("description")), *_choices(value)))
            inner += [value, value.get("items")]
        yield str(name), note
    for one in inner:
        yield from _parameters(one, depth + 1)


def _beginning(text: object) -> Iterable[str]:
    return _NOT_WORDS.sub(" ", text[:400]).split()[:_NOTE_WORDS] if isinstance(text, str) else ()


def _choices(schema: Mapping[str, object]) -> Iterator[str]:
    enum = schema.get("enum")
    return (one for one in enum[:_NOTE_WORDS] if isinstance(one, str)) if isinstance(enum, list) else iter(())


def is_unstable(document: Document) -> bool:
    """Say whether the name of a document says that it is not settled yet, such as ``v1beta1``."""
    return any(
        _UNSTABLE.match(part.lower()) for part in re.findall(r"[Vv]\d+(?:alpha|beta)\d*|[A-Za-z]+", document.name)
    )
