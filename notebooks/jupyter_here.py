"""Where the Jupyter server is that runs this notebook; one of its own where none does, as when nbclient runs it."""

import atexit
import os
import secrets
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

from jupyter_server.serverapp import list_running_servers


def jupyter_here() -> tuple[str, str]:
    """Return the address, with a slash at its end, and the token of the server whose kernel this is."""
    server = os.environ.get("JPY_PARENT_PID")
    for one in list_running_servers():
        if str(one["pid"]) == server and one["token"]:
            return one["url"], one["token"]
    return _started()


def _started() -> tuple[str, str]:
    """Start a server in this folder that ends with this kernel."""
    token = secrets.token_hex(24)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    options = ["--no-browser", "--ip=127.0.0.1", f"--port={port}", "--ServerApp.port_retries=0", "--allow-root"]
    command = [sys.executable, "-m", "jupyter_server", *options, "--ServerApp.jpserver_extensions={}"]
    env = {**os.environ, "JUPYTER_TOKEN": token}  # not in the command, which everybody on the machine can read
    process = subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    atexit.register(process.terminate)
    address = f"http://127.0.0.1:{port}/"
    until = time.monotonic() + 60
    while time.monotonic() < until and process.poll() is None:
        try:
            with urllib.request.urlopen(f"{address}api", timeout=5):
                return address, token
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)
    raise RuntimeError("No Jupyter server could be started. Open this notebook in JupyterLab instead.")
