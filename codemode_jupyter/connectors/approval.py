"""Which tools of a foreign service a person approves: one vocabulary for every connector that derives its tools.

Owns: the words of ``approve=`` and what they mean for a tool. Never does: ask anybody; the runtime does.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Any, Literal, TypeAlias

from codemode_jupyter.connectors.names import did_you_mean
from codemode_jupyter.connectors.tool import Arguments
from codemode_jupyter.errors import CodemodeError

Requires: TypeAlias = bool | Callable[[Arguments], bool]
"""What ``Tool.requires_approval`` is."""

Approve: TypeAlias = Literal["never", "destructive", "writes"] | Iterable[str] | Callable[[str], Requires]
"""Which tools a person approves.

``"never"``: none. ``"destructive"``: those that may overwrite or remove something. ``"writes"``: all but those that
only read. Names: the tools named, and no other. A function of a tool's name: ``True``, ``False``, or a function of the
arguments that says so for a call.
"""

_WORDS = ("never", "destructive", "writes")


class ApprovalPolicy:
    """What ``approve=`` says, checked.

    Raises
    ------
    CodemodeError
        ``invalid_option``: no such word, or neither names nor a function.
    """

    def __init__(self, approve: Approve) -> None:
        self._function: Callable[[str], Any] | None = None
        self._word, self._names = "", frozenset[str]()
        if callable(approve):
            self._function = approve
        elif isinstance(approve, str):
            self._word = approve
            if approve not in _WORDS:
                raise _unknown_word(approve)
        elif isinstance(approve, Iterable):
            self._names = frozenset(approve)
        else:
            raise _unknown_word(approve)

    def requires(self, name: str, *, only_reads: bool, destructive: bool) -> Requires:
        """Return whether a person is asked before a tool runs.

        Parameters
        ----------
        name : str
            The tool's name in programs.
        only_reads, destructive : bool
            What is known of the tool.
        """
        if self._function is not None:
            answer = self._function(name)
            return answer if callable(answer) else bool(answer)
        if self._word:
            return {"never": False, "destructive": destructive, "writes": not only_reads}[self._word]
        return name in self._names

    def check_names(self, connector: str, known: Collection[str]) -> None:
        """Refuse a name in the list that no tool has: it would protect nothing.

        Raises
        ------
        CodemodeError
            ``invalid_option``
        """
        for name in sorted(self._names.difference(known)):
            raise CodemodeError(
                "invalid_option",
                f'approve= of "{connector}" names the tool "{name}", which it does not have.',
                hint=did_you_mean(name, known) or "Use the names that programs use.",
            )


def _unknown_word(given: object) -> CodemodeError:
    return CodemodeError(
        "invalid_option",
        f"approve={given!r:.100} is not known.",
        hint='Use "never", "destructive", "writes", a list of names of tools, or a function of a tool\'s name.',
    )
