"""Values cross between Python and the sandbox's own JavaScript and arrive as what they were, or are refused."""

from __future__ import annotations

import json
import math
import random
import shutil
import subprocess
import sys
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from codemode_jupyter.errors import CodemodeError
from codemode_jupyter.runtime.values import canonical, decode, decode_arguments, encode
from codemode_jupyter.sandbox.worker_source import FRAGMENTS

DENO = Path(sys.executable).with_name("deno")
TEXTS = [
    "",
    "a",
    "é",
    "🦊",
    "\ud800",
    "x\udc00y",
    "\0",
    "\u2028",
    '"\\',
    "$type",
    "__proto__",
    "constructor",
    "1",
    "-1",
]
NUMBERS = [0, 1, -1, 1.5, -0.0, 0.1, 1e21, 1e-7, 5e-324, 1.7976931348623157e308, 2**53 - 1, 2**53, -(2**53), 10**30]

# Reads texts from a file; answers each with its value written again, and texts of values that only JavaScript has.
HARNESS = """
const random = ((state) => () => (state = (state * 48271) % 2147483647) / 2147483647)(SEED);
const pick = (items) => items[Math.floor(random() * items.length)];
const texts = ["", "a", "\\u00e9", "\\ud83e\\udd8a", "\\ud800", "$type", "__proto__", "toJSON", "1"];
const leaves = [
  () => null, () => undefined, () => random() < 0.5, () => pick(texts), () => pick([0, -0, NaN, Infinity, -Infinity]),
  () => pick([1e21, 1e-7, 2 ** 53, 2 ** 53 + 2, 123456789012345680000, 5e-324, 1.5]), () => BigInt(pick([0, 5])) ** 40n,
  () => new RealDate(pick([0, 1.5e12, NaN, 8.64e15, -1])), () => new Uint8Array([1, 2, 255]).subarray(1),
  () => new ArrayBuffer(3), () => new Float64Array([1.5]), () => new TypeError("no"), () => /a+/g,
];
function make(depth) {
  const kind = depth > 4 ? 9 : Math.floor(random() * 10);
  const many = (item) => Array.from({length: Math.floor(random() * 4)}, item);
  if (kind === 0) return many(() => make(depth + 1));
  if (kind === 1) return new Map(many(() => [make(depth + 1), make(depth + 1)]));
  if (kind === 2) return new Set(many(() => make(depth + 1)));
  if (kind < 6) {
    const made = {};
    for (const key of many(() => pick(texts)))
      Object.defineProperty(made, key, {value: make(depth + 1), enumerable: true, configurable: true});
    return made;
  }
  return pick(leaves)();
}
const answers = JSON.parse(Deno.readTextFileSync(Deno.args[0])).map((text) => encodeValue(decodeValue(text), "it"));
const own = Array.from({length: 1500}, () => encodeValue(make(0), "it"));
const again = own.map((text) => encodeValue(decodeValue(text), "it"));
console.log(JSON.stringify({answers, own, again}));
"""


def some_value(chance: random.Random, depth: int = 0) -> Any:
    kind = chance.randrange(10) if depth < 5 else 9
    if kind < 2:
        return [some_value(chance, depth + 1) for _ in range(chance.randrange(4))]
    if kind < 5:
        return {chance.choice(TEXTS): some_value(chance, depth + 1) for _ in range(chance.randrange(4))}
    special = [None, True, False, math.nan, math.inf, -math.inf, b"", b"\xff\0a"]
    return chance.choice([chance.choice(TEXTS), chance.choice(NUMBERS), chance.choice(special)])


@pytest.fixture(scope="module")
def crossed(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[str], dict[str, list[str]]]:
    if not DENO.exists() and shutil.which("deno") is None:
        pytest.skip("the headless sandbox (extra `headless`) is not installed")
    chance = random.Random(7)  # noqa: S311  a fuzz that can be repeated
    sent = [encode(some_value(chance)) for _ in range(1500)]
    folder = tmp_path_factory.mktemp("values")
    (folder / "texts.json").write_text(json.dumps(sent), encoding="utf-8")
    worker = files("codemode_jupyter.sandbox") / "js" / "worker"
    own = [(worker / f"{name}.js").read_text("utf-8") for name in FRAGMENTS[: FRAGMENTS.index("decode") + 1]]
    script = (
        "globalThis.postMessage ??= () => {};\n(() => {\n" + "\n".join(own) + HARNESS.replace("SEED", "42") + "})();"
    )
    (folder / "harness.js").write_text(script, encoding="utf-8")
    deno = str(DENO) if DENO.exists() else "deno"
    command = [
        deno,
        "run",
        "--no-config",
        f"--allow-read={folder}",
        str(folder / "harness.js"),
        str(folder / "texts.json"),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return sent, json.loads(done.stdout)


def test_every_python_value_comes_back_from_javascript_as_it_was(crossed: Any) -> None:
    sent, made = crossed
    assert len(made["answers"]) == len(sent)
    for text, answer in zip(sent, made["answers"], strict=True):
        assert canonical(answer) == canonical(text)


def test_javascript_reads_what_it_wrote(crossed: Any) -> None:
    _, made = crossed
    for text, again in zip(made["own"], made["again"], strict=True):
        assert again == text


def only_shared_types(text: str) -> bool:
    """Say whether a text holds nothing that Python has no type of its own for."""
    others = ("undefined", "date", "map", "set", "arraybuffer", "regexp", "error")
    return not any(f'"$type":"{kind}"' in text for kind in others) and '"bigint","value":"0"' not in text


def test_every_javascript_value_is_read_and_what_both_languages_have_comes_back(crossed: Any) -> None:
    _, made = crossed
    same = 0
    for text in made["own"]:
        text.encode("utf-8")
        try:
            written = encode(decode(text))
        except CodemodeError as error:
            assert error.code == "not_storable"  # noqa: PT017  a Map's key that JSON has no text for
            assert '"map"' in text
            continue
        assert canonical(encode(decode(written))) == canonical(written)
        if only_shared_types(text):
            assert canonical(written) == canonical(text)
            same += 1
    assert same > 300


def test_arguments_of_any_javascript_value_are_plain_or_refused(crossed: Any) -> None:
    _, made = crossed
    refused = 0
    for text in made["own"]:
        try:
            arguments = decode_arguments(text)
        except CodemodeError as error:
            assert error.code == "not_storable"  # noqa: PT017  both ways out are right
            assert '"regexp"' in text
            refused += 1
            continue
        assert decode(encode(arguments)) is not None
    assert 0 < refused < len(made["own"])
