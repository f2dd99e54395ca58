"""Code Mode for Jupyter: a program composes tools; each call is recorded, approved where needed, and replayed.

Owns: the public names. Importing this package imports none of its rooms; each name loads its own on first use.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

    from codemode_jupyter.connectors.base import Connector
    from codemode_jupyter.connectors.declarations.python import generate_stubs
    from codemode_jupyter.connectors.declarations.typescript import generate_types
    from codemode_jupyter.connectors.declarations.typescript_types import json_schema_to_type
    from codemode_jupyter.connectors.functions.function import FunctionConnector, tool
    from codemode_jupyter.connectors.http.outbound import Outbound
    from codemode_jupyter.connectors.http.outbound_messages import OutboundRequest, OutboundResponse
    from codemode_jupyter.connectors.human import HumanConnector
    from codemode_jupyter.connectors.mcp import McpConnector
    from codemode_jupyter.connectors.names import sanitize_name
    from codemode_jupyter.connectors.openapi.connector import OpenApiConnector
    from codemode_jupyter.connectors.openapi.oauth import ClientCredentials
    from codemode_jupyter.connectors.tool import Tool, ToolContext
    from codemode_jupyter.connectors.toolset.connector import ToolSetConnector
    from codemode_jupyter.errors import CodemodeError
    from codemode_jupyter.program import normalize_code, truncate_response, truncate_result
    from codemode_jupyter.runtime.detached_exit import DetachedExit
    from codemode_jupyter.runtime.records import CallRecord, ErrorDetail, ExecutionRecord, Outcome, PendingCall, Snippet
    from codemode_jupyter.runtime.runtime import Runtime
    from codemode_jupyter.sandbox.browser import BrowserExecutor
    from codemode_jupyter.sandbox.deno import DenoExecutor
    from codemode_jupyter.sandbox.protocol import Executor
    from codemode_jupyter.sandbox.python.packages.package import Package

__all__ = [
    "BrowserExecutor",
    "CallRecord",
    "ClientCredentials",
    "CodemodeError",
    "Connector",
    "DenoExecutor",
    "DetachedExit",
    "ErrorDetail",
    "ExecutionRecord",
    "Executor",
    "FunctionConnector",
    "HumanConnector",
    "McpConnector",
    "OpenApiConnector",
    "Outbound",
    "OutboundRequest",
    "OutboundResponse",
    "Outcome",
    "Package",
    "PendingCall",
    "Runtime",
    "Snippet",
    "Tool",
    "ToolContext",
    "ToolSetConnector",
    "generate_stubs",
    "generate_types",
    "json_schema_to_type",
    "load_ipython_extension",
    "normalize_code",
    "sanitize_name",
    "tool",
    "truncate_response",
    "truncate_result",
    "unload_ipython_extension",
]

_HOMES = {
    "BrowserExecutor": "sandbox.browser",
    "CallRecord": "runtime.records",
    "ClientCredentials": "connectors.openapi.oauth",
    "CodemodeError": "errors",
    "Connector": "connectors.base",
    "DenoExecutor": "sandbox.deno",
    "DetachedExit": "runtime.detached_exit",
    "ErrorDetail": "runtime.records",
    "ExecutionRecord": "runtime.records",
    "Executor": "sandbox.protocol",
    "FunctionConnector": "connectors.functions.function",
    "HumanConnector": "connectors.human",
    "McpConnector": "connectors.mcp",
    "OpenApiConnector": "connectors.openapi.connector",
    "Outbound": "connectors.http.outbound",
    "OutboundRequest": "connectors.http.outbound_messages",
    "OutboundResponse": "connectors.http.outbound_messages",
    "Outcome": "runtime.records",
    "Package": "sandbox.python.packages.package",
    "PendingCall": "runtime.records",
    "Runtime": "runtime.runtime",
    "Snippet": "runtime.records",
    "Tool": "connectors.tool",
    "ToolContext": "connectors.tool",
    "ToolSetConnector": "connectors.toolset.connector",
    "generate_stubs": "connectors.declarations.python",
    "generate_types": "connectors.declarations.typescript",
    "json_schema_to_type": "connectors.declarations.typescript_types",
    "normalize_code": "program",
    "sanitize_name": "connectors.names",
    "tool": "connectors.functions.function",
    "truncate_response": "program",
    "truncate_result": "program",
}


def load_ipython_extension(shell: InteractiveShell) -> None:
    """Make ``%%codemode`` and ``%codemode`` available: what ``%load_ext codemode_jupyter`` calls."""
    from codemode_jupyter.notebook import extension  # noqa: PLC0415  the notebook room is loaded only here

    extension.load_ipython_extension(shell)


def unload_ipython_extension(shell: InteractiveShell) -> None:
    """Take the magics away again: what ``%unload_ext codemode_jupyter`` calls."""
    from codemode_jupyter.notebook import extension  # noqa: PLC0415  the notebook room is loaded only here

    extension.unload_ipython_extension(shell)


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
