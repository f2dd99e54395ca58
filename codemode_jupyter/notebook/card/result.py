"""The layout of a value: text, table, tree, bytes, or a word for nothing.

Owns: which form a value takes, and how much of it is shown. Never does: anything about executions.
Every bound says what was left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from codemode_jupyter.notebook.card.element import Element, Node, element
from codemode_jupyter.notebook.card.value_text import (
    Container,
    count,
    holds_others,
    is_records,
    key_text,
    one_line,
    preview,
    scalar,
)
from codemode_jupyter.notebook.card.visible import visible_nodes

ROWS = 50
COLUMNS = 12
TEXT = 20_000
_TREE_NODES = 1_000
_TREE_CHILDREN = 100
_TREE_DEPTH = 12
_SHORT = 100
_LEAF = 2_000
_CELL = 60
_HEX_ROWS = 8
_HEX_WIDTH = 16


def value_layout(value: object) -> Element:
    """Return the elements that show ``value``."""
    if isinstance(value, str):
        return text_layout(value)
    if isinstance(value, bytes | bytearray):
        return _bytes_layout(bytes(value))
    if is_records(value):
        return _table_layout(value)
    if holds_others(value) and value:
        written = one_line(value, _SHORT)
        if written.complete:
            return element("div", element("code", visible_nodes(written.text)), class_="cm-value")
        return element("div", _branch(value, 0, _Budget(_TREE_NODES)), class_="cm-value cm-tree")
    return element("div", element("code", visible_nodes(preview(value, TEXT))), class_="cm-value")


def text_layout(text: str, limit: int = TEXT) -> Element:
    """Return text as it is, bounded."""
    if not text:
        return element("div", element("span", "An empty text.", class_="cm-soft"), class_="cm-value")
    return element(
        "div",
        element("pre", visible_nodes(text[:limit]), class_="cm-text"),
        left_out(f"{count(len(text) - limit, 'character')} of {len(text):,} not shown") if len(text) > limit else None,
        class_="cm-value",
    )


def left_out(what: str) -> Element:
    """Return the line that says what is not shown."""
    return element("div", f"… {what}.", class_="cm-soft cm-left-out")


# ---- table


def _table_layout(rows: Sequence[Mapping[object, object]]) -> Element:
    names: dict[object, None] = {}
    for row in rows[:ROWS]:
        names.update(dict.fromkeys(islice(row, 10 * COLUMNS)))
    columns = list(islice(names, COLUMNS))
    numeric = {name for name in columns if all(_is_number(row.get(name)) for row in rows[:ROWS])}
    head = element(
        "tr",
        [element("th", visible_nodes(_header(name)), scope="col", class_=_side(name, numeric)) for name in columns],
    )
    body = [
        element("tr", [element("td", _cell(row, name), class_=_side(name, numeric)) for name in columns])
        for row in rows[:ROWS]
    ]
    missing = []
    if len(rows) > ROWS:
        missing.append(f"{len(rows) - ROWS:,} of {count(len(rows), 'row')}")
    if len(names) > COLUMNS:
        missing.append(f"{len(names) - COLUMNS:,} of {count(len(names), 'column')}")
    return element(
        "div",
        element(
            "div",
            element("table", element("thead", head), element("tbody", body), class_="cm-table"),
            class_="cm-wide",
            tabindex=0,
            role="region",
            aria_label=f"Table: {count(len(rows), 'row')}, {count(len(names), 'column')}",
        ),
        left_out(" and ".join(missing) + " not shown") if missing else None,
        class_="cm-value",
    )


def _header(name: object) -> str:
    return preview_text(name) if isinstance(name, str) else key_text(name)


def preview_text(text: str, limit: int = _CELL) -> str:
    """Return a text on one line without quotation marks, at most ``limit`` characters."""
    line = text[: limit + 1].replace("\n", " ⏎ ").replace("\t", " ")
    return line if len(line) <= limit else line[: limit - 1] + "…"


def _is_number(value: object) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))


def _side(name: object, numeric: set[object]) -> str | None:
    return "cm-number" if name in numeric else None


def _cell(row: Mapping[object, object], name: object) -> tuple[Node, ...] | Element:
    if name not in row:
        return element("span", "", aria_label="no value")
    value = row[name]
    if value is None:
        return element("span", "null", class_="cm-soft")
    return visible_nodes(preview_text(value) if isinstance(value, str) else preview(value, _CELL))


# ---- tree


@dataclass(slots=True)
class _Budget:
    """How many nodes a tree may still have."""

    left: int


def _branch(value: Container, depth: int, budget: _Budget) -> Element:
    entries = list(islice(_entries(value), _TREE_CHILDREN))
    size = len(value)
    items: list[Element] = []
    for key, item in entries:
        if budget.left <= 0:
            break
        budget.left -= 1
        items.append(element("li", _entry(key, item, depth + 1, budget)))
    if len(items) < size:
        items.append(element("li", left_out(f"{size - len(items):,} of {count(size, _noun(value))} not shown")))
    return element("ul", items, class_="cm-branch")


def _entry(key: str, item: object, depth: int, budget: _Budget) -> Element:
    name = element("span", visible_nodes(key), ":", class_="cm-key")
    if not holds_others(item) or not item:
        return element("div", name, " ", _leaf(item), class_="cm-leaf")
    short = preview(item, 60)
    if depth > 1 and one_line(item, 60).complete:
        return element("div", name, " ", element("code", visible_nodes(short)), class_="cm-leaf")
    if depth >= _TREE_DEPTH:
        return element(
            "div",
            name,
            " ",
            element("code", visible_nodes(short)),
            " ",
            left_out("Deeper levels not shown"),
            class_="cm-leaf",
        )
    summary = element(
        "summary",
        name,
        " ",
        element("span", count(len(item), _noun(item)), class_="cm-soft"),
        " ",
        element("code", visible_nodes(short), class_="cm-soft cm-peek"),
    )
    return element(
        "details", summary, _branch(item, depth, budget), open=depth <= 1 and len(item) <= _TREE_CHILDREN // 4
    )


def _leaf(item: object) -> Element:
    if isinstance(item, str) and (len(item) > _SHORT or "\n" in item):
        return element("pre", visible_nodes(item[:_LEAF]), "…" if len(item) > _LEAF else None, class_="cm-text")
    return element(
        "code",
        visible_nodes(scalar(item, _LEAF) if not holds_others(item) else preview(item)),
    )


def _entries(value: Container) -> Iterator[tuple[str, object]]:
    if isinstance(value, Mapping):
        return ((preview_key(key), item) for key, item in value.items())
    return ((str(index), item) for index, item in enumerate(value))


def preview_key(key: object) -> str:
    """Return a key as it is written before its colon, bounded."""
    text = key_text(key[:_SHORT] if isinstance(key, str) else key)
    return text + "…" if isinstance(key, str) and len(key) > _SHORT else text


def _noun(value: object) -> str:
    return "key" if isinstance(value, Mapping) else "item"


# ---- bytes


def _bytes_layout(data: bytes) -> Element:
    rows = [data[start : start + _HEX_WIDTH] for start in range(0, min(len(data), _HEX_ROWS * _HEX_WIDTH), _HEX_WIDTH)]
    dump = "\n".join(
        f"{i * _HEX_WIDTH:08x}  {row.hex(' '):<{_HEX_WIDTH * 3 - 1}}  {_printable(row)}" for i, row in enumerate(rows)
    )
    shown = _HEX_ROWS * _HEX_WIDTH
    return element(
        "div",
        element("div", element("strong", count(len(data), "byte"))),
        element("pre", dump, class_="cm-text") if data else None,
        left_out(f"{count(len(data) - shown, 'byte')} not shown") if len(data) > shown else None,
        class_="cm-value",
    )


def _printable(row: bytes) -> str:
    return "".join(chr(byte) if 0x20 <= byte < 0x7F else "·" for byte in row)  # noqa: PLR2004  printable ASCII
