"""What a function's docstring says: the description, and a line for each parameter.

Owns: reading NumPy, Google and Sphinx style docstrings (with the docstring_parser package). Never does: signatures.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass, field

from docstring_parser import ParseError, parse


@dataclass(frozen=True, slots=True)
class Documentation:
    """A description without its sections, and the description of each parameter by name."""

    description: str = ""
    parameters: dict[str, str] = field(default_factory=dict)


def read_docstring(owner: object) -> Documentation:
    """Return what the docstring of a function or class says; empty where there is none."""
    text = inspect.getdoc(owner)
    if not text:
        return Documentation()
    try:
        parsed = parse(text)
    except ParseError:
        return Documentation(text)
    parameters = {
        name.strip().lstrip("*"): parameter.description.strip()
        for parameter in parsed.params
        for name in parameter.arg_name.split(",")
        if parameter.description
    }
    return Documentation((parsed.description or "").strip(), parameters)
