"""A real Jupyter server for the tests: JupyterLab and Notebook 7 on one free port, with its own folders.

Owns: starting, settings, the REST calls that tests need, ending. Never does: anything a person does in the page.
"""

import json
import os
import secrets
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.e2e.waiting import until

SETTINGS = {
    # Every output is in the document, also one that is scrolled out of sight.
    "@jupyterlab/notebook-extension/tracker": {"windowingMode": "none"},
    "@jupyterlab/apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False},
    "@jupyterlab/apputils-extension/themes": {"adaptive-theme": False, "theme": "JupyterLab Light"},
}
KERNELS = Path("data", "kernels")
PAGES = Path(__file__).with_name("pages")
"""Pages of our own, served below ``/static``."""

OPTIONS = [
    "--no-browser",
    "--allow-root",
    "--ServerApp.port_retries=0",
    "--LabApp.expose_app_in_browser=True",
    "--JupyterNotebookApp.expose_app_in_browser=True",
    "--LanguageServerManager.autodetect=False",
    "--ServerApp.terminals_enabled=False",
    f"--ServerApp.extra_static_paths={PAGES}",
]


@dataclass
class Server:
    """A running server. ``root`` is its notebook folder."""

    root: Path
    folder: Path
    port: int
    token: str = field(default_factory=lambda: secrets.token_hex(16))

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def request(self, method, path, body=None):
        """Call the server's REST interface and return the decoded answer."""
        data = None if body is None else json.dumps(body).encode()
        headers = {"Authorization": f"token {self.token}", "Content-Type": "application/json"}
        request = urllib.request.Request(f"{self.url}{path}", data=data, headers=headers, method=method)  # noqa: S310  our own server
        with urllib.request.urlopen(request, timeout=10) as answer:  # noqa: S310  our own server
            text = answer.read()
        return json.loads(text) if text else None

    def answers(self):
        try:
            self.request("GET", "/api/status")
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            return False
        return True

    def end_kernels(self):
        for session in self.request("GET", "/api/sessions"):
            self.request("DELETE", f"/api/sessions/{session['id']}")

    @property
    def log(self):
        return (self.folder / "server.log").read_text(errors="replace")


def _free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _environment(folder):
    env = {name: value for name, value in os.environ.items() if not name.startswith(("JUPYTER", "IPYTHON", "JPY_"))}
    places = {
        "JUPYTER_CONFIG_DIR": "config",
        "JUPYTER_DATA_DIR": "data",
        "JUPYTER_RUNTIME_DIR": "runtime",
        "JUPYTERLAB_SETTINGS_DIR": "settings",
        "JUPYTERLAB_WORKSPACES_DIR": "workspaces",
        "IPYTHONDIR": "ipython",
    }
    env |= {name: str(folder / place) for name, place in places.items()}
    env["JUPYTER_PREFER_ENV_PATH"] = "1"
    env["PYDEVD_DISABLE_FILE_VALIDATION"] = "1"
    return env


def _write_settings(folder):
    for plugin, values in SETTINGS.items():
        path = folder / "settings" / f"{plugin}.jupyterlab-settings"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(values))


@contextmanager
def running_server(folder, *options):
    """Run a server in ``folder`` until the block ends. It offers the kernels of ``folder / KERNELS`` too."""
    _write_settings(folder)
    root = folder / "root"
    root.mkdir()
    server = Server(root, folder, _free_port())
    command = [sys.executable, "-m", "jupyterlab", *OPTIONS]
    command += [
        f"--ServerApp.root_dir={root}",
        f"--ServerApp.port={server.port}",
        f"--IdentityProvider.token={server.token}",
        *options,
    ]
    with (folder / "server.log").open("wb") as log:
        process = subprocess.Popen(command, env=_environment(folder), cwd=root, stdout=log, stderr=log)
    try:
        until(lambda: server.answers() or process.poll() is not None, "the Jupyter server answers", timeout=60)
        assert process.poll() is None, server.log
        yield server
        server.end_kernels()
    finally:
        process.terminate()
        process.wait(timeout=20)
