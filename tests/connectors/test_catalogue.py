"""What there is to call is found by a question and described by name."""

from __future__ import annotations

import json
import re
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from codemode_jupyter.connectors.catalogue import Catalogue, CatalogueEntry
from codemode_jupyter.connectors.functions.function import FunctionConnector, tool
from codemode_jupyter.connectors.search.words import fold, one_edit_apart, stem, words_of
from codemode_jupyter.connectors.tool import Tool
from codemode_jupyter.errors import CodemodeError

VECTORS = Path(__file__).parents[3] / "shared" / "vectors"


@dataclass(frozen=True)
class Saved:
    name: str
    description: str = ""
    code: str = "async () => 1"


@tool(requires_approval=True)
def create_issue(title: str, labels: list[str] | None = None) -> dict[str, Any]:
    """Open an issue in the tracker.

    Parameters
    ----------
    labels
        Coloured words such as urgent.
    """
    return {}


def list_issues(state: str = "open") -> list[str]:
    """List the issues."""
    return []


def close_issue(number: int) -> None:
    """Close an issue for good."""


def get_temperature(cell: str) -> float:
    """Größe 温度 of a cold cell."""
    return 0.0


def entry(connector: FunctionConnector) -> CatalogueEntry:
    return CatalogueEntry(connector.name, connector.instructions(), {one.name: one for one in connector.tools()})


CATALOGUE = Catalogue(
    [
        entry(FunctionConnector("issues", [create_issue, list_issues, close_issue], "Our tracker.")),
        entry(FunctionConnector("store", [get_temperature, list_issues])),
    ]
)


def paths(query: str, *snippets: Saved) -> list[str]:
    return [row["path"] for row in CATALOGUE.search(query, snippets)["results"]]


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("create issue", "issues.create_issue"),
        ("how do I open a new issue please", "issues.create_issue"),
        ("urgent", "issues.create_issue"),
        ("createIssue", "issues.create_issue"),
        ("issues.close_issue", "issues.close_issue"),
        ("clsoe issues", "issues.close_issue"),
        ("close issu", "issues.close_issue"),
        ("GRÖSSE", "store.get_temperature"),
        ("grösse", "store.get_temperature"),
        ("温度", "store.get_temperature"),
        ("temprature", "store.get_temperature"),
        ("the temperatures of my cells", "store.get_temperature"),
    ],
)
def test_questions_find_what_they_mean(query: str, first: str) -> None:
    assert paths(query)[0] == first


@pytest.mark.parametrize("query", ["", "   ", "!!!", "zebra", "\ud800", "x" * 10_000])
def test_what_fits_nothing_finds_nothing(query: str) -> None:
    assert CATALOGUE.search(query) == {"results": [], "total": 0, "truncated": False}


def test_results_print_what_can_be_called_and_say_what_needs_approval() -> None:
    found = CATALOGUE.search("create issue")
    assert found["results"][0] == {
        "path": "issues.create_issue",
        "connector": "issues",
        "method": "create_issue",
        "description": "Open an issue in the tracker.",
        "kind": "method",
        "score": found["results"][0]["score"],
        "requiresApproval": True,
    }
    assert "requiresApproval" not in CATALOGUE.search("close")["results"][0]
    assert json.loads(json.dumps(found)) == found


def test_no_more_results_are_given_than_asked_for() -> None:
    tools = {f"crate_{i}": Tool(f"crate_{i}", print, f"Crate number {i}.") for i in range(130)}  # type: ignore[arg-type]
    bulk = Catalogue([CatalogueEntry("bulk", "", tools)])
    for limit, given in ((10, 10), (50, 50), (1000, 50), (0, 1)):
        found = bulk.search("crate", limit=limit)
        assert (len(found["results"]), found["total"], found["truncated"]) == (given, 130, True)
    assert bulk.search("crate_7")["results"][0]["path"] == "bulk.crate_7"


def test_snippets_are_found_and_described_as_they_are_now() -> None:
    morning = Saved("morning-round", "Summarise the open issues.", "async () => '```'")
    assert paths("morning round", morning) == ["morning-round"]
    assert paths("morning round") == []
    described = CATALOGUE.describe("morning-round", [morning]).wire()
    assert described["kind"] == "snippet"
    assert described["types"] == "Summarise the open issues.\n\n````ts\nasync () => '```'\n````"


def test_a_snippet_does_not_hide_what_has_its_name() -> None:
    snippets = [Saved("issues", "Mine."), Saved("issues.list_issues", "Also mine.")]
    assert CATALOGUE.describe("issues", snippets).kind == "connector"
    assert CATALOGUE.describe("issues.list_issues", snippets).kind == "method"
    assert CATALOGUE.describe("snippet:issues", snippets).description == "Mine."
    assert "snippet:issues" in paths("mine", *snippets)


def test_a_connector_and_its_methods_are_described_in_typescript() -> None:
    connector = CATALOGUE.describe("issues")
    assert connector.types.startswith("/** Our tracker. */\n\ntype CreateIssueInput = {")
    assert "declare const issues: {" in connector.types
    for target in ("issues.create_issue", "create_issue", " issues.create_issue() "):
        described = CATALOGUE.describe(target).wire()
        assert described["path"] == "issues.create_issue"
        assert described["requiresApproval"] is True
        assert "create_issue: (input: CreateIssueInput) => Promise<CreateIssueOutput>;" in described["types"]
        assert "close_issue" not in described["types"]
    assert "requiresApproval" not in CATALOGUE.describe("close_issue").wire()


@pytest.mark.parametrize(
    ("target", "suggestion"),
    [
        ("creat_issue", "issues.create_issue"),
        ("issues.create_isue", "issues.create_issue"),
        ("issue", "issues"),
        ("ISSUES", "issues"),
        ("store.get_temprature", "store.get_temperature"),
    ],
)
def test_a_close_miss_names_the_nearest(target: str, suggestion: str) -> None:
    with pytest.raises(CodemodeError, match="not found") as refusal:
        CATALOGUE.describe(target)
    assert refusal.value.code == "unknown_name"
    assert refusal.value.data is not None
    assert suggestion in refusal.value.data["suggestions"]
    assert suggestion in str(refusal.value)


@pytest.mark.parametrize(
    "target", ["", "constructor", "issues.constructor", "toString", "__proto__", "issues.__class__"]
)
def test_what_nobody_made_is_not_found(target: str) -> None:
    with pytest.raises(CodemodeError, match="not found"):
        CATALOGUE.describe(target)


def test_a_method_of_two_connectors_must_be_qualified() -> None:
    with pytest.raises(CodemodeError, match="2 connectors") as refusal:
        CATALOGUE.describe("list_issues")
    assert refusal.value.code == "ambiguous_name"
    assert refusal.value.data == {"suggestions": ["issues.list_issues", "store.list_issues"]}


def test_words_are_split_and_folded() -> None:
    assert words_of("HTTPStatus loadURLs row.count v2beta größe 温度計") == [
        *("http", "status", "load", "url", "row", "count", "v", "2", "beta", "gross", "温度計", "温度", "度計"),
    ]
    assert len({stem(word) for word in ("Issue", "issues", "ISSUES")}) == 1
    for british, american in (("organisation", "organization"), ("colour", "color"), ("licence", "license")):
        assert fold(british) == fold(american)
    assert [one_edit_apart("close", other) for other in ("clos", "closed", "clpse", "colse", "close", "lcosed")] == [
        *(True, True, True, True, False, False)
    ]


def text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def catalogue_of(connectors: list[Any]) -> Catalogue:
    entries = []
    for one in connectors:
        gated = {name for name, notes in one.get("annotations", {}).items() if notes.get("requiresApproval")}
        tools = {
            name: Tool(
                name, print, text(method.get("description")), method["inputSchema"], requires_approval=name in gated
            )  # type: ignore[arg-type]
            for name, method in one["descriptors"].items()
        }
        entries.append(CatalogueEntry(one["name"], text(one.get("instructions")), tools))
    return Catalogue(entries)


# Queries whose first result differs from the reference's, with the reason.
DIFFERENT = {
    "berths": "a tie of two equal methods, by path",
    "how do i close the quarter": "the reference finds nothing",
    "tree": "the reference puts first what its description calls deprecated",
    "invoice zebra": "the reference finds nothing; one word fits",
    "an": "a stop word; part of a word for the reference",
    "in": "a stop word; part of a word for the reference",
    "invoice!": "the method that is called so, before a longer name",
    "inv": "the method whose whole name begins so, before a longer name",
    "2": "a name before a connector's name",
}


@pytest.mark.skipif(not VECTORS.exists(), reason="the shared vectors are not beside this checkout")
def test_the_first_result_is_the_reference_s_or_a_better_one() -> None:
    document = json.loads((VECTORS / "search.json").read_text(encoding="utf-8"))
    main = catalogue_of(document["catalogue"])
    snippets = [Saved(one["name"], text(one["description"]), one["code"]) for one in document["snippets"]]
    different = set()
    for case in document["cases"]:
        if case.get("catalogue") not in (None, "main without snippets"):
            continue
        given = main.search(case["input"], snippets if case.get("catalogue") is None else ())
        expected = [row["path"] for row in case["expected"]["results"]][:1]
        if [row["path"].removeprefix("snippet:") for row in given["results"]][:1] != expected:
            different.add(case["input"])
    assert different == set(DIFFERENT)


@pytest.mark.skipif(not VECTORS.exists(), reason="the shared vectors are not beside this checkout")
def test_descriptions_have_the_paths_of_the_reference_or_a_refusal() -> None:
    main_document = json.loads((VECTORS / "search.json").read_text(encoding="utf-8"))
    main = catalogue_of(main_document["catalogue"])
    snippets = [Saved(one["name"], text(one["description"]), one["code"]) for one in main_document["snippets"]]
    different = []
    for case in json.loads((VECTORS / "describe.json").read_text(encoding="utf-8"))["cases"]:
        try:
            described = main.describe(case["input"], snippets)
            expected = case["expected"]
            same = (described.path, described.kind) == (expected["path"], expected["kind"])
            if same:  # every property that the reference declares, and whether a person is asked
                declared = re.findall(r"^    \w.*;$", text(expected["types"]), re.MULTILINE)
                same = all(line in described.types for line in declared)
                same = same and described.requires_approval == bool(expected.get("requiresApproval"))
        except CodemodeError:
            same = "not found" in text(case["expected"]["types"])
        if not same:
            different.append(case["input"])
    assert different == [
        "harbour",  # the connector, not the snippet of its name
        "orchard.list_trees",  # the method, not the snippet of its name
        ".list_berths",  # two connectors have it
        "harbour.list_berths.extra",  # not found
        "harbour.constructor",  # nobody made it
        "toString",
    ]


def test_a_search_over_ten_thousand_methods_is_no_matter_of_seconds() -> None:
    verbs, nouns = ("create", "list", "delete", "get", "update"), ("issue", "repo", "user", "key")
    names = [f"{verb}_{noun}_{i}" for verb in verbs for noun in nouns for i in range(500)]
    many = Catalogue([CatalogueEntry("x", "", {name: Tool(name, print, f"To {name}.") for name in names})])  # type: ignore[arg-type]
    many.search("anything")
    begun = time.perf_counter()
    assert many.search("how do I delete a repo")["results"][0]["path"].startswith("x.delete_repo")
    assert time.perf_counter() - begun < 2
