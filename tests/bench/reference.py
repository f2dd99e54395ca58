"""The npm package that the sandbox is measured against, and the bare page in which both run.

Owns: installing it beside the benchmarks, pinned, and serving the page to a browser without a server.
"""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from codemode_jupyter.sandbox.frame import inline_frame, served_frame
from codemode_jupyter.sandbox.page_channel import page_module
from codemode_jupyter.sandbox.worker_source import worker_source

FOLDER = Path(__file__).parent
PACKAGE = FOLDER / "node_modules" / "@cloudflare" / "codemode" / "dist"
ACORN = FOLDER / "node_modules" / "acorn" / "dist" / "acorn.mjs"
ORIGIN = "http://localhost"
"""Never asked: each request of the page is answered here."""

PAGE = """<!doctype html><title>Side by side</title><body>
<script type="importmap">
{"imports": {"@cloudflare/codemode/browser": "/reference/browser.js", "acorn": "/acorn.js"}}
</script>
<script type="module" src="/side_by_side.js"></script>"""


def install():
    """Install the package as the lock file says, unless it is there."""
    version = json.loads((FOLDER / "package.json").read_text())["devDependencies"]["@cloudflare/codemode"]
    installed = PACKAGE.parent / "package.json"
    if installed.exists() and json.loads(installed.read_text())["version"] == version:
        return
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("there is no npm to install the package that the sandbox is measured against")
    done = subprocess.run(
        [npm, "ci", "--no-audit", "--no-fund"], cwd=FOLDER, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        pytest.skip(f"npm could not install the package that the sandbox is measured against: {done.stderr[-300:]}")


def open_page(context):
    """Return a page with both sandboxes' code in it, neither of them made yet."""
    traits = {"_inline_frame": inline_frame(), "_served_frame": served_frame(), "_worker_source": worker_source()}
    texts = {
        "/": ("text/html", PAGE),
        "/module.js": ("text/javascript", page_module()),
        "/traits.json": ("application/json", json.dumps(traits)),
        "/side_by_side.js": ("text/javascript", (FOLDER / "side_by_side.js").read_text()),
        "/acorn.js": ("text/javascript", ACORN.read_text()),
        **{f"/reference/{file.name}": ("text/javascript", file.read_text()) for file in PACKAGE.glob("*.js")},
    }

    def answer(route):
        kind, text = texts.get(route.request.url.removeprefix(ORIGIN), ("text/plain", None))
        if text is None:
            route.fulfill(status=404)
        else:
            route.fulfill(content_type=f"{kind}; charset=utf-8", body=text)

    page = context.new_page()
    page.route("**/*", answer)
    page.goto(f"{ORIGIN}/")
    page.wait_for_function("window.measure !== undefined")
    return page
