"""The Content-Security-Policy of a host's own for the sandbox's frame.

Owns: reading a host's directives, and refusing what would make the frame useless or open. Never does: widen anything a
host did not name.

The grammar is that of Content Security Policy Level 3, section 2.2 (serialized directives parted by semicolons).
"""

from __future__ import annotations

import re

from codemode_jupyter.errors import CodemodeError
from codemode_jupyter.sandbox.frame import POLICY, policy_text

_NAME = re.compile(r"[a-z][a-z-]*")
_VALUE = re.compile(r"[\x21-\x2b\x2d-\x3a\x3c-\x7e]+")
"""What a value may be made of: anything printable but blanks, commas and semicolons (section 2.2.1)."""

_ORIGIN = re.compile(r"(?:https?|wss?)://(?:[a-zA-Z0-9.-]+|\[[0-9a-fA-F:.]+\])(?::\d+)?(?:/\S*)?")
_HARMLESS = ("'none'", "'unsafe-eval'", "'wasm-unsafe-eval'", "'report-sample'", "blob:", "data:")
"""Sources that reach nothing outside the browser. Not `'self'`: the page's server would answer with what it likes."""

_WITHOUT_EFFECT = ("frame-ancestors", "report-uri", "sandbox")
"""Ignored in a page's own markup, where the frame's policy stands (section 3.3)."""

_LETS_FRAMES_GO = ("child-src", "frame-src", "fenced-frame-src", "navigate-to")
"""With these the inner frame could be sent to an address, and leave the policy behind."""


def frame_policy(directives: str) -> str:
    """Return the frame's policy with a host's directives in it.

    A directive that the policy has already gets what is named in addition to its own sources, since without them no
    program runs: ``script-src`` and ``worker-src``. Others are added as they are. ``default-src`` stays ``'none'``:
    what is to be open is named by its own directive, and with each origin in full (``connect-src https://api.example.com``).

    Parameters
    ----------
    directives : str
        Directives as in the header, such as ``"connect-src https://api.example.com; webrtc 'block'"``.

    Raises
    ------
    CodemodeError
        ``invalid_option``: a directive is malformed or named twice, would lift ``default-src 'none'``, opens more than
        single origins (``*``, ``https:``), lets frames navigate, keeps programs from running, or has no effect.
    """
    policy = dict(POLICY)
    seen: set[str] = set()
    for directive in filter(None, (text.strip() for text in directives.split(";"))):
        name, *values = directive.split()
        name = name.lower()
        if name in seen:
            raise _refusal(f"`{name}` is named twice", "A browser heeds the first one only; put the sources into one.")
        seen.add(name)
        _check(name, values)
        if name != "default-src":
            policy[name] = " ".join(filter(None, [policy.get(name), *values]))
    return policy_text(policy)


def _check(name: str, values: list[str]) -> None:
    if not _NAME.fullmatch(name) or not all(_VALUE.fullmatch(value) for value in values):
        raise _refusal(f"`{' '.join([name, *values])}` is no directive", "Write `name value …; name value …` in ASCII.")
    if name == "default-src" and values != ["'none'"]:
        raise _refusal("it lifts `default-src 'none'`", "Name what is to be open by itself: `connect-src …`.")
    if name in _LETS_FRAMES_GO:
        raise _refusal(f"`{name}` would let the sandbox's frame go to an address", "Leave it out.")
    if name in _WITHOUT_EFFECT:
        raise _refusal(f"`{name}` has no effect in a policy that stands in markup", "Leave it out.")
    if name in ("require-trusted-types-for", "script-src-elem", "script-src-attr"):
        raise _refusal(f"with `{name}` the sandbox's own scripts do not run", "Leave it out, or use `script-src`.")
    if name in POLICY and values == ["'none'"] and name != "default-src":
        raise _refusal(f"with `{name} 'none'` no program runs", "Leave it out.")
    if not name.endswith("-src"):
        return
    for value in values:
        if value not in _HARMLESS and not _ORIGIN.fullmatch(value):
            raise _refusal(
                f"`{name} {value}` opens more than one origin", "Name each in full: `https://api.example.com`."
            )


def _refusal(why: str, hint: str) -> CodemodeError:
    return CodemodeError("invalid_option", f"`csp` cannot be used: {why}.", hint=hint)
