"""The program as text: normalise, erase types, locate errors, truncate results.

Nothing here runs a program, and nothing here knows the runtime or Jupyter.
"""

from codemode_jupyter.program.languages import LANGUAGES, prepare
from codemode_jupyter.program.modules import Module, ModuleSet
from codemode_jupyter.program.normalize import Program, normalize_code, prepare_program
from codemode_jupyter.program.positions import line_excerpt
from codemode_jupyter.program.truncate import truncate_response, truncate_result

__all__ = [
    "LANGUAGES",
    "Module",
    "ModuleSet",
    "Program",
    "line_excerpt",
    "normalize_code",
    "prepare",
    "prepare_program",
    "truncate_response",
    "truncate_result",
]
