"""Headers that a program may set on a request.

Owns: which names and values can be sent, and which a program may not set. Never does: send.
"""

from __future__ import annotations

import re

_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VALUE = re.compile(r"[\t -~\x80-\xff]*")
_FORBIDDEN = re.compile(
    # The connection's own, and those that make another method of the one that was approved.
    r"host|content-length|transfer-encoding|connection|keep-alive|upgrade|te|trailer|expect|proxy-.*"
    r"|x-http-method(-override)?|x-method-override"
)


def can_be_sent(name: object, value: object) -> bool:
    """Say whether a header is one (RFC 9110, 5.1 and 5.5): nothing in it ends it or begins another."""
    return isinstance(name, str) and isinstance(value, str) and bool(_NAME.fullmatch(name) and _VALUE.fullmatch(value))


def is_forbidden(name: str) -> bool:
    """Say whether a program may not set a header."""
    return _FORBIDDEN.fullmatch(name.lower()) is not None
