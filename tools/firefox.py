"""A Firefox for the tests that run in a second browser.

Owns: finding one that starts, and installing the distribution's where there is none. Never does: driving it, or giving
up: without a Firefox its tests are skipped, and a line says so.
"""

from __future__ import annotations

import os
import shutil

import debian
from console import attempt, give_up, say

NAMES = ("firefox-esr", "firefox")
VARIABLE = "CODEMODE_FIREFOX"


def ensure() -> str | None:
    """Return the path of a Firefox that starts, installing one if need be; ``None`` when there is none.

    Order: the one named by ``CODEMODE_FIREFOX``, one on the search path, the distribution's package ``firefox-esr``.
    """
    chosen = os.environ.get(VARIABLE)
    if chosen:
        return chosen if _starts(chosen) else give_up(f"{VARIABLE} is set to {chosen}, which does not start.")
    found = _on_path()
    if found is None and debian.may_install() and debian.install("firefox-esr"):
        found = _on_path()
    if found is None:
        say(
            "no Firefox is here and none could be installed: the tests in Firefox are skipped. "
            f"Install firefox-esr, or say {VARIABLE}=/path/to/firefox make test."
        )
    return found


def _on_path() -> str | None:
    return next((path for name in NAMES if (path := shutil.which(name)) and _starts(path)), None)


def _starts(path: str) -> bool:
    # A package of some distributions is only a stand-in that tells to install another one.
    return attempt([path, "--version"])[0]
