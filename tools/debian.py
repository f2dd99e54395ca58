"""Installing a package of the distribution, where apt exists and may be used without a password.

Owns: the question whether that is so, and the call. Never does: asking for a password.
"""

from __future__ import annotations

import os
import shutil

from console import attempt, say


def may_install() -> bool:
    """Tell whether apt is there and this user may install with it (root, or sudo without a password)."""
    return shutil.which("apt-get") is not None and _as_root() is not None


def install(*packages: str) -> bool:
    """Install packages; return whether that worked. Lists are refreshed only when the first try fails."""
    root = _as_root()
    if root is None:
        return False
    say(f"installing {', '.join(packages)} with apt")
    env = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    command = [*root, "apt-get", "install", "-y", "-q", "--no-install-recommends", *packages]
    if attempt(command, env=env)[0]:
        return True
    attempt([*root, "apt-get", "update", "-q"], env=env)
    return attempt(command, env=env)[0]


def _as_root() -> list[str] | None:
    if os.geteuid() == 0:
        return []
    if shutil.which("sudo") and attempt(["sudo", "-n", "true"])[0]:
        return ["sudo", "-n"]
    return None
