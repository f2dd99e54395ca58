"""Servers of the Model Context Protocol as connectors (extra ``[mcp]``; the official SDK speaks the protocol)."""

from codemode_jupyter.errors import CodemodeError

try:
    from codemode_jupyter.connectors.mcp.connector import McpConnector
except ModuleNotFoundError as missing:
    if (missing.name or "").partition(".")[0] == "codemode_jupyter":
        raise
    raise CodemodeError(
        "missing_extra",
        f"McpConnector needs the package {missing.name}, which is not installed.",
        hint='`pip install "codemode-jupyter[mcp]"` brings it.',
    ) from missing

__all__ = ["McpConnector"]
