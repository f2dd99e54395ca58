"""What the SDK logs about messages, without what they hold.

Owns: keeping the values of a server's messages, which may be secrets, out of the kernel's log and so out of the cells
that show it: the errors in the SDK's tracebacks repeat what they were given. Never does: silence the SDK; that
something was wrong is still said.
"""

from __future__ import annotations

import logging

_LOGGERS = ("client", "mcp.client.streamable_http", "mcp.shared.jsonrpc_dispatcher")


class _WithoutTracebacks(logging.Filter):
    """Passes every record on, with the kind of its error in place of the traceback."""

    def filter(self, record: logging.LogRecord) -> bool:
        if record.exc_info and record.exc_info[0] is not None:
            record.msg = f"{record.msg} ({record.exc_info[0].__name__})"
            record.exc_info = record.exc_text = None
        return True


_FILTER = _WithoutTracebacks()


def keep_values_out() -> None:
    """Have the loggers of the SDK's modules that read messages leave their tracebacks out, from now on."""
    for name in _LOGGERS:
        logging.getLogger(name).addFilter(_FILTER)  # the same filter is added once only
