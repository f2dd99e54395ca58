"""``%codemode doctor``: what is there, how quick it is, and how to mend what is missing.

Owns: which checks there are, their order, and their limits of time. Never does: change a setting, or anything in the
store; raise because of what a check finds; wait for longer than the limits together.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from typing import Any, TypeAlias

from codemode_jupyter.errors import CodemodeError
from codemode_jupyter.notebook.doctor.headless import check_headless
from codemode_jupyter.notebook.doctor.host import check_kernel, check_versions
from codemode_jupyter.notebook.doctor.packages import check_packages
from codemode_jupyter.notebook.doctor.page import PageChecks
from codemode_jupyter.notebook.doctor.python_assets import check_python_assets
from codemode_jupyter.notebook.doctor.report import Diagnosis, Finding
from codemode_jupyter.notebook.doctor.storage import Place, check_storage
from codemode_jupyter.notebook.environment import NotebookEnvironment
from codemode_jupyter.runtime.runtime import Runtime

Check: TypeAlias = tuple[str, float, Callable[[], Awaitable[Finding]]]
"""A name, the seconds it may take, and what finds out."""


async def diagnose(shell: Any, environment: NotebookEnvironment, runtimes: Iterable[Runtime]) -> Diagnosis:
    """Look at everything that running a program needs; takes a minute at most, a few seconds where all is well.

    Parameters
    ----------
    shell : InteractiveShell
        The shell that the extension was loaded into.
    environment : NotebookEnvironment
        What the extension offers to runtimes.
    runtimes : iterable of Runtime
        Those whose stores are looked at; with none, the place where one would be. No store is made.
    """
    places: list[Place] = [*sorted({runtime.path for runtime in runtimes})] or [environment.database_path]
    page = PageChecks(environment)
    checks: list[Check] = [
        ("versions", 2, check_versions),
        ("kernel", 2, partial(check_kernel, getattr(shell, "kernel", None))),
        ("front end", 8, page.check_front_end),
        ("page", 2, page.check_page),
        ("round trip", 4, page.check_round_trip),
        ("page policy (CSP)", 8, page.check_policy),
        ("page sandbox", 8, page.check_sandbox),
        ("page Python", 20, page.check_python),
        *(("storage", 4.0, partial(check_storage, place)) for place in places),
        ("headless sandbox", 10, check_headless),
        ("Python assets", 1, check_python_assets),
        ("Python packages", 1, check_packages),
    ]
    return Diagnosis(tuple([await _found(*check) for check in checks]))


async def _found(name: str, limit: float, look: Callable[[], Awaitable[Finding]]) -> Finding:
    """Return what a check found, whatever becomes of it, with its name and time."""
    began = time.perf_counter()
    try:
        finding = await asyncio.wait_for(look(), limit)
    except TimeoutError:
        finding = Finding(
            "wrong", f"no answer within {limit:g} s", mend="Try again; if it stays so, report this table."
        )
    except CodemodeError as refusal:
        finding = Finding("wrong", refusal.message, mend=refusal.hint or "")
    except Exception as error:  # noqa: BLE001  a doctor that falls ill is of no use: it says what was met
        finding = Finding(
            "wrong", f"{type(error).__name__}: {error}", mend="Report this table: the check itself failed."
        )
    return finding.named(name, time.perf_counter() - began)
