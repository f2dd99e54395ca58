"""The product's own sandboxes with everything that holds programs back taken away: what could arrive, does."""

from contextlib import asynccontextmanager

from codemode_jupyter.sandbox import deno_process, page_python
from codemode_jupyter.sandbox.browser import BrowserExecutor
from codemode_jupyter.sandbox.deno import DenoExecutor
from codemode_jupyter.sandbox.frame import inline_frame
from codemode_jupyter.sandbox.page_channel import page_module
from codemode_jupyter.sandbox.worker_source import python_worker_parts, worker_source
from tests.sandbox import real_page
from tests.sandbox.escapes.listeners import CANARY

PERMITTED = ("run", "-A", "--no-lock", "--unstable-net", "--unstable-kv", "--unstable-worker-options")
"""Launch flags of a Deno that holds nothing back."""


def without(text, *parts, instead=""):
    """Return a text without some parts of it, each of which must be there."""
    for part in parts:
        assert part in text, part
        text = text.replace(part, instead)
    return text


def unlocked(source):
    """Return the sandbox runtime without its lockdown, and deaf to what fails in the background."""
    deaf = ("    failProgram(event.error);\n", "    unhandledRejections.set(event.promise, event.reason);\n")
    return without(source, "  lockDown();\n", *deaf)


def unlocked_worker():
    """Return the runtime for JavaScript without its lockdown."""
    return unlocked(worker_source())


def unlocked_python_parts():
    """Return the same of what stands around Pyodide, whose world holds all that the Worker has, once it is loaded."""
    before, after = python_worker_parts()
    loaded = "{ _loadSnapshot: snapshot }),\n  })"
    opened = f"{loaded}.finally(() => Object.setPrototypeOf(world, globalThis))"
    return before, without(unlocked(after), loaded, instead=opened)


def unlocked_python(glue):
    """Return the runtime for Python without its lockdown, with Pyodide in that world."""
    before, after = unlocked_python_parts()
    return before + without(glue, ", fetch, XMLHttpRequest, WebSocket, Worker, Bun) {", instead=") {") + after


def open_frame():
    """Return the markup of the frame without its policy and its sandbox."""
    return without(inline_frame(""), ' sandbox="allow-scripts"')


@asynccontextmanager
async def open_chromium(monkeypatch, browser, *, markup=None, worker=None, python=None, is_sandboxed=False):
    """Pages whose sandboxes run ``worker`` in a frame of ``markup``: by default nothing holds a program back.

    ``python`` is what stands around Pyodide.
    """
    with monkeypatch.context() as changes:
        changes.setattr(real_page, "inline_frame", lambda: markup or open_frame())
        if not is_sandboxed:
            module = without(page_module(), 'this.#element.setAttribute("sandbox", "allow-scripts");')
            changes.setattr(real_page, "page_module", lambda: module)
        changes.setattr(page_python, "python_worker_parts", lambda: python or unlocked_python_parts())
        async with real_page.open_pages(browser, worker or unlocked_worker()) as pages:
            executor = BrowserExecutor(pages)
            yield pages, executor
            await executor.close()


@asynccontextmanager
async def open_deno(monkeypatch, folder, listeners, *, worker=None, python=unlocked_python, is_permitted=True):
    """A Deno executor with ``worker`` in it; permitted, it may do everything, and its registries are the listeners.

    ``python`` makes the runtime for Python of Pyodide's glue.
    """
    with monkeypatch.context() as changes:
        changes.setattr(deno_process, "python_worker_source", python)
        changes.setattr(deno_process, "worker_source", lambda: worker or unlocked_worker())
        if is_permitted:
            host = (deno_process._FOLDER / "host.js").read_text()
            (folder / "host.js").write_text(without(host, '"none"', instead='"inherit"'))
            environment = deno_process._environment
            given = {
                "CODEMODE_SECRET": CANARY,
                "NPM_CONFIG_REGISTRY": f"{listeners.url}/escape/import-npm/",
                "JSR_URL": f"{listeners.url}/escape/import-jsr/",
            }
            changes.setattr(deno_process, "_FOLDER", folder)
            changes.setattr(deno_process, "_FLAGS", PERMITTED)
            changes.setattr(deno_process, "_permissions", lambda: ())  # they have them all
            changes.setattr(deno_process, "_environment", lambda own: environment(own) | given)
        executor = DenoExecutor()
        yield executor
        await executor.close()
