"""Names that become something elsewhere: globals of the sandbox, keys of the store.

Owns: which names a connector, a method and a runtime may have. Never does: look anything up.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterable

from codemode_jupyter.errors import CodemodeError

_IDENTIFIER = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")
_RUNTIME_NAME = re.compile(r"[A-Za-z0-9_.\-]+")

# fmt: off  (one name a line would say no more)
# ECMAScript reserved words, with those of strict mode and modules.
_JAVASCRIPT_RESERVED = frozenset(
    {
        "arguments",
        "async",
        "await",
        "break",
        "case",
        "catch",
        "class",
        "const",
        "continue",
        "debugger",
        "default",
        "delete",
        "do",
        "else",
        "enum",
        "eval",
        "export",
        "extends",
        "false",
        "finally",
        "for",
        "function",
        "get",
        "if",
        "implements",
        "import",
        "in",
        "instanceof",
        "interface",
        "let",
        "new",
        "null",
        "of",
        "package",
        "private",
        "protected",
        "public",
        "return",
        "set",
        "static",
        "super",
        "switch",
        "this",
        "throw",
        "true",
        "try",
        "typeof",
        "undefined",
        "var",
        "void",
        "while",
        "with",
        "yield",
    }
)

# What the sandbox provides or builds on: a connector of that name would break programs, or the sandbox itself.
_SANDBOX_GLOBALS = frozenset(
    {
        "codemode",
        "console",
        "globalThis",
        "self",
        "window",
        "global",
        "Object",
        "Function",
        "Array",
        "String",
        "Number",
        "Boolean",
        "Symbol",
        "BigInt",
        "Math",
        "JSON",
        "Date",
        "RegExp",
        "Promise",
        "Proxy",
        "Reflect",
        "Map",
        "Set",
        "WeakMap",
        "WeakSet",
        "WeakRef",
        "Error",
        "AggregateError",
        "EvalError",
        "RangeError",
        "ReferenceError",
        "SyntaxError",
        "TypeError",
        "URIError",
        "ArrayBuffer",
        "SharedArrayBuffer",
        "DataView",
        "Atomics",
        "Intl",
        "Iterator",
        "Infinity",
        "NaN",
        "isNaN",
        "isFinite",
        "parseInt",
        "parseFloat",
        "encodeURI",
        "encodeURIComponent",
        "decodeURI",
        "decodeURIComponent",
        "escape",
        "unescape",
        "setTimeout",
        "clearTimeout",
        "setInterval",
        "clearInterval",
        "queueMicrotask",
        "structuredClone",
        "performance",
        "crypto",
        "TextEncoder",
        "TextDecoder",
        "URL",
        "URLSearchParams",
        "Headers",
        "AbortController",
        "AbortSignal",
        "Event",
        "EventTarget",
        "atob",
        "btoa",
        "postMessage",
        "onmessage",
        "Uint8Array",
        "Int8Array",
        "Uint16Array",
        "Int16Array",
        "Uint32Array",
        "Int32Array",
        "Float32Array",
        "Float64Array",
        "Uint8ClampedArray",
        "BigInt64Array",
        "BigUint64Array",
        "WebAssembly",
        "Deno",
        "print",
        "input",
    }
)
# fmt: on


def check_runtime_name(name: str) -> None:
    """Refuse a runtime name that is empty or holds anything but letters, digits, ``_``, ``-`` and ``.``.

    Raises
    ------
    CodemodeError
        ``invalid_name``
    """
    if not isinstance(name, str) or not _RUNTIME_NAME.fullmatch(name):
        raise CodemodeError(
            "invalid_name",
            f"{name!r} cannot be the name of a runtime.",
            hint="Use letters, digits, `_`, `-` and `.` only.",
        )


def check_connector_names(names: Iterable[str]) -> None:
    """Refuse connector names that cannot be globals of a program, and duplicates.

    Raises
    ------
    CodemodeError
        ``duplicate_name``, ``reserved_name`` or ``invalid_name``
    """
    seen: set[str] = set()
    for name in names:
        if not isinstance(name, str) or not _IDENTIFIER.fullmatch(name):
            raise CodemodeError(
                "invalid_name",
                f"Connector name {name!r} is not a valid JavaScript identifier.",
                hint="Use letters, digits and `_`, not starting with a digit.",
            )
        if name in _SANDBOX_GLOBALS or name in _JAVASCRIPT_RESERVED or keyword.iskeyword(name) or name.startswith("__"):
            raise CodemodeError(
                "reserved_name",
                f'Connector name "{name}" is reserved: programs use it for something else.',
                hint="Give the connector another name.",
            )
        if name in seen:
            raise CodemodeError(
                "duplicate_name",
                f'Duplicate connector name "{name}": two connectors of one runtime cannot share it.',
                hint="Give one of them another name.",
            )
        seen.add(name)


def is_identifier(name: str) -> bool:
    """Tell whether a program can write ``connector.name``."""
    return isinstance(name, str) and bool(_IDENTIFIER.fullmatch(name))
