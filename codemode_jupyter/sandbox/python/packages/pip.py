"""pip, asked for wheels that fit the sandbox's Python.

Owns: pip's command lines, and what its failures mean in words of ours. Never does: install anything, or build what an
index has: pip takes wheels alone (``--only-binary=:all:``), so no code of a package runs outside of the sandbox. Which
index it asks, with which credentials, is the user's configuration of pip.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from packaging.requirements import Requirement

from codemode_jupyter.errors import CodemodeError
from codemode_jupyter.sandbox.python.packages.commands import Commands, Done
from codemode_jupyter.sandbox.python.packages.package import Package
from codemode_jupyter.sandbox.python.packages.target import ABI, DESCRIBED, MARKERS, PLATFORMS, PYTHON

DOWNLOAD_SECONDS = 600.0
_ASK_SECONDS = 60.0

_RUNNER = str(Path(__file__).with_name("run_pip.py"))
_RETRIES = "--retries=2"
_QUIET = ("--no-input", "--disable-pip-version-check")
_TARGET = (
    "--only-binary=:all:",
    *(f"--platform={platform}" for platform in PLATFORMS),
    f"--python-version={PYTHON[0]}.{PYTHON[1]}",
    "--implementation=cp",
    f"--abi={ABI}",
)

_NO_MATCH = re.compile(r"No matching distribution found for (?P<requirement>[^\n(]+)")
_VERSIONS = re.compile(r"satisfies the requirement [^\n]*\(from versions: (?P<versions>[^)\n]*)\)")
_FROM_ADDRESS = re.compile(r"(?P<name>[A-Za-z0-9._-]+) is to come from an address")
"""Words of ``run_pip.py``."""

_NO_NETWORK = ("Retrying (", "connection broken", "NewConnectionError", "Could not fetch URL", "ReadTimeoutError")
_DISTRIBUTION_HINT = (
    "Compiled packages that no index has for this platform come with a Pyodide distribution: name the folder or "
    'address of one, Runtime(packages=…, pyodide_distribution="…").'
)


class Pip:
    """pip of the kernel's interpreter.

    Parameters
    ----------
    commands : Commands
        Runs it.
    folder : Path
        An empty folder in which it runs.
    """

    def __init__(self, commands: Commands, folder: Path) -> None:
        self._commands = commands
        self._folder = folder

    def download(self, requirements: Sequence[str], target: Path, links: Path | None = None) -> None:
        """Fetch wheels of requirements (or wheels on disk) and of all that they depend on into a folder.

        ``links`` is a page whose links pip may take as well.

        Raises
        ------
        CodemodeError
            Says which package cannot be had, why, and what to do.
        """
        found = () if links is None else (f"--find-links={links.as_uri()}",)
        done = self._download("--progress-bar=off", f"--dest={target}", *_TARGET, *found, "--", *requirements)
        if done.code != 0:
            raise self._failure(done, requirements, has_links=links is not None)

    def download_again(self, package: Package, target: Path) -> bool:
        """Fetch the very wheel that was had before; tell whether it is there still.

        Raises
        ------
        CodemodeError
            ``package_index_unreachable``, ``pip_missing``
        """
        wanted = self._folder / "wanted.txt"
        wanted.write_text(f"{package.name}=={package.version} --hash=sha256:{package.sha256}\n", encoding="utf-8")
        options = ("--no-deps", "--require-hashes", f"--requirement={wanted}")
        done = self._download("--progress-bar=off", f"--dest={target}", *_TARGET, *options)
        if done.code != 0 and _has_no_network(done):
            raise _unreachable(str(package))
        return done.code == 0

    def build(self, project: Path, target: Path) -> Done:
        """Build a wheel of a local project, without what it depends on, as pip does for this very interpreter.

        Raises
        ------
        CodemodeError
            ``package_index_unreachable`` where what the build itself needs (setuptools, say) cannot be fetched.
        """
        self._check_installed()
        arguments = ["-m", "pip", *_QUIET, "wheel", "--no-deps", f"--wheel-dir={target}", "--", str(project)]
        # SOURCE_DATE_EPOCH, so that the same files make the same wheel, if the build backend can. Only by the
        # environment do the retries reach the pip that fetches what the build needs.
        environment = {"SOURCE_DATE_EPOCH": "315532800", "PIP_RETRIES": _RETRIES.removeprefix("--retries=")}
        done = self._commands.run(arguments, self._folder, DOWNLOAD_SECONDS, **environment)
        # Only pip itself says this of what it sought; the code of a build may print of a network what it likes.
        if done.code != 0 and _has_no_network(done) and "No matching distribution found" in done.text:
            raise _unreachable(f"what the build of the project at {str(project)!r} needs")
        return done

    def _download(self, *arguments: str) -> Done:
        self._check_installed()
        command = [_RUNNER, json.dumps(MARKERS), *_QUIET, _RETRIES, "download", *arguments]
        return self._commands.run(command, self._folder, DOWNLOAD_SECONDS)

    @staticmethod
    def _check_installed() -> None:
        if find_spec("pip") is None:
            raise CodemodeError(
                "pip_missing",
                "Packages are fetched by pip, which the kernel's environment does not have.",
                hint="Run `python -m ensurepip` in it (or `uv pip install pip`).",
            )

    def _failure(self, done: Done, requirements: Sequence[str], *, has_links: bool) -> CodemodeError:
        no_match = _NO_MATCH.search(done.text)
        if "DO NOT MATCH THE HASHES" in done.text:
            return _mismatch(done.last_lines(3))
        if from_address := _FROM_ADDRESS.search(done.text):
            return _from_address(from_address["name"])
        if _has_no_network(done):
            return _unreachable(", ".join(requirements))
        if "ResolutionImpossible" in done.text or "conflicting dependencies" in done.text:
            return _conflict(done)
        if no_match is not None:
            return self._no_match(no_match["requirement"].strip(), done, has_links=has_links)
        return CodemodeError("package_failed", f"pip cannot have the packages: {done.last_lines(2, 'ERROR:')}")

    def _no_match(self, wanted: str, done: Done, *, has_links: bool) -> CodemodeError:
        """Say why no wheel fits: there is no such package or version, or it has no wheel for this platform."""
        name = Requirement(wanted).name
        data = {"package": name}
        known = _VERSIONS.search(done.text)
        if known is not None and known["versions"] not in ("", "none"):
            return CodemodeError(
                "package_not_found",
                f"{name} has no version that fits {wanted!r} and the sandbox's Python ({DESCRIBED}).",
                hint=f"There are: {', '.join(known['versions'].split(', ')[-8:])}.",
                data=data,
            )
        if not self._is_known(name):
            hint = "Check how it is spelt, and which index pip is configured for (`pip config list`)."
            return CodemodeError("package_not_found", f"pip finds no package {name!r}.", hint=hint, data=data)
        where = " nor in the distribution" if has_links else ""
        if self._is_known(name, "--only-binary=:all:"):
            return CodemodeError(
                "package_other_platform",
                f"{name} has wheels for other platforms, but none for the sandbox's Python ({DESCRIBED}) in the index"
                f"{where}.",
                hint=_DISTRIBUTION_HINT,
                data=data,
            )
        return CodemodeError(
            "package_no_wheel",
            f"{name} is in the index as source code only{where and ', and is not in the distribution'}; nothing from "
            "an index is built here, since that would run its code outside of the sandbox.",
            hint=f'Unpack its source where you have read it, and give that folder: packages=["./{name}"]. '
            + _DISTRIBUTION_HINT,
            data=data,
        )

    def _is_known(self, name: str, *options: str) -> bool:
        """Tell whether the index has the package for the kernel's own platform."""
        arguments = [_RUNNER, json.dumps(MARKERS), *_QUIET, "index", "versions", "--pre", *options, "--", name]
        return self._commands.run(arguments, self._folder, _ASK_SECONDS).code == 0


def _has_no_network(done: Done) -> bool:
    return any(words in done.text for words in _NO_NETWORK)


def _unreachable(what: str) -> CodemodeError:
    return CodemodeError(
        "package_index_unreachable",
        f"The package index cannot be reached to fetch {what[:300]}.",
        hint="The kernel's network is needed, the first time only. An index of your own is set in pip's configuration.",
    )


def _from_address(name: str) -> CodemodeError:
    return CodemodeError(
        "package_no_wheel",
        f"{name}, which one of the packages depends on, is to come from an address of its own. Nothing is taken from"
        " there: pip would build it, and so run its code outside of the sandbox.",
        hint="Name another version of the package that depends on it.",
        data={"package": name},
    )


def _conflict(done: Done) -> CodemodeError:
    lines = [line.strip() for line in done.text.splitlines()]
    start = next((index for index, line in enumerate(lines) if line.startswith("The conflict is caused by")), None)
    causes = [] if start is None else [line for line in lines[start + 1 : start + 12] if line]
    end = next((index for index, line in enumerate(causes) if line.startswith(("To fix", "Additionally"))), len(causes))
    reasons = "; ".join(causes[:end]) or done.last_lines(2, "ERROR:")
    return CodemodeError(
        "package_conflict",
        f"The packages do not go together: {reasons[:600]}.",
        hint="Loosen or change the versions that you name.",
    )


def _mismatch(what: str) -> CodemodeError:
    return CodemodeError(
        "package_hash_mismatch",
        f"A file is not what its index or distribution says it is (its SHA-256 differs): {what}",
        hint="It may have been changed on its way. Nothing of it is used.",
    )
