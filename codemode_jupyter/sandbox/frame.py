"""The sandbox's frame as text, in the two forms in which it gets into the page.

Owns: the markup and policy of the frame, and the files of it that a server can serve. Never does: serve or install
them. Needs nothing but the standard library and the scripts beside it, since the wheel's build uses it too.

The first form is put into the page as it is (``srcdoc``) and inherits the page's policy. Where that forbids it, the
page loads the second form from the server, which is the same but for the script in a file of its own: servers that send
one policy with everything mostly allow scripts from themselves. The address holds a digest of the files, so that no
kernel meets the frame of another version, and files may be cached for good.
"""

from __future__ import annotations

import hashlib
import html
from collections.abc import Mapping
from functools import cache
from pathlib import Path

LABEXTENSION = "codemode-jupyter"
"""Folder of the files below ``share/jupyter/labextensions``, where Jupyter servers find files to serve."""

# Who may run a script is decided by the frame's markup, which is all ours: a program never gets to write any, and a
# Worker's `importScripts` has no nonce. So the nonce need not be secret.
_NONCE = "relay"
POLICY = {"default-src": "'none'", "script-src": f"'nonce-{_NONCE}' 'unsafe-eval'", "worker-src": "blob:"}
"""The directives of the frame's Content-Security-Policy."""


def policy_text(directives: Mapping[str, str]) -> str:
    """Return directives in the form of a Content-Security-Policy."""
    return "; ".join(f"{name} {value}".strip() for name, value in directives.items())


_POLICY = policy_text(POLICY)


@cache
def inline_frame(policy: str | None = None) -> str:
    """Return the markup of the frame with its script in it, with ``policy`` in place of ours."""
    return _markup(f'<script nonce="{_NONCE}">{_relay()}</script>', policy)


@cache
def served_files() -> dict[str, str]:
    """Return the text of each file of the served frame by its path below the folder of ``LABEXTENSION``."""
    files = {"frame.html": _markup(f'<script nonce="{_NONCE}" src="relay.js"></script>'), "relay.js": _relay()}
    digest = hashlib.sha256("\0".join(files.values()).encode()).hexdigest()[:16]
    return {f"static/{digest}/{name}": text for name, text in files.items()}


def served_frame() -> str:
    """Return the path of the served frame below the address of Jupyter's labextensions."""
    [path] = [path for path in served_files() if path.endswith("/frame.html")]
    return f"{LABEXTENSION}/{path}"


def _relay() -> str:
    return (Path(__file__).parent / "js" / "page" / "relay.js").read_text(encoding="utf-8")


def _markup(script: str, policy: str | None = None) -> str:
    """Return the outer frame, whose policy keeps the inner one from going to another address, with the inner one."""
    content = html.escape(_POLICY if policy is None else policy).replace("&#x27;", "'")
    head = f'<!doctype html><meta http-equiv="Content-Security-Policy" content="{content}">'
    return f'{head}<iframe sandbox="allow-scripts" srcdoc="{html.escape(head + script)}"></iframe>'
