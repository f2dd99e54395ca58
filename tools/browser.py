"""A Chromium for the end-to-end tests.

Owns: finding one that starts, and installing one where there is none. Never does: driving it.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import debian
import virtual_environment
from console import attempt, give_up, say, show_end

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
VARIABLE = "CODEMODE_CHROMIUM"

_PLAYWRIGHT_PATH = (
    "from playwright.sync_api import sync_playwright\n"
    "with sync_playwright() as playwright: print(playwright.chromium.executable_path)"
)


def ensure() -> str:
    """Return the path of a Chromium that starts, installing one if need be.

    Order: the one named by ``CODEMODE_CHROMIUM``, one on the search path, Playwright's, the distribution's package,
    Playwright's download.
    """
    chosen = os.environ.get(VARIABLE)
    if chosen:
        return chosen if _starts(chosen) else give_up(f"{VARIABLE} is set to {chosen}, which does not start.")
    found = _on_path() or _of_playwright()
    if found:
        return found
    say("no Chromium is here")
    apt = debian.may_install()
    if apt and debian.install("chromium") and (found := _on_path()):
        return found
    say("downloading Playwright's Chromium")
    options = ["--with-deps"] if apt else []
    command: list[str | Path] = [virtual_environment.PYTHON, "-m", "playwright", "install", *options, "chromium"]
    downloaded, output = attempt(command)
    if not downloaded:
        show_end(command, output)
    return _of_playwright() or give_up(
        f"no Chromium could be installed. Install one yourself and say {VARIABLE}=/path/to/chromium make test."
    )


def _on_path() -> str | None:
    return next((path for name in NAMES if (path := shutil.which(name)) and _starts(path)), None)


def _of_playwright() -> str | None:
    ok, output = attempt([virtual_environment.PYTHON, "-c", _PLAYWRIGHT_PATH])
    path = output.strip()
    return path if ok and _starts(path) else None


def _starts(path: str) -> bool:
    # A package of some distributions is only a stand-in that tells to install another one.
    return attempt([path, "--version"])[0]
