"""A trivial program, run in an executor and recorded nowhere."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

from codemode_jupyter.errors import CodemodeError
from codemode_jupyter.sandbox.protocol import CallBatch, ConsoleLine, Executor, PassLink, PassRequest, StepResult

_PROGRAM = PassRequest("doctor", "async () => 6 * 7", 0, (), 0.0, "0" * 32, 5.0)
_PYTHON_PROGRAM = replace(_PROGRAM, source="6 * 7", language="python")
_RESULT = "42"


class _NoCalls:
    """The kernel's side of a program that calls nothing."""

    def preparing(self, what: str) -> None:
        """Wait."""

    def started(self, link: PassLink) -> None:
        pass

    def calls(self, batch: CallBatch) -> None:
        pass

    def step_result(self, result: StepResult) -> None:
        pass

    def console(self, lines: Sequence[ConsoleLine]) -> None:
        pass


async def first_and_next(executor: Executor, *, in_python: bool = False) -> str:
    """Run the program twice and return how long each run took, for a person.

    Raises
    ------
    CodemodeError
        There is no sandbox, or the program came to something else (``no_sandbox``).
    """
    program = _PYTHON_PROGRAM if in_python else _PROGRAM
    first, following = await _milliseconds(executor, program), await _milliseconds(executor, program)
    return f"first program {first:.0f} ms, next {following:.1f} ms"


async def _milliseconds(executor: Executor, program: PassRequest) -> float:
    began = time.perf_counter()
    end = await executor.run_pass(program, _NoCalls())
    if end.kind != "completed" or end.value != _RESULT:
        what = end.error if end.error is not None else end.value
        raise CodemodeError(
            "no_sandbox",
            f"A trivial program ended as {end.kind} ({what}).",
            hint="Try again; if it stays so, report this table.",
        )
    return 1000 * (time.perf_counter() - began)
