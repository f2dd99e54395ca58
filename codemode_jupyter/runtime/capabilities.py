"""What a program may call: the tools of the runtime's connectors, found by name.

Owns: asking each connector for its tools once, and answering "which tool is this?" with the nearest names for a miss.
Never does: run a tool.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable

from codemode_jupyter.connectors.base import Connector, load_tools, tools_at_once
from codemode_jupyter.connectors.catalogue import Catalogue, CatalogueEntry
from codemode_jupyter.connectors.functions.signature import FunctionSignature
from codemode_jupyter.connectors.http.outbound import Outbound, fetch_tools
from codemode_jupyter.connectors.names import check_connector_names, did_you_mean
from codemode_jupyter.connectors.schemas.validation import load_checker
from codemode_jupyter.connectors.search.vectors import Embed
from codemode_jupyter.connectors.tool import Tool
from codemode_jupyter.errors import CodemodeError
from codemode_jupyter.program import ModuleSet
from codemode_jupyter.sandbox.protocol import CODEMODE_NAMESPACE, FETCH_CONNECTOR, Namespace
from codemode_jupyter.sandbox.python.packages.package_set import PackageSet


class Capabilities:
    """The connectors of one runtime and their tools.

    ``outbound`` is what requests of programs may reach, if any; ``modules`` what they may import, ``packages`` what
    those in Python may; ``embed`` makes vectors of texts for search.

    Raises
    ------
    CodemodeError
        When made: ``invalid_connector``, ``invalid_name``, ``reserved_name``, ``duplicate_name``, ``invalid_tool``.
    """

    def __init__(  # noqa: PLR0913, PLR0917  the parts of one runtime
        self,
        connectors: Iterable[Connector],
        built_in: Iterable[Tool] = (),
        outbound: Outbound | None = None,
        modules: ModuleSet | None = None,
        embed: Embed | None = None,
        packages: PackageSet | None = None,
    ) -> None:
        self.connectors = _checked(connectors)
        self.names = tuple(connector.name for connector in self.connectors)
        check_connector_names(self.names)
        self.outbound = outbound
        self.modules = ModuleSet() if modules is None else modules
        self.packages = PackageSet() if packages is None else packages
        self.required = self.names if outbound is None else (*self.names, FETCH_CONNECTOR)
        """What an execution is recorded to need: the connectors, and ``fetch`` where it is there."""
        self._tools: dict[str, dict[str, Tool]] | None = None
        self._early = {one.name: tools for one in self.connectors if (tools := tools_at_once(one)) is not None}
        self._revisions: dict[str, object] = {one.name: one.revision() for one in self.connectors}
        self._embed = embed
        self.catalogue = Catalogue(())
        self._built_in = {tool.name: tool for tool in built_in}
        self._loading = asyncio.Lock()

    async def load(self) -> None:
        """Ask every connector for its tools that was not asked yet, or whose ``revision`` is another one now.

        Raises
        ------
        CodemodeError
            ``connector_failed``: a connector could not say; ``invalid_tool``: a tool contradicts itself.
        """
        async with self._loading:
            revisions = {connector.name: connector.revision() for connector in self.connectors}
            if self._tools is not None and revisions == self._revisions:
                return
            known = self._early if self._tools is None else self._tools
            asked = [
                one
                for one in self.connectors
                if one.name not in known or revisions[one.name] != self._revisions[one.name]
            ]
            loaded = await asyncio.gather(*map(load_tools, asked))
            tools = {**known, **{one.name: found for one, found in zip(asked, loaded, strict=True)}}
            if any(_may_check_schemas(tool) for one in self.connectors for tool in tools[one.name].values()):
                await load_checker()
            tools[CODEMODE_NAMESPACE] = self._built_in
            if self.outbound is not None:
                tools[FETCH_CONNECTOR] = {tool.name: tool for tool in fetch_tools(self.outbound)}
            entries = [CatalogueEntry(one.name, _instructions(one), tools[one.name]) for one in self.connectors]
            self.catalogue = Catalogue(entries, self.catalogue, self._embed)
            self._tools, self._revisions = tools, revisions

    def tools_of(self, connector: str) -> dict[str, Tool]:
        """Return the tools of one connector by name; empty when there is no such connector."""
        return (self._tools or {}).get(connector, {})

    def namespaces(self) -> tuple[Namespace, ...]:
        """Return what the sandbox needs to know of the connectors."""
        return tuple(Namespace(name, tuple(self.tools_of(name))) for name in self.names)

    def find(self, connector: str, method: str) -> Tool:
        """Return a tool.

        Raises
        ------
        CodemodeError
            ``unknown_connector`` or ``unknown_tool``, with the nearest names.
        """
        if self._tools is None or connector not in self._tools:
            raise CodemodeError(
                "unknown_connector",
                f'There is no connector "{connector}".',
                hint=did_you_mean(connector, self.names) or f"The connectors are: {', '.join(self.names) or 'none'}.",
            )
        tools = self._tools[connector]
        if method not in tools:
            raise CodemodeError(
                "unknown_tool",
                f'Tool "{method}" not found on {connector}.',
                hint=did_you_mean(method, tools) or self._listed(connector),
            )
        return tools[method]

    def missing(self, names: Iterable[str]) -> list[str]:
        """Return those of ``names`` that this runtime does not have."""
        return [name for name in names if name not in self.required]

    def changed_modules(self, recorded: str) -> list[str]:
        """Return the names of recorded modules (JSON of digests by name) that are missing here or have another text."""
        digests = self.modules.digests
        return [name for name, digest in json.loads(recorded).items() if digests.get(name) != digest]

    def _listed(self, connector: str) -> str:
        names = list(self.tools_of(connector))
        if not names:
            return f"{connector} has no tools."
        more = f" and {len(names) - 10} more" if len(names) > 10 else ""  # noqa: PLR2004  a readable list
        return f"{connector} has: {', '.join(names[:10])}{more}."


def _instructions(connector: Connector) -> str:
    try:
        return connector.instructions()
    except CodemodeError:
        raise
    except Exception as error:
        raise CodemodeError(
            "connector_failed",
            f'Connector "{connector.name}" could not give its instructions: {type(error).__name__}: {error}.',
        ) from error


def _may_check_schemas(tool: Tool) -> bool:
    """Say whether a call may need the checker of JSON schemas: whatever a connector's own ``validate`` wraps."""
    return not isinstance(getattr(tool.validate, "__self__", None), FunctionSignature)


def _checked(connectors: object) -> tuple[Connector, ...]:
    """Return the connectors, or refuse what is none: a function or a tool wants a ``FunctionConnector`` around it."""
    if isinstance(connectors, Connector) or not isinstance(connectors, Iterable) or isinstance(connectors, str):
        raise CodemodeError(
            "invalid_connector",
            f"Runtime takes a list of connectors, not {connectors!r:.200}.",
            hint='Write Runtime([FunctionConnector("name", [function, …])]).',
        )
    found = tuple(connectors)
    for position, connector in enumerate(found, start=1):
        if not isinstance(connector, Connector):
            raise CodemodeError(
                "invalid_connector",
                f"Number {position} of the runtime's connectors is not a connector: {connector!r:.200}.",
                hint='Put functions into one: FunctionConnector("name", [function, …]).',
            )
    return found
