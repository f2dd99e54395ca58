"""Packages made on the spot, and a package index on this machine that has them."""

from __future__ import annotations

import base64
import hashlib
import io
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

PLATFORM = "pyemscripten_2026_0_wasm32"


def wheel(
    folder: Path,
    name: str,
    version: str = "1.0",
    files: Mapping[str, str] | None = None,
    *,
    requires: Sequence[str] = (),
    tag: str = "py3-none-any",
) -> Path:
    """Write a wheel that has ``files``, else a module of its name with a ``VERSION``, and return its path."""
    module = name.replace("-", "_")
    info = f"{module}-{version}.dist-info"
    extras = [one.rpartition("extra == ")[2].strip("'") for one in requires if "extra == " in one]
    lines = [
        "Metadata-Version: 2.1",
        f"Name: {name}",
        f"Version: {version}",
        *(f"Requires-Dist: {r}" for r in requires),
    ]
    lines += [f"Provides-Extra: {extra}" for extra in extras]
    entries = dict(files or {f"{module}.py": f"VERSION = {version!r}\n"})
    entries[f"{info}/METADATA"] = "\n".join(lines) + "\n"
    entries[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: {tag}\n"
    entries[f"{info}/RECORD"] = "".join(f"{path},,\n" for path in entries)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{module}-{version}-{tag}.whl"
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for entry, text in entries.items():
            archive.writestr(zipfile.ZipInfo(entry), text)
    path.write_bytes(data.getvalue())
    return path


def project(folder: Path, name: str, source: str, requires: Sequence[str] = ()) -> Path:
    """Write a project of one module that any pip can build without fetching anything: it has its own build backend."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "pyproject.toml").write_text(
        '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
        f'[project]\nname = "{name}"\nversion = "1.0"\n'
    )
    (folder / "backend.py").write_text(_BACKEND.replace("NAME", name).replace("REQUIRES", repr(list(requires))))
    (folder / f"{name}.py").write_text(source)
    return folder


_BACKEND = """
import zipfile
REQUIRED = REQUIRES
TAG = "py3-none-any"

def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    info, filename = "NAME-1.0.dist-info", f"NAME-1.0-{TAG}.whl"
    needs = "".join(f"Requires-Dist: {one}\\n" for one in REQUIRED)
    with zipfile.ZipFile(f"{wheel_directory}/{filename}", "w") as archive:
        for path, text in {
            "NAME.py": open("NAME.py").read(),
            f"{info}/METADATA": f"Metadata-Version: 2.1\\nName: NAME\\nVersion: 1.0\\n{needs}",
            f"{info}/WHEEL": f"Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: {TAG}\\n",
            f"{info}/RECORD": "",
        }.items():
            archive.writestr(zipfile.ZipInfo(path), text)
    return filename
"""


class Index:
    """A package index (PEP 503) over the files of a folder; ``requests`` are the paths that it was asked for."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.requests: list[str] = []
        self.login: str | None = None
        self.digests: dict[str, str] = {}
        """What it says of files, where that is not so."""

    def files(self, name: str) -> list[Path]:
        return [path for path in sorted(self.folder.iterdir()) if path.name.split("-")[0].replace("_", "-") == name]

    def page(self, name: str) -> bytes:
        digests = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in self.files(name)} | self.digests
        links = [
            f'<a href="/files/{path.name}#sha256={digests[path.name]}">{path.name}</a>' for path in self.files(name)
        ]
        return ("<!DOCTYPE html><html><body>" + "\n".join(links) + "</body></html>").encode()


@contextmanager
def served(folder: Path) -> Iterator[tuple[Index, str]]:
    """Serve a folder as an index; its address is the second value."""
    folder.mkdir(parents=True, exist_ok=True)
    index = Index(folder)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            index.requests.append(self.path)
            given = self.headers.get("Authorization", "")
            if index.login is not None and given != "Basic " + base64.b64encode(index.login.encode()).decode():
                self._answer(401, b"")
                return
            _, kind, name, *_ = [*self.path.split("/"), ""]
            if kind == "simple" and index.files(name):
                self._answer(200, index.page(name))
            elif kind == "files" and (folder / name).is_file():
                self._answer(200, (folder / name).read_bytes(), "application/octet-stream")
            else:
                self._answer(404, b"")

        def _answer(self, status: int, body: bytes, kind: str = "text/html") -> None:
            self.send_response(status)
            if status == 401:
                self.send_header("WWW-Authenticate", 'Basic realm="index"')
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield index, f"http://127.0.0.1:{server.server_address[1]}/simple"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
