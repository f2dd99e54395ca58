"""The languages of programs, and which of them prepares a text.

Owns: their names. Never does: prepare anything itself.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from codemode_jupyter.program.modules import ModuleSet
from codemode_jupyter.program.normalize import Program, prepare_program
from codemode_jupyter.program.python_source import prepare_python

ProgramLanguage: TypeAlias = Literal["javascript", "python"]

LANGUAGES: tuple[ProgramLanguage, ...] = ("javascript", "python")
"""Languages a program may be written in."""


def prepare(code: str, language: str, modules: ModuleSet | None = None) -> Program:
    """Return a program in the form that a sandbox for its language takes.

    Raises
    ------
    CodemodeError
        As ``prepare_program`` and ``prepare_python``.
    """
    return prepare_python(code) if language == "python" else prepare_program(code, modules)
