"""A service with an OpenAPI document as a namespace of tools.

Owns: the options of the connector, and reading its document once. Never does: what its modules do.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Mapping
from functools import cache, partial
from typing import Any

from codemode_jupyter.connectors.approval import ApprovalPolicy, Approve
from codemode_jupyter.connectors.base import Connector
from codemode_jupyter.connectors.http.origins import Address, Origin, parse_origin
from codemode_jupyter.connectors.openapi.document import Document, check_document
from codemode_jupyter.connectors.openapi.extra import needed
from codemode_jupyter.connectors.openapi.loading import Source, load
from codemode_jupyter.connectors.openapi.naming import tool_names
from codemode_jupyter.connectors.openapi.operations import Operation, operations, security_schemes, unreadable_paths
from codemode_jupyter.connectors.openapi.request_tool import NAME as REQUEST
from codemode_jupyter.connectors.openapi.request_tool import request_tool
from codemode_jupyter.connectors.openapi.schemas import Schemas
from codemode_jupyter.connectors.openapi.security import Auth, Credentials
from codemode_jupyter.connectors.openapi.sending import Send, Sender
from codemode_jupyter.connectors.openapi.servers import parse_base, server_address
from codemode_jupyter.connectors.openapi.swagger2 import servers as swagger2_servers
from codemode_jupyter.connectors.openapi.tools import ToolMaker
from codemode_jupyter.connectors.redaction import Redactor
from codemode_jupyter.connectors.tool import Tool
from codemode_jupyter.errors import CodemodeError

_log = logging.getLogger(__name__)

_MOST_NAMED = 10


class OpenApiConnector(Connector):
    """A service with an OpenAPI document: one tool for each operation, and ``request`` for anything else.

    A tool takes all parameters of its operation by their names, and its body as ``body``. It returns what the service
    answers: data for JSON, text for text, bytes for anything else, null for no body. An answer that is no success is
    an error that a program can catch (code ``http_error``), with ``status``, ``headers`` and ``body`` in its data.

    GET, HEAD and OPTIONS run at once; anything else waits for a person unless ``approve`` says otherwise. A secret is
    added to a request in the kernel, on its way to the service: no program, log or message has it.

    Parameters
    ----------
    name : str
        Name of the global in programs.
    document : mapping, str or Path
        OpenAPI 3.0 or 3.1 or Swagger 2.0, JSON or YAML: the document itself, the path of its file, or its address.
    auth : mapping, secret or None
        Secrets by the names of the document's security schemes: a text (API key, bearer token), a tuple of user name
        and password, ``ClientCredentials``, or a function that returns a text. Where the document has one scheme only,
        the secret alone.
    headers : mapping of str to str
        Headers that every request gets, such as ``{"Authorization": "token …"}`` where the document has no schemes.
        They are treated as secrets are.
    base_url : str, optional
        Where all operations go, instead of to the document's servers.
    server_variables : mapping of str to str
        Values for the variables of the document's servers.
    approve : default "writes"
        Which tools a person approves: ``"never"``, ``"destructive"`` (PUT, PATCH, DELETE), ``"writes"`` (all but GET,
        HEAD, OPTIONS), a list of names of tools, or a function of a name.
    credentials_to : iterable of str
        Further origins that may see the secrets, such as a second server of the service.
    redirect_to : iterable of str
        Origins that the service's redirects may lead to besides its own; they see no secret.
    follow_references : bool, default False
        Follow references to other documents in the document's own folder or on its own origin; else they mean nothing.
    timeout : float, default 60.0
        Seconds that one call may take, waiting for a service that asks to wait (``Retry-After``) included.
    instructions : str, optional
        What a model should know first; the document's title and description by default.
    send : async function, optional
        Makes a request (``OutboundRequest``) instead of httpx and returns an ``OutboundResponse``.

    Raises
    ------
    CodemodeError
        ``invalid_name``, ``reserved_name``, ``invalid_option``, ``invalid_document``; ``missing_extra``: the extra
        ``[openapi]`` is not installed. A document that is read from a file or an address is read when the tools are
        asked for, and refused then (``document_not_found`` as well).

    Examples
    --------
    >>> OpenApiConnector("pets", "petstore.yaml", auth={"api_key": os.environ["PETS_KEY"]})
    >>> OpenApiConnector("server", "http://localhost:8888/api/spec.yaml", headers={"Authorization": f"token {token}"})
    """

    def __init__(  # noqa: PLR0913  options by keyword
        self,
        name: str,
        document: Source,
        *,
        auth: Auth | None = None,
        headers: Mapping[str, str] | None = None,
        base_url: str | None = None,
        server_variables: Mapping[str, str] | None = None,
        approve: Approve = "writes",
        credentials_to: Iterable[str] = (),
        redirect_to: Iterable[str] = (),
        follow_references: bool = False,
        timeout: float = 60.0,
        instructions: str | None = None,
        send: Send | None = None,
    ) -> None:
        super().__init__(name, instructions or "")
        for library in ("httpx", "yaml"):
            needed(library)
        if not isinstance(document, str) and not hasattr(document, "__fspath__"):
            check_document(document)
        if isinstance(timeout, bool) or not isinstance(timeout, int | float) or not timeout > 0:
            raise CodemodeError("invalid_option", f"timeout={timeout!r:.100}.", hint="Use seconds, such as 60.")
        self._source = document
        self._auth = auth
        self._headers = dict(headers or {})
        self._base = None if base_url is None else parse_base(base_url)
        self._variables = dict(server_variables or {})
        self._policy = ApprovalPolicy(approve)
        self._credentials_to = tuple(parse_origin(one) for one in credentials_to)
        self._redirect_to = tuple(parse_origin(one) for one in redirect_to)
        self._follow = follow_references
        self._timeout = float(timeout)
        self._own_instructions = instructions
        self._send = send
        self._tools: tuple[Tool, ...] | None = None

    async def tools(self) -> tuple[Tool, ...]:
        """Return ``request`` and a tool for each operation, in the order of the document."""
        if self._tools is None:
            self._tools = await asyncio.to_thread(self._derived)
        return self._tools

    def _derived(self) -> tuple[Tool, ...]:
        document = Document(load(self._source), follow=self._follow)
        redactor = Redactor()
        root_address = cache(partial(self._root_address, document))

        def trusted(origin: Origin) -> bool:
            try:
                return origin in self._credentials_to or origin == root_address().origin
            except CodemodeError:  # the document's own server is no address, so this is another
                return False

        schemes = security_schemes(document)
        credentials = Credentials(schemes, self._auth, self._headers, redactor, trusted)
        sender = Sender(credentials, redactor, self._redirect_to, self._timeout, self._send)
        found = list(operations(document))
        traces = [one for one in found if one.method == "TRACE"]
        kept = [one for one in found if one.method != "TRACE"]
        maker = ToolMaker(
            self.name,
            document,
            Schemas(document, "request"),
            Schemas(document, "response"),
            sender,
            self._policy,
            partial(self._address, document),
        )
        names = tool_names(kept, [REQUEST])
        self._policy.check_names(self.name, [REQUEST, *names])
        self._tell(document, [one.line for one in traces], unreadable_paths(document))
        general = document.root.get("security")
        security = [one for one in general if isinstance(one, Mapping)] if isinstance(general, list) else None
        low_level = request_tool(self.name, sender, self._policy, root_address, security)
        return (low_level, *(maker.tool(one, name) for one, name in zip(kept, names, strict=True)))

    def _address(self, document: Document, operation: Operation) -> Address:
        if self._base is not None:
            return self._base
        return server_address(operation.servers[0], self._variables, document.base)

    def _root_address(self, document: Document) -> Address:
        """Return where the service is: the base, or the document's first server."""
        if self._base is not None:
            return self._base
        given: Any = swagger2_servers(document.root) if document.version == "2.0" else document.root.get("servers")
        first = next((one for one in given if isinstance(one, Mapping)), None) if isinstance(given, list) else None
        return server_address(first or {"url": "/"}, self._variables, document.base)

    def _tell(self, document: Document, traces: list[str], unreadable: list[str]) -> None:
        """Make the instructions, and say there and in the log what is no tool."""
        info = document.root.get("info")
        info = info if isinstance(info, Mapping) else {}
        told = [text for key in ("title", "description") if isinstance(text := info.get(key), str) and text.strip()]
        parts = told if self._own_instructions is None else [self._own_instructions]
        reasons = {"an answer to TRACE repeats the credentials": traces, "a reference that leads nowhere": unreadable}
        for reason, left_out in reasons.items():
            if left_out:
                more = f" and {len(left_out) - _MOST_NAMED} more" if len(left_out) > _MOST_NAMED else ""
                sentence = f"Not available: {', '.join(left_out[:_MOST_NAMED])}{more} ({reason})."
                parts = [*parts, sentence]
                _log.warning("%s: %s", self.name, sentence)
        self._instructions = "\n\n".join(part.strip() for part in parts)
