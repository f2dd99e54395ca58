"""A live Jupyter server, reached through its own OpenAPI document (Swagger 2.0), with its token."""

from __future__ import annotations

import importlib.resources
import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

import pytest

from codemode_jupyter import OpenApiConnector, Runtime

TOKEN = "t0ken-of-the-test"  # noqa: S105  of a server that lives as long as the test
DOCUMENT = importlib.resources.files("jupyter_server") / "services" / "api" / "api.yaml"


@pytest.fixture(scope="module")
def jupyter(tmp_path_factory):
    """Start a server in a folder with one file; return its address and the folder."""
    folder = tmp_path_factory.mktemp("served")
    home = tmp_path_factory.mktemp("home")
    (folder / "docs").mkdir()
    (folder / "docs" / "häfen & co.txt").write_text("Kiel", encoding="utf-8")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = ["--no-browser", "--ip=127.0.0.1", f"--port={port}", f"--ServerApp.root_dir={folder}"]
    options += [f"--IdentityProvider.token={TOKEN}", "--ServerApp.port_retries=0", "--allow-root"]
    places = {name: str(home) for name in ("HOME", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR")}
    command = [sys.executable, "-m", "jupyter_server", *options, "--ServerApp.jpserver_extensions={}"]
    process = subprocess.Popen(
        command, env={**os.environ, **places}, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    try:
        address = f"http://127.0.0.1:{port}"
        wait_for(address, process)
        yield address, folder
    finally:
        process.terminate()
        process.communicate(timeout=30)


def wait_for(address: str, process: subprocess.Popen[str]) -> None:
    until = time.monotonic() + 60
    while time.monotonic() < until:
        assert process.poll() is None, process.stderr.read()
        try:
            with urllib.request.urlopen(f"{address}/api", timeout=5) as answer:  # noqa: S310  this machine
                assert "version" in json.load(answer)
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)
    raise AssertionError("the server did not start")


def connector(address: str, **options) -> OpenApiConnector:
    given = {"headers": {"Authorization": f"token {TOKEN}"}, "approve": "never", **options}
    return OpenApiConnector("server", str(DOCUMENT), base_url=address, **given)


async def test_a_program_reads_and_changes_files_through_the_servers_own_document(jupyter, tmp_path):
    address, folder = jupyter
    runtime = Runtime([connector(address)], path=tmp_path / "log.sqlite3")
    outcome = await runtime.execute(
        """async () => {
            const { version } = await server.get_api();
            const path = "docs/häfen & co.txt";
            const file = await server.get_api_contents_path({ path, content: 1, format: "text" });
            await server.put_api_contents_path({
                path: "docs/copy.txt",
                body: { type: "file", format: "text", content: file.content + "!" },
            });
            await server.patch_api_contents_path({ path: "docs/copy.txt", body: { path: "docs/moved.txt" } });
            const listed = await server.get_api_contents_path({ path: "docs" });
            const raw = await server.request({ path: "/api/contents/docs", params: { content: 0 } });
            const gone = await server.get_api_contents_path({ path: "docs/none" }).catch((error) => error.data.status);
            await server.delete_api_contents_path({ path: "docs/moved.txt" });
            return [version, file.content, listed.content.map((one) => one.name).sort(), raw.status, gone];
        }"""
    )
    await runtime.close()
    assert outcome.status == "completed", outcome.error
    version, content, names, status, gone = outcome.result
    assert version.count(".") >= 2
    assert (content, names, status, gone) == ("Kiel", ["häfen & co.txt", "moved.txt"], 200, 404)
    assert [path.name for path in (folder / "docs").iterdir() if path.is_file()] == ["häfen & co.txt"]
    assert TOKEN not in repr(outcome)
    assert TOKEN.encode() not in b"".join(file.read_bytes() for file in tmp_path.iterdir())


async def test_without_its_token_the_server_refuses_and_the_program_can_tell(jupyter, tmp_path):
    address, _ = jupyter
    runtime = Runtime([connector(address, headers={"Authorization": "token wrong-one"})], path=tmp_path / "log.sqlite3")
    outcome = await runtime.execute(
        "async () => server.get_api_contents_path({ path: 'docs' }).catch((e) => [e.data.code, e.data.status])"
    )
    await runtime.close()
    assert outcome.result == ["http_error", 403]


async def test_a_path_cannot_leave_the_folder_that_is_served(jupyter, tmp_path):
    address, _ = jupyter
    runtime = Runtime([connector(address)], path=tmp_path / "log.sqlite3")
    outcome = await runtime.execute(
        "async () => server.delete_api_contents_path({ path: 'docs/../../home' }).catch((error) => error.data.code)"
    )
    await runtime.close()
    assert outcome.result == "invalid_arguments"


async def test_what_changes_the_server_waits_for_a_person_by_default(jupyter, tmp_path):
    address, folder = jupyter
    runtime = Runtime([connector(address, approve="writes")], path=tmp_path / "log.sqlite3")
    outcome = await runtime.execute(
        "async () => { await server.get_api_contents_path({ path: 'docs' });"
        " return (await server.post_api_contents_path({ path: 'docs', body: { ext: '.txt', type: 'file' } })).name }"
    )
    assert outcome.status == "paused"
    assert [call.method for call in outcome.pending] == ["post_api_contents_path"]
    assert not (folder / "docs" / "untitled.txt").exists()
    outcome = await runtime.approve(outcome.execution_id)
    await runtime.close()
    assert outcome.result == "untitled.txt"
    (folder / "docs" / "untitled.txt").unlink()
