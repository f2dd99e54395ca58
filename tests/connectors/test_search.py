"""Plain questions find what answers them, with and without a model, fast, over ten thousand methods."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from codemode_jupyter.connectors.base import load_tools
from codemode_jupyter.connectors.catalogue import Catalogue, CatalogueEntry
from codemode_jupyter.connectors.openapi.connector import OpenApiConnector
from codemode_jupyter.connectors.search.model import semantic
from codemode_jupyter.connectors.tool import Tool
from codemode_jupyter.errors import CodemodeError

REAL = Path(__file__).parents[3] / "shared" / "real"
DOCUMENTS = {"github": "github-openapi.json", "figma": "figma-openapi.json"}
QUESTIONS = json.loads((Path(__file__).parent / "questions.json").read_text(encoding="utf-8"))

Tools = dict[str, Tool]


@pytest.fixture(scope="module")
def real_tools() -> dict[str, Tools]:
    """Return the tools of real documents by connector."""
    if not REAL.exists():
        pytest.skip("the shared documents are not beside this checkout")
    import asyncio

    return {name: asyncio.run(load_tools(OpenApiConnector(name, REAL / file))) for name, file in DOCUMENTS.items()}


def places(tools: dict[str, Tools], embed: Any = None) -> Iterator[tuple[bool, int]]:
    """Yield for each question whether it is a kept one, and the place of its answer (99: not in the first ten)."""
    for name, methods in tools.items():
        catalogue = Catalogue([CatalogueEntry(name, "", methods)], embed=embed)
        for index, one in enumerate(QUESTIONS[name]):
            assert set(one["answers"]) <= set(methods), one
            found = [row["method"] for row in catalogue.search(one["question"])["results"]]
            yield index % 2 == 1, next((at for at, method in enumerate(found) if method in one["answers"]), 99)


def shares(found: list[int]) -> dict[int, float]:
    return {count: sum(place < count for place in found) / len(found) for count in (1, 5, 10)}


@pytest.mark.parametrize(
    ("embed", "floor"), [(None, (0.33, 0.55)), (semantic, (0.33, 0.62))], ids=["words", "semantic"]
)
def test_questions_that_tuned_nothing_find_their_answer(
    real_tools: dict[str, Tools], embed: Any, floor: tuple[float, float], record_property: Any
) -> None:
    if embed is not None:
        pytest.importorskip("wordllama", reason="the extra [semantic] is not installed")
    found = list(places(real_tools, embed))
    kept = shares([place for is_kept, place in found if is_kept])
    tuned = shares([place for is_kept, place in found if not is_kept])
    print({"kept": kept, "tuned": tuned, "questions": len(found)})  # noqa: T201  figures, with -s
    record_property("kept", kept)
    assert kept[1] >= floor[0]
    assert kept[5] >= floor[1]


def test_ten_thousand_methods_are_searched_in_milliseconds(real_tools: dict[str, Tools], record_property: Any) -> None:
    github = list(real_tools["github"].values())
    many = {f"{tool.name}_{i // len(github)}": tool for i in range(10_000) for tool in [github[i % len(github)]]}
    tools = {name: Tool(name, tool.call, tool.description, tool.input_schema) for name, tool in many.items()}
    names = list(tools)
    bounds = [0, 5000, *range(5625, 10_001, 625)]  # one large connector and eight small ones
    parts = [{name: tools[name] for name in names[low:high]} for low, high in pairwise(bounds)]
    catalogue = Catalogue([CatalogueEntry(f"github_{at}", "", part) for at, part in enumerate(parts)])
    begun = time.thread_time()
    catalogue.search("anything")
    built = time.thread_time() - begun
    costs = []
    everywhere = ["github", "github get list", "repository", "get"]  # words that all or most methods have
    for question in everywhere * 5 + [one["question"] for one in QUESTIONS["github"]]:
        begun = time.thread_time()
        assert catalogue.search(question)["total"] > 0
        costs.append(1000 * (time.thread_time() - begun))
    costs.sort()
    figures = {"build s": built, "median ms": costs[len(costs) // 2], "slowest ms": costs[-1]}
    print(figures)  # noqa: T201  figures, with -s
    record_property("figures", figures)
    assert figures["median ms"] < 10
    assert costs[int(len(costs) * 0.95)] < 10
    assert built < 30


SMALL = {
    name: Tool(name, print, description)  # type: ignore[arg-type]
    for name, description in {
        "delete_repository": "Delete a repository.",
        "create_pull_request": "Open a pull request.",
        "list_webhooks": "List webhooks.",
        "enable_workflow": "Enable a workflow.",
        "get_rate_limit": "Get rate limit status.\n\nGET /rate_limit",
        "größe_messen": "Misst die Größe.",
        "list_repositories": "List repositories.",
        "legacy_list_teams": "Deprecated. List teams.",
        "list_teams": "List teams.",
        "update_config_map": "Replace a config map.",
    }.items()
}


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("get rid of a repo", "delete_repository"),
        ("bin a repo", "delete_repository"),
        ("open a pr", "create_pull_request"),
        ("which web hooks are there?", "list_webhooks"),
        ("turn on a workflow", "enable_workflow"),
        ("how many calls do I have left?", "get_rate_limit"),
        ("GROESSE Größe", "größe_messen"),
        ("webhoks", "list_webhooks"),
        ("show me all my repositories", "list_repositories"),
        ("show teams", "list_teams"),
        ("configmap", "update_config_map"),
    ],
)
def test_people_s_words_mean_the_service_s(question: str, first: str) -> None:
    assert Catalogue([CatalogueEntry("x", "", SMALL)]).search(question)["results"][0]["method"] == first


@pytest.mark.parametrize("verb", ["crete", "craete", "creat", "ceate"])
def test_a_mistyped_verb_still_says_what_is_to_be_done(verb: str) -> None:
    names = ("get_gist", "list_gists", "create_gist", "delete_gist")
    gists = {name: Tool(name, print, f"{name.replace('_', ' ')}.") for name in names}  # type: ignore[arg-type]
    found = Catalogue([CatalogueEntry("x", "", gists)]).search(f"{verb} a gist")["results"]
    assert found[0]["method"] == "create_gist"


def test_vectors_are_made_once_and_find_what_words_do_not() -> None:
    asked: list[int] = []

    def embed(texts: list[str]) -> list[list[float]]:
        asked.append(len(texts))
        return [[1.0, 0.1] if "pull request" in text or "contribution" in text else [0.1, 1.0] for text in texts]

    catalogue = Catalogue([CatalogueEntry("x", "", SMALL)], embed=embed)
    for _ in range(2):
        assert catalogue.search("propose my contribution")["results"][0]["method"] == "create_pull_request"
    assert asked == [len(SMALL), 1, 1]


@pytest.mark.parametrize("answer", [[[1.0]], "text", None, [[1.0], [2.0, 3.0]], [1.0] * len(SMALL)])
def test_what_is_no_vectors_is_refused(answer: Any) -> None:
    with pytest.raises(CodemodeError) as refusal:
        Catalogue([CatalogueEntry("x", "", SMALL)], embed=lambda _: answer).search("anything")
    assert refusal.value.code == "invalid_vectors"


def test_an_embedding_that_raises_is_named() -> None:
    def embed(texts: list[str]) -> Any:
        raise OSError("no route")

    with pytest.raises(CodemodeError, match="OSError: no route") as refusal:
        Catalogue([CatalogueEntry("x", "", SMALL)], embed=embed).search("anything")
    assert refusal.value.code == "embed_failed"


def test_what_did_not_change_is_not_indexed_again() -> None:
    first = Catalogue([CatalogueEntry("x", "", SMALL), CatalogueEntry("y", "", dict(SMALL))])
    first.search("teams")
    second = Catalogue([CatalogueEntry("x", "", SMALL), CatalogueEntry("y", "", {})], Catalogue([], first))
    assert [row["path"] for row in second.search("teams")["results"]] == ["x.list_teams", "x.legacy_list_teams"]
    assert second._indexes["x"] is first._indexes["x"]
    assert second._indexes["y"] is not first._indexes["y"]


def test_a_miss_among_very_many_names_is_answered_at_once() -> None:
    tools = {f"tool_number_{i}": Tool(f"tool_number_{i}", print) for i in range(5000)}  # type: ignore[arg-type]
    catalogue = Catalogue([CatalogueEntry("x", "", tools)])
    begun = time.thread_time()
    with pytest.raises(CodemodeError, match=r"x\.tool_number_77"):
        catalogue.describe("x.tool_nmber_77")
    assert time.thread_time() - begun < 2


def test_a_connector_with_very_many_tools_is_listed_not_declared() -> None:
    tools = {f"tool_{i}": Tool(f"tool_{i}", print, f"Does {i}.\n\nMore.") for i in range(5000)}  # type: ignore[arg-type]
    types = Catalogue([CatalogueEntry("x", "", tools)]).describe("x").types
    assert len(types) < 110_000
    assert "x has 5000 methods." in types
    assert "\ntool_7: Does 7.\n" in types
    assert "type Tool7Input" in Catalogue([CatalogueEntry("x", "", tools)]).describe("x.tool_7").types
