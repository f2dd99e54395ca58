"""What the doctor found, as a table to read and paste and as data.

Owns: the shape and the text. Never does: find anything out. The person's home directory is written ``~``, so that a
pasted report names nobody.
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias

from codemode_jupyter.notebook.tables import one_line, table

State: TypeAlias = Literal["ok", "absent", "wrong"]
"""``absent``: not there, which need not be wrong."""

_LONGEST = 400


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check found; ``seconds`` is how long the check took, ``mend`` what a person can do about it."""

    state: State
    found: str
    mend: str = ""
    name: str = ""
    seconds: float = 0.0

    def named(self, name: str, seconds: float) -> Finding:
        """Return the finding as that of a check."""
        found, mend = (one_line(_without_home(text), _LONGEST) for text in (self.found, self.mend))
        return replace(self, name=name, seconds=round(seconds, 4), found=found, mend=mend)


@dataclass(frozen=True, slots=True, repr=False)
class Diagnosis:
    """All findings. Its text form is the table; ``as_dict()`` is the same as data."""

    findings: tuple[Finding, ...]

    def __getitem__(self, name: str) -> Finding:
        return next(finding for finding in self.findings if finding.name == name)

    @property
    def verdict(self) -> str:
        """One sentence: where programs run here."""
        if self["page sandbox"].state == "ok":
            return "Programs run in the page."
        if self["headless sandbox"].state == "ok":
            return "Programs run headless: no page can be used."
        return "No program can run here."

    def as_dict(self) -> dict[str, Any]:
        """Return the findings as JSON-like data."""
        return {"verdict": self.verdict, "findings": [asdict(finding) for finding in self.findings]}

    def __repr__(self) -> str:
        rows = [
            (finding.name, finding.state, f"{1000 * finding.seconds:,.0f}", finding.found) for finding in self.findings
        ]
        mends = [f"{finding.name}: {finding.mend}" for finding in self.findings if finding.mend]
        parts = [table(("CHECK", "STATE", "MS", "FOUND"), rows), self.verdict]
        if mends:
            parts.append("\n".join(["How to mend it:", *mends]))
        return "\n\n".join(parts)


def _without_home(text: str) -> str:
    home = re.escape(str(Path.home()))
    return re.sub(rf"(?<!\S){home}(?=[/\\])", "~", text)
