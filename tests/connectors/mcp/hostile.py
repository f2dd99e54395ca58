"""A server over stdio that keeps to the protocol only as far as it likes. ``python hostile.py KIND``; not a test."""

from __future__ import annotations

import json
import os
import sys
import time
from typing import Any

OBJECT = {"type": "object"}
READS = {"readOnlyHint": True}
RECURSIVE = {"type": "object", "properties": {"child": {"$ref": "#"}}, "additionalProperties": False}
NOTHING_BUT_ITSELF = {
    "type": "object",
    "properties": {"x": {"$ref": "#/$defs/a"}},
    "$defs": {"a": {"$ref": "#/$defs/a"}},
}
TOOLS: dict[str, list[Any]] = {
    "names": [
        {"name": name, "inputSchema": OBJECT, "annotations": READS}
        for name in (
            "get-tide",
            "get-tide",
            "__proto__",
            "constructor",
            "then",
            "class",
            "größe",
            "x" * 5000,
            "9 lives",
        )
    ],
    "collision": [{"name": name, "inputSchema": OBJECT} for name in ("get-tide", "get.tide")],
    "schemas": [
        {"name": "good", "inputSchema": {"type": "object", "properties": {"a": {"type": "integer"}}}},
        {"name": "broken", "inputSchema": {"type": "object", "properties": {"a": {"type": "nonsense"}, "b": 7}}},
        {"name": "none", "inputSchema": "a text", "outputSchema": 7, "annotations": {"readOnlyHint": True, "title": 5}},
        {"inputSchema": {}},
        "no tool at all",
        {"name": "foreign", "inputSchema": {"type": "object", "properties": {"a": {"$ref": "http://127.0.0.1:9/x"}}}},
        {"name": "recursive", "inputSchema": RECURSIVE},
        {"name": "itself", "inputSchema": NOTHING_BUT_ITSELF},
        {"name": "slow", "inputSchema": {"type": "object", "properties": {"a": {"pattern": "^(a+)+$"}}}},
        {
            "name": "proto",
            "inputSchema": {"type": "object", "properties": {"__proto__": {"type": "string"}, "constructor": {}}},
        },
        {
            "name": "texts",
            "inputSchema": OBJECT,
            "description": '*/ }; alert(1)\u2028</script><img src=x> `${x}` """' * 50,
        },
    ],
    "many": [{"name": f"tool_{i}", "inputSchema": OBJECT} for i in range(5000)],
}
for listed in TOOLS.values():
    for one in listed:
        if isinstance(one, dict):
            one.setdefault("annotations", READS)
WRONG = ("no_value", "list_value", "own_error", "malformed")
SAY = [
    {"name": name, "inputSchema": OBJECT, "annotations": READS}
    for name in ("twice", "never", "rubbish", "wrong_shape", "questions", "flood", "said", *WRONG)
]


def send(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def text(id_: Any, words: str) -> None:
    send({"id": id_, "result": {"content": [{"type": "text", "text": words}]}})


def call(id_: Any, name: str) -> None:
    match name:
        case "twice":
            text(id_, "first")
            text(id_, "second")
        case "never":
            pass
        case "rubbish":
            sys.stdout.write("not json\n\x00\xff{]\n" + "[1,2]\n" * 3 + '{"jsonrpc":"2.0"}\n')
            text(id_, "after rubbish")
        case "wrong_shape":
            send({"id": id_, "result": {"content": "none"}})
        case "questions":
            for number in range(50):
                schema = {"type": "object", "properties": {f"f{i}": {"type": "object"} for i in range(3)}}
                params = {"message": "?", "requestedSchema": schema}
                send({"id": f"q{number}", "method": "elicitation/create", "params": params})
            text(id_, "asked")
        case "flood":
            for number in range(2000):
                params = {"level": "error", "data": f"line {number} " + "x" * 10_000}
                send({"method": "notifications/message", "params": params})
            text(id_, "flooded")
        case _ if name in WRONG:
            answer_wrongly(id_, name)
        case _:
            text(id_, name)


def answer_wrongly(id_: Any, name: str) -> None:
    match name:
        case "no_value" | "list_value":
            send({"id": id_, "result": None if name == "no_value" else []})
        case "own_error":
            send({"id": id_, "error": {"code": -32000, "message": "The harbour is closed."}})
        case "malformed":
            for level, data in (("s3cr3t-level", "x"), ("info", None)):
                send({"method": "notifications/message", "params": {"level": level, "data": data, "logger": 5}})
            send({"method": "notifications/progress", "params": {"progressToken": 1, "progress": "s3cr3t-progress"}})
            text(id_, "went on")


def main(kind: str) -> None:
    if kind == "mute":
        time.sleep(600)
    if kind == "dies":
        os._exit(1)
    for line in sys.stdin:
        message = json.loads(line)
        id_ = message.get("id")
        match message.get("method"):
            case "initialize":
                result = {
                    "protocolVersion": "2025-11-25",
                    "capabilities": {"tools": {}, "logging": {}},
                    "serverInfo": {"name": "hostile", "version": "0"},
                    "instructions": "x" * 1_000_000,
                }
                send({"id": id_, "result": result})
            case "tools/list" if kind == "endless":
                cursor = int((message.get("params") or {}).get("cursor") or 0)
                page = [{"name": f"t{cursor}_{i}", "inputSchema": OBJECT} for i in range(500)]
                send({"id": id_, "result": {"tools": page, "nextCursor": str(cursor + 1)}})
            case "tools/list":
                send({"id": id_, "result": {"tools": TOOLS.get(kind, SAY)}})
            case "tools/call":
                call(id_, message["params"]["name"])
            case "logging/setLevel":
                send({"id": id_, "result": {}})


if __name__ == "__main__":
    main(sys.argv[1])
