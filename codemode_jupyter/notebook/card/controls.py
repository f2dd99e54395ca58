"""The controls below the newest finished run: save its program as a snippet, undo its calls.

Owns: their layout, what they do, and the one place that knows which controls are the newest. Never does: drawing the
run. Used once, they give way to one line of text that says what was done.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from codemode_jupyter.errors import CodemodeError
from codemode_jupyter.notebook.card.calls import call_name
from codemode_jupyter.notebook.card.drawer import drawer, field
from codemode_jupyter.notebook.card.element import Element, element
from codemode_jupyter.notebook.card.layout import ROOT_CLASSES, notices_layout
from codemode_jupyter.notebook.card.outputs import Output, static_bundle
from codemode_jupyter.notebook.card.value_text import count
from codemode_jupyter.notebook.card.visible import visible, visible_nodes
from codemode_jupyter.notebook.card.widget import Action, CardWidget
from codemode_jupyter.notebook.ids import short_id
from codemode_jupyter.runtime.records import CallRecord, ExecutionRecord
from codemode_jupyter.runtime.rollback import RollbackEntry, RollbackReport
from codemode_jupyter.runtime.runtime import Runtime

_NAME_LENGTH = 100
_DESCRIPTION_LENGTH = 500
_LISTED = 50


def revertible(record: ExecutionRecord) -> list[CallRecord]:
    """Return the calls that a rollback would undo, in the order in which it would: newest first."""
    return [call for call in reversed(record.calls) if call.state == "applied" and call.can_revert]


def controls_layout(
    record: ExecutionRecord, notices: Sequence[str] = (), *, replacing: str | None = None
) -> Element | None:
    """Return the controls that apply to a finished execution, or ``None``; ``replacing``: a snippet that exists."""
    undoable = revertible(record)
    saveable = record.status == "completed"
    if not undoable and not saveable:
        return None
    return element(
        "section",
        element(
            "div",
            _save(record, replacing) if saveable else None,
            _roll_back(record, undoable) if undoable else None,
            class_="cm-controls",
            data_key="controls",
        ),
        notices_layout(notices),
        class_=f"{ROOT_CLASSES} cm-below",
        aria_label=f"Controls of run {short_id(record.id)}",
    )


def _save(record: ExecutionRecord, replacing: str | None) -> Element:
    return drawer(
        "Save as snippet…",
        "save",
        field("Name", "name", _NAME_LENGTH),
        field("Description (optional)", "description", _DESCRIPTION_LENGTH),
        element(
            "button",
            "Replace" if replacing else "Save",
            type="button",
            class_="cm-button cm-primary",
            aria_label=f"Replace snippet {visible(replacing)}" if replacing else None,
            data_action="replace" if replacing else "save",
            data_execution=record.id,
            data_busy="saving…",
            data_key="submit",
        ),
    )


def _roll_back(record: ExecutionRecord, calls: Sequence[CallRecord]) -> Element:
    listed = [element("li", element("code", visible_nodes(call_name(call)))) for call in calls[:_LISTED]]
    if len(calls) > _LISTED:
        listed.append(element("li", f"… and {count(len(calls) - _LISTED, 'more call')}"))
    return drawer(
        "Roll back…",
        "rollback",
        element(
            "div",
            element("div", f"This undoes {count(len(calls), 'call')}, newest first:"),
            element("ol", listed),
            class_="cm-which",
        ),
        element(
            "button",
            f"Undo {count(len(calls), 'call')}",
            type="button",
            class_="cm-button cm-primary",
            data_action="rollback",
            data_execution=record.id,
            data_busy="rolling back…",
            data_key="submit",
        ),
    )


def done_layout(sentence: str, record: ExecutionRecord) -> Element:
    """Return the line that takes the controls' place."""
    return element(
        "div",
        visible_nodes(sentence),
        " ",
        element("code", f"%codemode show {short_id(record.id)}"),
        " brings the controls back.",
        class_=f"{ROOT_CLASSES} cm-said cm-soft",
    )


def rollback_sentence(report: RollbackReport) -> str:
    """Return what a rollback came to: how many calls were undone, and which were not and why."""
    undone = f"Rolled back: {count(len(report.reverted), 'call')} undone" if report.reverted else "Nothing was undone"
    parts = [undone]
    for words, entries in (("failed", report.failed), ("in doubt", report.doubtful), ("not undone", report.skipped)):
        if entries:
            parts.append(f"{len(entries):,} {words} ({'; '.join(_entry(entry) for entry in entries[:_LISTED])})")
    return ", ".join(parts) + "."


def _entry(entry: RollbackEntry) -> str:
    name = f"{entry.connector}.{entry.method}"
    return f"{name}: {entry.message[:200]}" if entry.message else name


class Controls:
    """The controls of one finished execution in the output that was kept for them."""

    def __init__(self, runtime: Runtime, record: ExecutionRecord, output: Output) -> None:
        self._runtime = runtime
        self._record = record
        self._output = output
        self._widget: CardWidget | None = None
        self._work: asyncio.Task[None] | None = None
        self._replacing: str | None = None
        tree = controls_layout(record)
        if tree is not None:
            self._widget = CardWidget(tree, self._on_action, asyncio.get_running_loop())
            output.replace(self._widget.bundle())

    def withdraw(self) -> None:
        """Take the controls away; what is under way goes on and says what it came to."""
        if self._widget is not None and self._work is None:
            self._output.clear()
            self._close(element("div"))

    def _close(self, left: Element) -> None:
        widget, self._widget = self._widget, None
        if widget is not None:
            widget.close_with(left)

    def _on_action(self, action: Action) -> None:
        if (
            self._work is None
            and action.execution_id == self._record.id
            and action.name in ("save", "replace", "rollback")
        ):
            self._work = asyncio.get_running_loop().create_task(self._perform(action))

    async def _perform(self, action: Action) -> None:
        try:
            if action.name == "rollback":
                done, problem = rollback_sentence(await self._runtime.rollback(self._record.id)), ""
            else:
                done, problem = await self._save(action)
        except CodemodeError as error:
            done, problem = "", str(error)
        except Exception as error:  # noqa: BLE001  said in the output: a background task has no other place
            done, problem = "", f"That failed: {type(error).__name__}: {error}"
        if done:
            line = done_layout(done, self._record)
            self._output.replace(static_bundle(line))
            self._close(line)
        elif (
            self._widget is not None
            and (tree := controls_layout(self._record, [problem], replacing=self._replacing)) is not None
        ):
            self._widget.show(tree)
        self._work = None

    async def _save(self, action: Action) -> tuple[str, str]:
        """Save, and return what was done, or what stands in the way: a snippet is replaced only on request."""
        name = action.fields.get("name", "").strip()
        if not name:
            return "", "A snippet needs a name."
        existing = next((snippet for snippet in await self._runtime.snippets() if snippet.name == name), None)
        asked, self._replacing = self._replacing, None
        if existing is not None and (action.name, asked) != ("replace", name):
            self._replacing = name
            about = f" ({existing.description[:100]})" if existing.description else ""
            return "", f'A snippet named "{name}" exists{about}. Replace it, or choose another name.'
        description = action.fields.get("description", "").strip()
        await self._runtime.save_snippet(name, execution_id=self._record.id, description=description)
        replaced = " in place of the one before" if existing is not None else ""
        return f'Saved as snippet "{name}"{replaced}.', ""


class NewestControls:
    """Knows which controls are the newest; there are none but these."""

    def __init__(self) -> None:
        self._controls: Controls | None = None

    def offer(self, controls: Controls) -> None:
        """Make ``controls`` the newest; the ones before are withdrawn."""
        self.withdraw()
        self._controls = controls

    def withdraw(self) -> None:
        """Take the newest controls away, because another run has begun."""
        if self._controls is not None:
            self._controls.withdraw()
            self._controls = None


newest_controls = NewestControls()
"""One kernel has one newest run."""
