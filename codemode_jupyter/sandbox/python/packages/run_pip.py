"""Runs pip for the sandbox's platform: ``run_pip.py MARKERS ARGUMENTS…``, in a process of its own.

pip takes a platform's tags as options, but evaluates environment markers for the interpreter that runs it, which is the
kernel's. Here they are evaluated for ``MARKERS`` (JSON). And a requirement with an address is refused, whichever
package has it: pip would build what it finds there, which runs its code outside of any sandbox. Nor does
``pip index`` before pip 26 take ``--only-binary``; here it does.
"""

from __future__ import annotations

import json
import sys
from importlib import import_module
from typing import Any


def main() -> int:
    """Run pip and return its exit code."""
    markers: Any = import_module("pip._vendor.packaging.markers")
    requirements: Any = import_module("pip._vendor.packaging.requirements")
    environment = json.loads(sys.argv[1])
    markers.default_environment = lambda: dict(environment)
    read = requirements.Requirement.__init__

    def read_without_address(self: Any, text: str) -> None:
        read(self, text)
        if self.url is not None:
            raise requirements.InvalidRequirement(f"{self.name} is to come from an address, which is not allowed here")

    requirements.Requirement.__init__ = read_without_address
    if "--only-binary=:all:" in sys.argv:
        _take_wheels_alone()

    pip = import_module("pip._internal.cli.main")  # after what it uses was changed
    return int(pip.main(sys.argv[2:]))


def _take_wheels_alone() -> None:
    """Have every search that names no kinds of files look for wheels alone."""
    preferences: Any = import_module("pip._internal.models.selection_prefs").SelectionPreferences
    wheels_alone = import_module("pip._internal.models.format_control").FormatControl(set(), {":all:"})
    make = preferences.__init__

    def make_with_kinds(self: Any, *values: Any, **options: Any) -> None:
        make(self, *values, **options)
        if self.format_control is None:
            self.format_control = wheels_alone

    preferences.__init__ = make_with_kinds


if __name__ == "__main__":
    sys.exit(main())
