"""Tools of other libraries in a real program: checked, approved, recorded once, and their errors caught."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.tools import ToolException
from langchain_core.tools import tool as langchain_tool
from pydantic import BaseModel
from pydantic_ai import ModelRetry
from pydantic_ai.toolsets import FunctionToolset

from codemode_jupyter import Runtime, ToolSetConnector
from codemode_jupyter.sandbox.deno import DenoExecutor, find_deno

pytestmark = pytest.mark.skipif(find_deno() is None, reason="no Deno: pip install 'codemode-jupyter[headless]'")


class Note(BaseModel):
    text: str
    tags: list[str] = []


async def test_a_program_uses_tools_of_three_libraries_and_waits_for_one_approval(tmp_path: Any) -> None:
    removed: list[str] = []

    @langchain_tool(response_format="content_and_artifact")
    def find(text: str) -> tuple[str, list[Note]]:
        """Find notes."""
        if not text:
            raise ToolException("nothing to look for")
        return f"1 note on {text}", [Note(text=text, tags=["x"])]

    notes: FunctionToolset[Any] = FunctionToolset()

    @notes.tool_plain(requires_approval=True)
    def remove(text: str) -> int:
        """Remove a note."""
        removed.append(text)
        return len(removed)

    @notes.tool_plain
    def rename(text: str) -> str:
        """Rename."""
        raise ModelRetry("say the new name")

    count = {"name": "count-words", "input_schema": {"properties": {"text": {"type": "string"}}, "required": ["text"]}}
    connector = ToolSetConnector([find, notes, (count, lambda text: len(text.split()))])
    executor = DenoExecutor()
    runtime = Runtime([connector], executor=executor, path=tmp_path / "store.sqlite3")
    try:
        outcome = await runtime.execute("""async () => {
            const said = [];
            for (const call of [() => tools.find(""), () => tools.rename("x"), () => tools.count_words({txt: 1})])
                try { await call() } catch (error) { said.push([error.code, error.message]) }
            const {content, artifact} = await tools.find({text: "a b"});
            const words = await tools.count_words(artifact[0].text);
            return {said, content, tags: artifact[0].tags, words, removed: await tools.remove(artifact[0].text)};
        }""")
        assert outcome.status == "paused", outcome
        assert removed == []
        assert [call.args for call in outcome.pending] == [{"text": "a b"}]
        outcome = await runtime.approve(outcome.execution_id)
        assert outcome.status == "completed", outcome
        assert removed == ["a b"]
        said = outcome.result.pop("said")
        assert outcome.result == {"content": "1 note on a b", "tags": ["x"], "words": 2, "removed": 1}
        assert said[0] == ["tool_failed", "nothing to look for"]
        assert said[1] == ["tool_failed", "say the new name"]
        assert said[2][0] == "invalid_arguments"
        assert "count_words do not fit: text: is missing; txt: unknown argument. Did you mean text?" in said[2][1]
    finally:
        await runtime.close()
        await executor.close()
