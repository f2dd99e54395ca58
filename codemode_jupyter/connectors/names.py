"""Names of connectors and tools: what a program can write, in JavaScript and in Python.

Owns: which names are refused and why, the identifier made of a foreign name, and the nearest names for a miss.
Never does: look a name up.
"""

from __future__ import annotations

import builtins
import difflib
import keyword
import re
import unicodedata
from collections.abc import Iterable, Mapping

from codemode_jupyter.errors import CodemodeError

_ASCII_IDENTIFIER = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")
_BECOMES_UNDERSCORE = re.compile(r"[-.\s\ufeff]")
_DROPPED = re.compile(r"[^A-Za-z0-9_$]")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# ECMAScript 2025, 12.7.2: reserved words, with those of strict mode and modules, and names strict code cannot bind.
_JAVASCRIPT_RESERVED = _words(
    """
    arguments await break case catch class const continue debugger default delete do else enum eval export
    extends false finally for function if implements import in instanceof interface let new null package
    private protected public return static super switch this throw true try typeof undefined var void while
    with yield
    """
)

# ECMAScript 2025, 19 (the global object), then what Workers add. The sandbox removes some and builds on others.
_JAVASCRIPT_GLOBALS = _words(
    """
    AggregateError Array ArrayBuffer AsyncDisposableStack Atomics BigInt BigInt64Array BigUint64Array Boolean
    DataView Date DisposableStack Error EvalError FinalizationRegistry Float16Array Float32Array Float64Array
    Function Infinity Int16Array Int32Array Int8Array Intl Iterator JSON Map Math NaN Number Object Promise
    Proxy RangeError ReferenceError Reflect RegExp Set SharedArrayBuffer String SuppressedError Symbol
    SyntaxError Temporal TypeError URIError Uint16Array Uint32Array Uint8Array Uint8ClampedArray WeakMap
    WeakRef WeakSet WebAssembly decodeURI decodeURIComponent encodeURI encodeURIComponent escape globalThis
    isFinite isNaN parseFloat parseInt unescape AbortController AbortSignal Blob BroadcastChannel Buffer Deno
    Event EventSource EventTarget File FormData Headers MessageChannel MessagePort Performance Request
    Response TextDecoder TextEncoder URL URLSearchParams WebSocket Worker XMLHttpRequest addEventListener atob
    btoa caches clearInterval clearTimeout close console crypto dispatchEvent fetch importScripts indexedDB
    location navigator onmessage origin performance postMessage process queueMicrotask removeEventListener
    require self setInterval setTimeout structuredClone window
    """
)

# `site` and IPython add these to the builtins; no program in the sandbox has them.
_NOT_OF_THE_LANGUAGE = _words("copyright credits display exit get_ipython license quit")
_PYTHON_GLOBALS = frozenset(dir(builtins)) - _NOT_OF_THE_LANGUAGE
_OWN_GLOBALS = frozenset(["codemode"])

# A namespace with a method `then` would pass for a promise (ECMAScript 27.2.1.3.2); `__…__` belongs to the languages.
_NOT_FOR_TOOLS = re.compile(r"then|__.*__")


def sanitize_name(name: str) -> str:
    """Return the identifier by which programs reach a tool with a foreign name.

    ``-``, ``.`` and blanks become ``_``; other characters that an ASCII identifier cannot have are dropped; a leading
    digit gets a ``_`` before it, a reserved word of JavaScript or Python a ``_`` after it.
    """
    made = _DROPPED.sub("", _BECOMES_UNDERSCORE.sub("_", name)) or "_"
    if made[0].isdigit():
        made = f"_{made}"
    return f"{made}_" if made in _JAVASCRIPT_RESERVED or keyword.iskeyword(made) or made == "then" else made


def sanitize_names(connector: str, names: Iterable[str]) -> dict[str, str]:
    """Return the identifier of each foreign name of one connector.

    Raises
    ------
    CodemodeError
        ``duplicate_name``: two names give one identifier; the message names both.
    """
    made: dict[str, str] = {}
    for name in names:
        identifier = sanitize_name(name)
        if identifier in made:
            first = made[identifier]
            raise CodemodeError(
                "duplicate_name",
                f'Tools "{first}" and "{name}" of "{connector}" both sanitize to "{identifier}".'
                if first != name
                else f'Connector "{connector}" has two tools named "{name}".',
                hint="Give one of them another name.",
            )
        made[identifier] = name
    return {name: identifier for identifier, name in made.items()}


def is_identifier(name: object) -> bool:
    """Say whether ``connector.name`` can be written in both languages."""
    if not isinstance(name, str):
        return False
    if name.isascii():
        return bool(_ASCII_IDENTIFIER.fullmatch(name))
    # Python reads other forms of a letter as one (NFKC, PEP 3131), JavaScript does not: they would be two names in one
    # language and one in the other.
    return name.isidentifier() and unicodedata.is_normalized("NFKC", name)


def check_connector_name(name: object, owner: object = None) -> None:
    """Refuse a name that cannot be a global of a program.

    Parameters
    ----------
    name : object
        The name.
    owner : object, optional
        The connector, named in the message when it is given.

    Raises
    ------
    CodemodeError
        ``invalid_name`` or ``reserved_name``
    """
    whose = f" of {type(owner).__name__}" if owner is not None else ""
    if not is_identifier(name) or "$" in str(name):
        suggestion = sanitize_name(name).replace("$", "_") if isinstance(name, str) else "_"
        raise CodemodeError(
            "invalid_name",
            f"Connector name {name!r}{whose} is not a valid JavaScript identifier, or not a Python one.",
            hint=f'Use letters, digits and "_", such as "{suggestion}".' if suggestion.strip("_") else "Use letters.",
        )
    text = str(name)
    if (why := _reserved_for(text)) is not None:
        raise CodemodeError(
            "reserved_name",
            f'Connector name "{text}"{whose} is reserved: {why}.',
            hint=f'Give it another name, such as "{text.strip("_")}_api".',
        )


def check_connector_names(names: Iterable[object]) -> None:
    """Refuse names that cannot be globals of a program, and names that two connectors share.

    Raises
    ------
    CodemodeError
        ``invalid_name``, ``reserved_name`` or ``duplicate_name``
    """
    positions: dict[object, int] = {}
    for position, name in enumerate(names, start=1):
        check_connector_name(name)
        if name in positions:
            raise CodemodeError(
                "duplicate_name",
                f'Duplicate connector name "{name}": connectors number {positions[name]} and {position} share it.',
                hint="Give one of them another name.",
            )
        positions[name] = position


def check_tool_name(name: object, connector: str) -> None:
    """Refuse a name that programs cannot write after ``connector.``.

    Raises
    ------
    CodemodeError
        ``invalid_name`` or ``reserved_name``
    """
    if not is_identifier(name):
        raise CodemodeError(
            "invalid_name",
            f'Tool name {name!r} of "{connector}" is not a valid JavaScript identifier.',
            hint=f'Call it "{sanitize_name(name)}".' if isinstance(name, str) else "A name is text.",
        )
    text = str(name)
    if _NOT_FOR_TOOLS.fullmatch(text) or keyword.iskeyword(text):  # JavaScript allows any word after a point
        raise CodemodeError(
            "reserved_name",
            f'Tool name "{text}" of "{connector}" is reserved by JavaScript or Python.',
            hint=f'Call it "{text.strip("_")}_".',
        )


def nearest_names(name: str, known: Iterable[str], count: int = 3) -> list[str]:
    """Return the known names that look most like ``name``, best first; case does not count."""
    lowered: dict[str, str] = {}
    for candidate in known:
        lowered.setdefault(candidate.lower(), candidate)
    return [lowered[match] for match in difflib.get_close_matches(name.lower(), lowered, n=count, cutoff=0.6)]


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return a question that names the nearest names, or an empty text."""
    near = nearest_names(name, known)
    return f"Did you mean {' or '.join(near)}?" if near else ""


def unique_by_name(connector: str, named: Iterable[tuple[str, object]]) -> None:
    """Refuse two tools of one name; the message says what both are.

    Raises
    ------
    CodemodeError
        ``duplicate_name``
    """
    seen: dict[str, object] = {}
    for name, what in named:
        if name in seen:
            raise CodemodeError(
                "duplicate_name",
                f'Connector "{connector}" has two tools named "{name}": {seen[name]} and {what}.',
                hint="Give one of them another name.",
            )
        seen[name] = what


def _reserved_for(name: str) -> str | None:
    reasons: Mapping[str, bool] = {
        "it is the namespace of the built-in operations": name in _OWN_GLOBALS,
        "names that begin with two underscores are kept for the runtime": name.startswith("__"),
        "it is a reserved word of JavaScript": name in _JAVASCRIPT_RESERVED,
        "it is a reserved word of Python": keyword.iskeyword(name),
        "it is a global of JavaScript": name in _JAVASCRIPT_GLOBALS,
        "it is a builtin of Python": name in _PYTHON_GLOBALS,
    }
    return next((reason for reason, applies in reasons.items() if applies), None)
