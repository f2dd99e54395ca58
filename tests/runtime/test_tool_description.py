"""What a model is told: the facts of the reference's descriptions, in our words."""

import json
from pathlib import Path

import pytest

from codemode_jupyter import CodemodeError, FunctionConnector, Runtime

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


@pytest.mark.parametrize(
    "fact",
    [
        "Run a Python program",
        'found["results"][0]["path"]',
        "await connector.method(name=value)",
        "The ONLY globals are `harbour` and `codemode` (plus `ToolError`",
        "asyncio.gather",
        "raises `ToolError`",
        "codemode.step(name, function)",
        "no `asyncio.run`",
        "no thread, no process",
        "`return` may stand at the top",
        "requiresApproval",
        "do NOT send the program again",
        "async def main(input): …",
    ],
)
def test_the_description_for_python_tells_how_to_work(path, fact):
    runtime = Runtime([FunctionConnector("harbour", [])], path=path)
    text = runtime.tool(language="python").description
    assert fact in text
    assert "JavaScript" not in text
    assert "Promise" not in text


def test_the_description_for_python_names_what_can_be_imported_and_reached(path):
    options = {"modules": {"tax.py": "rate = 1", "js": "export const a = 1"}, "outbound": ["https://a.test"]}
    text = Runtime(path=path, **options).tool(language="python").description
    assert "`import` also finds tax." in text
    assert "`fetch` reaches only https://a.test" in text


def test_a_tool_for_both_languages_lets_the_model_say_which(path):
    tool = Runtime([FunctionConnector("harbour", [])], path=path).tool(language="both")
    assert tool.input_schema["properties"]["language"]["enum"] == ["javascript", "python"]
    assert tool.input_schema["required"] == ["code"]
    assert "Run a JavaScript or Python program" in tool.description
    assert '"language": "python"' in tool.description
    assert tool.description.count("The ONLY globals are") == 1
    assert "await connector.method(name=value)" in tool.description
    assert "language" not in Runtime(path=path).tool().input_schema["properties"]


async def test_a_tool_refuses_languages_and_arguments_that_it_does_not_take(path):
    runtime = Runtime(path=path)
    with pytest.raises(CodemodeError, match="javascript, python, both"):
        runtime.tool(language="ruby")
    for tool, given in (
        (runtime.tool(), {"code": "1", "language": "python"}),
        (runtime.tool(language="both"), {"code": "1", "language": "ruby"}),
        (runtime.tool(language="both"), {"code": 1}),
    ):
        assert (await tool(given))["code"] == "invalid_code"


@pytest.mark.parametrize("language", ["javascript", "python", "both"])
def test_every_rule_stands_on_a_line_of_its_own(path, language):
    runtime = Runtime([FunctionConnector("harbour", [])], path=path)
    text = runtime.tool(language=language).description
    rules = text.split("Rules:\n")[1].split("\n\n")[0].splitlines()
    assert len(rules) == 6
    assert all(line.startswith("- ") for line in rules)
