"""Runs pip for the sandbox's platform: ``run_pip.py MARKERS ARGUMENTS…``, in a process of its own.

pip takes a platform's tags as options, but evaluates environment markers for the interpreter that runs it, which is the
kernel's. Here they are evaluated for ``MARKERS`` (JSON). And a requirement with an address is refused, whichever
package has it: pip would build what it finds there, which runs its code outside of any sandbox.
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

    pip = import_module("pip._internal.cli.main")  # after what it uses was changed
    return int(pip.main(sys.argv[2:]))


if __name__ == "__main__":
    sys.exit(main())
