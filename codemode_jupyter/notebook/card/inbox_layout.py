"""The inbox as a tree: how many runs wait, and how detached ones ended, with the button that says that it was seen.

Owns: its order and words. Never does: reading a runtime or the inbox.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from codemode_jupyter.notebook.card.element import Child, Element, element
from codemode_jupyter.notebook.card.layout import ROOT_CLASSES
from codemode_jupyter.notebook.card.result import value_layout
from codemode_jupyter.notebook.card.status import clock, execution_status
from codemode_jupyter.notebook.card.value_text import count
from codemode_jupyter.notebook.card.visible import visible_nodes
from codemode_jupyter.notebook.ids import short_id
from codemode_jupyter.runtime.detached_exit import DetachedExit
from codemode_jupyter.runtime.records import ExecutionRecord

_MESSAGE = 2_000
_CONSOLE = 4_000
_METADATA = 200


def inbox_layout(unseen: Sequence[DetachedExit], waiting: int, *, live: bool) -> Element:
    """Return the inbox; ``waiting`` is how many runs wait for a person. Only a ``live`` one has buttons."""
    badge = element("span", f"{len(unseen):,} new", class_="cm-badge", data_key="badge")
    head: list[Child] = [
        element("span", class_="cm-dot", aria_hidden="true"),
        " ",
        element("strong", "Inbox", class_="cm-status", role="status", aria_live="polite", tabindex=-1),
        " ",
        badge if unseen else element("span", "nothing new", class_="cm-soft", data_key="badge"),
        " ",
        element("span", f"{count(waiting, 'run')} waiting for you", class_="cm-tag") if waiting else None,
        _seen("", "All seen", "Mark all as seen") if live and len(unseen) > 1 else None,
    ]
    tone = "waiting" if waiting else "ok" if unseen else "quiet"
    return element(
        "section",
        element("header", head, class_="cm-head", data_key="head"),
        [_exit(exit_, live=live) for exit_ in unseen],
        class_=f"{ROOT_CLASSES} cm-{tone} cm-inbox",
        aria_label=f"Inbox: {len(unseen)} new",
        data_state=tone,
    )


def badge_layout(number: int) -> Element:
    """Return the line that says, below a cell, that something has arrived."""
    return element(
        "div",
        element("span", f"{number:,} new", class_="cm-badge"),
        f" {count(number, 'run')} ended in the background: ",
        element("code", "%codemode inbox"),
        " shows how.",
        class_=f"{ROOT_CLASSES} cm-said cm-soft",
    )


def exit_record(exit_: DetachedExit) -> ExecutionRecord:
    """Return what a card needs of an execution, made of nothing but its exit."""
    return ExecutionRecord(
        id=exit_.execution_id,
        code="",
        language="",
        status=exit_.status,
        connectors=(),
        created_at=exit_.created_at,
        updated_at=exit_.ended_at,
        passes=1,
        result=exit_.result,
        has_result=exit_.status == "completed",
        error=exit_.error,
    )


def _exit(exit_: DetachedExit, *, live: bool) -> Element:
    status = execution_status(replace(exit_record(exit_), error=exit_.error))
    words = ", ".join(f"{key}: {value}" for key, value in exit_.metadata.items())
    return element(
        "div",
        element(
            "div",
            element("strong", status.words),
            " ",
            element("span", visible_nodes(words[:_METADATA]), class_="cm-tag") if words else None,
            " ",
            element(
                "span",
                f"{clock(exit_.ended_at)} · exec {short_id(exit_.execution_id)}",
                class_="cm-meta",
                title=exit_.execution_id,
            ),
            _seen(exit_.id, "Seen", f"Mark run {short_id(exit_.execution_id)} as seen") if live else None,
            class_="cm-arrival",
        ),
        _came_to(exit_),
        _console(exit_.console),
        class_=f"cm-part cm-{status.tone}",
        role="group",
        aria_label=f"Run {short_id(exit_.execution_id)}: {status.words}",
        data_key=exit_.id,
    )


def _came_to(exit_: DetachedExit) -> Child:
    if exit_.error is not None:
        return element("div", visible_nodes(exit_.error.message[:_MESSAGE]), class_="cm-message")
    if exit_.result is None:
        return None
    return element("div", value_layout(exit_.result), class_="cm-result")


def _console(text: str) -> Element | None:
    if not text:
        return None
    return element(
        "details",
        element("summary", "Console", class_="cm-soft"),
        element("pre", visible_nodes(text[-_CONSOLE:]), class_="cm-text cm-scroll"),
    )


def _seen(exit_id: str, words: str, accessible: str) -> Element:
    return element(
        "button",
        words,
        type="button",
        class_="cm-button cm-stop",
        aria_label=accessible,
        data_action="seen",
        data_execution=exit_id,
        data_key=f"seen-{exit_id}",
    )
