"""The doctor's look at the headless sandbox: where Deno is, its version, how long it takes to start."""

from __future__ import annotations

import subprocess

from codemode_jupyter.notebook.doctor.report import Finding
from codemode_jupyter.notebook.doctor.threads import in_thread
from codemode_jupyter.notebook.doctor.trial import first_and_next
from codemode_jupyter.sandbox.deno import INSTALL_HINT, DenoExecutor, find_deno

_VERSION_SECONDS = 4.0


async def check_headless() -> Finding:
    """Start Deno and run a program in it."""
    path = find_deno()
    if path is None:
        return Finding("absent", "Deno is not installed: without a page nothing runs", mend=INSTALL_HINT)
    version = await in_thread(lambda: _version(path))
    executor = DenoExecutor(path)
    try:
        times = await first_and_next(executor)
    finally:
        await executor.close()
    return Finding("ok", f"{version}; {times}; {path}")


def _version(path: str) -> str:
    done = subprocess.run(  # noqa: S603  the program that is about to be used
        [path, "--version"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
        timeout=_VERSION_SECONDS,
    )
    return " ".join(done.stdout.split()[:2])
