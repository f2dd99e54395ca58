"""Runs prepared programs in a real JavaScript engine (node), many in one process."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from codemode_jupyter.errors import CodemodeError
from codemode_jupyter.program import prepare_program

_SCRIPT = Path(__file__).with_name("evaluate.mjs")


def run_sources(
    sources: Sequence[str], inputs: Sequence[Any] = (), *, evaluate_only: bool = False
) -> list[dict[str, Any]]:
    node = shutil.which("node")
    assert node is not None, "node is needed to run programs; `make test` installs it"
    job = json.dumps({"sources": list(sources), "inputs": list(inputs)})
    arguments = [node, str(_SCRIPT), *(["evaluate"] if evaluate_only else [])]
    done = subprocess.run(arguments, input=job, capture_output=True, text=True, check=True, timeout=120)
    results: list[dict[str, Any]] = json.loads(done.stdout)
    return results


def run_programs(codes: Sequence[str], inputs: Sequence[Any] | None = None) -> list[dict[str, Any]]:
    """What becomes of each program: a refusal here, or what the engine made of it."""
    outcomes: list[dict[str, Any]] = []
    running: list[tuple[int, str]] = []
    for index, code in enumerate(codes):
        try:
            running.append((index, prepare_program(code).source))
            outcomes.append({})
        except CodemodeError as error:
            outcomes.append({"outcome": error.code, "error": error})
    given = [None if inputs is None else inputs[index] for index, _ in running]
    for (index, _), result in zip(running, run_sources([source for _, source in running], given), strict=True):
        outcomes[index] = result
    return outcomes
