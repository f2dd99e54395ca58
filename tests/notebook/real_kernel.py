"""A real kernel for the tests, driven as a front end drives it: over the Jupyter protocol, without a page.

Owns: starting and ending the kernel, running cells, sending comm messages. Never does: anything inside the kernel.
"""

import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from queue import Empty

from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import KernelManager

from tests.kernels import write_kernel_spec

LONG = 60


@dataclass
class Cell:
    """What one cell came to. ``text`` is all it printed and displayed as text, ``error`` its traceback."""

    status: str = ""
    outputs: list = field(default_factory=list)
    statuses: list = field(default_factory=list)

    @property
    def printed(self):
        return "".join(content["text"] for kind, content in self.outputs if kind == "stream")

    @property
    def result(self):
        return next((content["data"]["text/plain"] for kind, content in self.outputs if kind == "execute_result"), None)

    @property
    def error(self):
        return next((content for kind, content in self.outputs if kind == "error"), None)


class RealKernel:
    """One kernel and its client."""

    def __init__(self, manager, client, folder):
        self.manager = manager
        self.client = client
        self.folder = folder

    def begin(self, code, *, allow_stdin=True):
        """Send a cell and return at once. With ``allow_stdin`` a person seems to be there, as in a page."""
        return self.client.execute(code, allow_stdin=allow_stdin)

    def finish(self, request, *, timeout=LONG):
        """Collect the outputs of a cell until it is idle, and its reply."""
        cell = Cell()
        deadline = time.monotonic() + timeout
        while "idle" not in cell.statuses:
            message = self.client.get_iopub_msg(timeout=deadline - time.monotonic())
            if message["parent_header"].get("msg_id") != request:
                continue
            if message["msg_type"] == "status":
                cell.statuses.append(message["content"]["execution_state"])
            else:
                cell.outputs.append((message["msg_type"], message["content"]))
        cell.status = self.reply(request, timeout=deadline - time.monotonic())["content"]["status"]
        return cell

    def run(self, code, *, timeout=LONG, allow_stdin=True):
        """Run a cell to its end."""
        return self.finish(self.begin(code, allow_stdin=allow_stdin), timeout=timeout)

    def reply(self, request, *, timeout=LONG):
        """Return the reply to a request on the shell channel."""
        deadline = time.monotonic() + timeout
        while True:
            message = self.client.get_shell_msg(timeout=max(0.0, deadline - time.monotonic()))
            if message["parent_header"].get("msg_id") == request:
                return message

    def shown_by(self, request, text, *, timeout=LONG):
        """Wait until the cell has printed or displayed ``text``."""
        deadline = time.monotonic() + timeout
        seen = ""
        while text not in seen:
            message = self.client.get_iopub_msg(timeout=max(0.0, deadline - time.monotonic()))
            if message["parent_header"].get("msg_id") == request:
                content = message["content"]
                seen += content.get("text", "") + content.get("data", {}).get("text/plain", "")

    def send(self, message_type, content):
        """Send a message on the shell channel, as a page does; return its id."""
        message = self.client.session.msg(message_type, content)
        self.client.shell_channel.send(message)
        return message["header"]["msg_id"]

    def statuses_of(self, request, *, within):
        """Return the statuses that were published for a request in the next ``within`` seconds."""
        deadline = time.monotonic() + within
        found = []
        while (left := deadline - time.monotonic()) > 0 and "idle" not in found:
            try:
                message = self.client.get_iopub_msg(timeout=left)
            except Empty:
                break
            if message["parent_header"].get("msg_id") == request and message["msg_type"] == "status":
                found.append(message["content"]["execution_state"])
        return found

    def interrupt(self):
        self.manager.interrupt_kernel()


@contextmanager
def running_kernel(folder, python, *, env=None):
    """Run a kernel with ``python`` in ``folder`` until the block ends."""
    write_kernel_spec(folder, python, name="tested")
    manager = KernelManager(kernel_name="tested", kernel_spec_manager=KernelSpecManager(kernel_dirs=[str(folder)]))
    manager.start_kernel(cwd=str(folder), **({"env": env} if env is not None else {}))
    client = manager.client()
    client.start_channels()
    try:
        client.wait_for_ready(timeout=LONG)
        yield RealKernel(manager, client, folder)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
