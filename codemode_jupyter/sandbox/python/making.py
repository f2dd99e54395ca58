"""Making the files of the sandbox's Python, once for each version of them.

Owns: fetching Pyodide by Deno from the npm registry that the user's configuration names, checking it, making the glue
and the snapshot; ``time_zones.py`` and ``compiled.py`` have a part of their own. Never does: leave a half-made set
behind. Needs Deno and, the first time, a network; the sandbox itself never has one. The wheel's build does it, so that
the others need it only where that could not.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from codemode_jupyter.errors import CodemodeError
from codemode_jupyter.sandbox.python.assets import (
    GUEST,
    PYODIDE_FILES,
    PYODIDE_VERSION,
    SCRIPTS,
    TZDATA_VERSION,
    PythonAssets,
    assets_folder,
    cache_folder,
    find_assets,
    is_complete,
)
from codemode_jupyter.sandbox.python.compiled import compile_package
from codemode_jupyter.sandbox.python.time_zones import add_time_zones
from codemode_jupyter.sandbox.python.whole_folder import whole_folder

FETCH_SECONDS = 180.0
SNAPSHOT_SECONDS = 120.0
KEPT_SECONDS = 30 * 86_400.0
"""For how long a set that this version of the package does not use is kept."""

_GLOBALS = (
    # What the glue is given …
    *("globalThis", "WebAssembly", "readbuffer", "console"),
    # … and what it must not find, so that it takes the place for a bare JavaScript shell.
    *("self", "window", "document", "Deno", "process", "navigator", "location", "importScripts", "require", "module"),
    *("fetch", "XMLHttpRequest", "WebSocket", "Worker", "Bun"),
)
_LOCK = {
    "info": {"abi_version": "2026_0", "arch": "wasm32", "platform": "emscripten_5_0_3", "python": "3.14.2"},
    "packages": {},
}
"""Pyodide's list of packages to load, which is empty: it fetches none."""


def ensure_assets(deno: str) -> PythonAssets:
    """Return the set, making it first where it is not there; blocks, some seconds then.

    Parameters
    ----------
    deno : str
        Path of the ``deno`` executable.

    Raises
    ------
    CodemodeError
        ``python_not_available``: Pyodide cannot be had or the set cannot be made; says why.
    """
    folder = assets_folder()
    try:
        found = find_assets()
        if found is not None:
            return found
        folder.parent.mkdir(parents=True, exist_ok=True)
        pyodide = _pyodide(deno)
        with whole_folder(folder, is_complete) as made:
            _make(deno, pyodide, made)
        _forget_old_sets(folder)
        found = find_assets()
    except OSError as error:
        raise _unavailable(f"the files cannot be written: {error}") from error
    if found is None:
        raise _unavailable(f"the files in {folder} are not complete")
    return found


def _forget_old_sets(kept: Path) -> None:
    """Remove the sets of other versions that were made long ago; one that is used still is made again."""
    for folder in kept.parent.glob("python-*"):
        with contextlib.suppress(OSError):
            if folder != kept and time.time() - folder.stat().st_mtime > KEPT_SECONDS:
                shutil.rmtree(folder)


def _pyodide(deno: str) -> Path:
    """Return the folder with Pyodide's own files, fetched where they are not there yet."""
    folder = cache_folder() / f"pyodide-{PYODIDE_VERSION}"
    if _is_intact(folder):
        return folder
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix="fetching-") as temporary:
        _run(
            [deno, "cache", "--quiet", "--no-config", "--no-lock", f"npm:pyodide@{PYODIDE_VERSION}"],
            FETCH_SECONDS,
            "Pyodide cannot be fetched from the npm registry",
            DENO_DIR=temporary,
        )
        fetched = next(Path(temporary).glob(f"npm/**/pyodide/{PYODIDE_VERSION}/pyodide.asm.wasm"), None)
        if fetched is None or not _is_intact(fetched.parent):
            raise _unavailable(f"what the npm registry has as pyodide {PYODIDE_VERSION} is not what it should be")
        with whole_folder(folder, _is_intact) as kept:
            for name in PYODIDE_FILES:
                shutil.copyfile(fetched.parent / name, kept / name)
    return folder


def _is_intact(folder: Path) -> bool:
    try:
        return all(
            hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest for name, digest in PYODIDE_FILES.items()
        )
    except OSError:
        return False


def _make(deno: str, pyodide: Path, folder: Path) -> None:
    shutil.copyfile(pyodide / "pyodide.asm.wasm", folder / "pyodide.asm.wasm")
    add_time_zones(
        pyodide / "python_stdlib.zip",
        folder / "python_stdlib.zip",
        lambda command, failure: _run(command, FETCH_SECONDS, failure),
    )
    (folder / "lock.json").write_text(json.dumps(_LOCK), encoding="utf-8")
    glue = make_glue(
        (pyodide / "pyodide.asm.mjs").read_text(encoding="utf-8"), (pyodide / "pyodide.mjs").read_text(encoding="utf-8")
    )
    (folder / "glue.js").write_text(glue, encoding="utf-8", newline="\n")
    scripts = [(SCRIPTS / name).read_text(encoding="utf-8") for name in ("interpreter.js", "make_snapshot.js")]
    with tempfile.TemporaryDirectory() as temporary:
        script = Path(temporary) / "make.js"
        script.write_text("\n".join([glue, *scripts]), encoding="utf-8")
        guest = compile_package(GUEST, Path(temporary))
        snapshot = folder / "snapshot.bin"
        flags = ("--quiet", "--no-prompt", "--no-config", "--no-lock", "--no-remote", "--no-npm")
        allowed = (f"--allow-read={_path_list(folder, guest)}", f"--allow-write={_path_list(snapshot)}")
        _run(
            [deno, "run", *flags, *allowed, *map(str, (script, folder, guest, snapshot))],
            SNAPSHOT_SECONDS,
            "the snapshot cannot be made",
        )


def make_glue(low_level: str, interface: str) -> str:
    """Return Pyodide's two modules as one script.

    It defines ``makePyodide(globalThis, WebAssembly, readbuffer, console)``.

    Raises
    ------
    CodemodeError
        ``python_not_available``: the modules are not those of the pinned version.
    """
    low_level = _replaced(low_level, "export default _createPyodideModule;", "")
    low_level = low_level.replace("import.meta.url", '""')
    # Random bytes by `crypto`, as in a page, not by a command of the shell that it takes the place for.
    low_level = _replaced(low_level, "if(ENVIRONMENT_IS_SHELL){return view=>{", "if(false){return view=>{")
    export = re.search(r"export\{(\w+) as loadPyodide,\w+ as version\};", interface)
    if export is None:
        raise _unavailable("Pyodide's interface has another form than expected")
    body = interface[: export.start()]
    shell = "const read = () => {}, load = () => {};"
    return (
        f"function makePyodide({', '.join(_GLOBALS)}) {{\n{shell}\n{low_level}\n"
        f"const loadPyodide = (() => {{\n{body}\nreturn {export[1]};\n}})();\n"
        "return { loadPyodide, createPyodideModule: _createPyodideModule };\n}\n"
    )


def _replaced(text: str, old: str, new: str) -> str:
    if text.count(old) != 1:
        raise _unavailable("Pyodide's glue has another form than expected")
    return text.replace(old, new)


def _path_list(*paths: Path) -> str:
    return ",".join(str(path).replace(",", ",,") for path in paths)


def _run(command: list[str], seconds: float, what: str, **environment: str) -> None:
    try:
        done = subprocess.run(  # noqa: S603  the user's own Deno, with arguments of ours alone
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
            env={**os.environ, "NO_COLOR": "1", "DENO_NO_UPDATE_CHECK": "1", **environment},
        )
    except subprocess.TimeoutExpired:
        raise _unavailable(f"{what}: it took longer than {seconds:g} s") from None
    if done.returncode != 0:
        lines = [line for line in done.stderr.strip().splitlines() if line.strip()]
        raise _unavailable(f"{what}: {lines[0][:300] if lines else f'exit code {done.returncode}'}")


def _unavailable(why: str) -> CodemodeError:
    return CodemodeError(
        "python_not_available",
        f"Python cannot be had for the sandbox: {why}.",
        hint=f"The first such program fetches Pyodide {PYODIDE_VERSION} by Deno from the npm registry "
        f"(NPM_CONFIG_REGISTRY or .npmrc name another one), and tzdata {TZDATA_VERSION} by pip where the environment "
        "has another one. What is made of them is kept in your cache folder.",
    )
