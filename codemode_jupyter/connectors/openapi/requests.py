"""From the arguments of a call to the request that the document asks for.

Owns: the address, the headers and the body, and that no argument can change where a request goes.
Never does: send it, or know a secret.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from codemode_jupyter.connectors.faults import path_of, refuse_arguments
from codemode_jupyter.connectors.http.origins import Address, parse_address
from codemode_jupyter.connectors.http.outbound_messages import OutboundRequest
from codemode_jupyter.connectors.http.request_headers import can_be_sent
from codemode_jupyter.connectors.openapi.bodies import encode_body
from codemode_jupyter.connectors.openapi.media_types import essence
from codemode_jupyter.connectors.openapi.operations import Media, Operation, Parameter
from codemode_jupyter.connectors.openapi.serialization import (
    cookie_pairs,
    header_text,
    path_text,
    query_pairs,
    text_of,
)
from codemode_jupyter.connectors.tool import Arguments
from codemode_jupyter.errors import CodemodeError

_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")
_LEFT_AS_IT_IS = re.compile(r"[^!$&-;=@-Z_a-z~%]")
"""What cannot stand in a path (RFC 3986, 3.3); ``%`` may begin what the document itself has encoded."""

_LONGEST_ADDRESS = 100_000


@dataclass(frozen=True, slots=True)
class RequestShape:
    """One operation, its arguments by name, and the names of those that are no parameters."""

    operation: Operation
    parameters: Mapping[str, Parameter]
    body: str | None = None
    media: tuple[Media, ...] = ()
    content_type: str | None = None
    accept: str | None = None
    accepted: tuple[str, ...] = ()


class RequestWriter:
    """Writes the requests of one tool.

    Parameters
    ----------
    name : str
        The tool, as messages name it.
    shape : RequestShape
        What a request is made of.
    base : callable
        Returns the address that the path is put after.
    """

    def __init__(self, name: str, shape: RequestShape, base: Callable[[], Address]) -> None:
        self._name = name
        self._shape = shape
        self._base = base

    def write(self, arguments: Arguments) -> OutboundRequest:
        """Return the request that the arguments mean.

        Raises
        ------
        CodemodeError
            ``invalid_arguments``: a value cannot be sent, or would lead to another path; ``no_server``.
        """
        texts: dict[str, str] = {}
        pairs: list[str] = []
        headers = {"accept": self._accept(arguments)}
        cookies: list[str] = []
        for name, parameter in self._shape.parameters.items():
            value = arguments.get(name)
            if value is None:
                continue
            try:
                match parameter.place:
                    case "path":
                        texts[parameter.name] = self._path_text(parameter, value)
                    case "query":
                        pairs.extend(query_pairs(parameter, value))
                    case "header":
                        headers[parameter.name.lower()] = self._header(parameter, value)
                    case "cookie":
                        cookies.extend(cookie_pairs(parameter, value))
            except (TypeError, ValueError) as fault:
                raise self._refused(name, str(fault)) from None
        if cookies:
            headers["cookie"] = "; ".join(cookies)
        body = self._body(arguments, headers)
        url = self._address(texts, pairs)
        return OutboundRequest(self._shape.operation.method, url, headers, body)

    def _path_text(self, parameter: Parameter, value: object) -> str:
        text = path_text(parameter, value)
        if not text:
            raise ValueError("an empty text leaves a gap in the path")
        return text

    def _header(self, parameter: Parameter, value: object) -> str:
        text = header_text(parameter, value)
        if not can_be_sent(parameter.name, text):
            raise ValueError("it holds characters that a header cannot have, such as a line break")
        return text

    def _address(self, texts: Mapping[str, str], pairs: list[str]) -> str:
        base = self._base()
        template, _, fixed = self._shape.operation.path.partition("#")[0].partition("?")
        path = join_path(base, self._filled(template, texts))
        if (climbing := climbing_segment(path)) is not None:
            raise self._refused("", f"the path would hold {climbing!r}, which leads to another path")
        query = "&".join([*([self._filled(fixed, texts)] if fixed else []), *pairs])
        url = f"{base.origin}{path}" + (f"?{query}" if query else "")
        if len(url) > _LONGEST_ADDRESS:
            raise self._refused("", f"the address would have {len(url):,} characters")
        return str(parse_address(url))

    def _filled(self, template: str, texts: Mapping[str, str]) -> str:
        """Return the path with its placeholders filled, in one go: no value is taken for a placeholder."""
        parts: list[str] = []
        end = 0
        for found in _PLACEHOLDER.finditer(template):
            parts += [literal_path(template[end : found.start()]), texts[found[1]]]
            end = found.end()
        return "".join([*parts, literal_path(template[end:])])

    def _accept(self, arguments: Arguments) -> str:
        chosen = arguments.get(self._shape.accept) if self._shape.accept is not None else None
        if chosen is not None:
            if not can_be_sent("accept", chosen):
                raise self._refused(str(self._shape.accept), "it cannot stand in a header")
            return str(chosen)
        return f"{self._shape.accepted[0]}, */*;q=0.1" if self._shape.accepted else "*/*"

    def _body(self, arguments: Arguments, headers: dict[str, str]) -> bytes:
        shape = self._shape
        if shape.body is None or shape.body not in arguments:
            return b""
        given = arguments.get(shape.content_type) if shape.content_type is not None else None
        media = next((one for one in shape.media if given is not None and _allows(one.type, given)), shape.media[0])
        try:
            if given is None and "*" in media.type and essence(media.type) != "*/*":
                given = "application/octet-stream"
            body, headers["content-type"] = encode_body(text_of(given or media.type), media, arguments[shape.body])
        except (TypeError, ValueError) as fault:
            raise self._refused(shape.body, str(fault)) from None
        return body

    def _refused(self, argument: str, why: str) -> CodemodeError:
        fault = {"path": path_of([argument]) if argument else "", "message": why}
        return refuse_arguments(self._name, [fault], _names(self._shape))


def join_path(base: Address, path: str) -> str:
    """Return a path after the base's own."""
    return f"{base.path}{path if path.startswith('/') else f'/{path}'}"


def literal_path(text: str) -> str:
    """Return the fixed part of a path as it can be sent: what a path cannot hold is percent-encoded."""
    return _LEFT_AS_IT_IS.sub(lambda found: "".join(f"%{byte:02X}" for byte in found[0].encode(errors="replace")), text)


def climbing_segment(path: str) -> str | None:
    """Return a segment that servers would resolve to another path (RFC 3986, 5.2.4), encoded or not."""
    for segment in path.split("/"):
        for part in re.split(r"[/\\]", unquote(segment)):
            if part in (".", "..") or unquote(part) in (".", ".."):
                return segment
    return None


def _allows(pattern: str, media_type: Any) -> bool:
    kind, _, subtype = essence(pattern).partition("/")
    given_kind, _, given_subtype = essence(str(media_type)).partition("/")
    return kind in ("*", given_kind) and subtype in ("*", given_subtype)


def _names(shape: RequestShape) -> list[str]:
    further = (shape.body, shape.content_type, shape.accept)
    return [*shape.parameters, *(name for name in further if name is not None)]
