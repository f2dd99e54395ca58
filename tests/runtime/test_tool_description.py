"""What a model is told: the facts of the reference's descriptions, in our words."""

import json
from pathlib import Path

import pytest

from codemode_jupyter import FunctionConnector, Runtime

VECTORS = Path(__file__).parents[3] / "shared" / "vectors" / "tool_description.json"


def described(given, path):
    runtime = Runtime([FunctionConnector(name, []) for name in given["connectors"]], path=path)
    return runtime.tool(given.get("custom"), hints=given.get("hints", {})).description


@pytest.fixture
def path(tmp_path):
    return tmp_path / "store.sqlite3"


@pytest.mark.skipif(not VECTORS.exists(), reason="the reference's answers are not on this machine")
def test_the_descriptions_hold_the_facts_of_the_reference(path):
    cases = json.loads(VECTORS.read_text(encoding="utf-8"))["cases"]
    assert cases
    for case in cases:
        given, ours = case["input"], described(case["input"], path)
        if "custom" in given:
            assert ours == case["expected"]
            continue
        fact = next(line for line in case["expected"].splitlines() if "The ONLY globals are" in line)
        assert fact[fact.index("The ONLY") : fact.index(" (plus")] in ours
        listed = case["expected"].split("## Available connectors")[1].strip().splitlines()
        assert ours.endswith("Connectors:\n" + "\n".join(listed))


@pytest.mark.parametrize(
    "fact",
    [
        "JavaScript",
        "codemode.search(",
        "codemode.describe(",
        "codemode.run(name, input)",
        "codemode.step(name, fn)",
        "requiresApproval",
        'status "paused"',
        "do NOT send the program again",
        "async (input) =>",
    ],
)
def test_the_description_tells_how_to_work(path, fact):
    assert fact in described({"connectors": ["harbour"]}, path)


def test_every_rule_stands_on_a_line_of_its_own(path):
    rules = described({"connectors": ["harbour"]}, path).split("Rules:\n")[1].split("\n\n")[0].splitlines()
    assert all(line.startswith(("- ", "  ")) for line in rules)
    assert sum(line.startswith("- ") for line in rules) == 6
