"""Values, tables and facts as text and as HTML for people.

Whatever was recorded is foreign text: in HTML all of it is escaped, and nowhere can it
drive a terminal.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from html import escape
from math import isfinite

from plimsoll.text.plain_text import plain_text
from plimsoll.text.units import format_number

_ABSENT = "-"
_LONGEST = 60
_NUMERIC = "text-align:right;font-variant-numeric:tabular-nums"
_TEXTUAL = "text-align:left"


def shown(value: object, most: int | None = None) -> str:
    """A value in one line: whole numbers in full, others to six digits, times in UTC.

    It has at most `most` characters.
    """
    match value:
        case None:
            text = _ABSENT
        case bool():
            text = "yes" if value else "no"
        case int():
            text = f"{value:,}"
        case float():
            text = format_number(value, 6) if isfinite(value) else str(value)
        case datetime():
            text = value.isoformat(sep=" ", timespec="milliseconds").removesuffix("+00:00")
        case dict():
            text = ", ".join(f"{name}={each}" for name, each in value.items())
        case _:
            text = str(value)
    return plain_text(text, most)


def text_table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Lines of aligned columns, numbers to the right; no line break at the end."""
    values = [list(row) for row in rows]
    cells = [
        [plain_text(name) for name in head],
        *([shown(v, _LONGEST) for v in row] for row in values),
    ]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    numeric = [_is_numeric(column) for column in _columns(values, len(head))]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(line, widths, numeric, strict=True)
        ).rstrip()
        for line in cells
    )


def html_table(caption: str, head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table with a caption and column headings, for screen readers too."""
    values = [list(row) for row in rows]
    numeric = [_is_numeric(column) for column in _columns(values, len(head))]
    styles = [_NUMERIC if right else _TEXTUAL for right in numeric]
    headings = "".join(
        f'<th scope="col" style="{style}">{_escaped(name)}</th>'
        for name, style in zip(head, styles, strict=True)
    )
    lines = "".join(f"<tr>{_cells(row, styles)}</tr>" for row in values)
    return (
        f'<table><caption style="text-align:left">{_escaped(caption)}</caption>'
        f"<thead><tr>{headings}</tr></thead><tbody>{lines}</tbody></table>"
    )


def html_facts(caption: str, facts: Iterable[tuple[str, object]]) -> str:
    """A table with a line for each fact, its name as the line's heading."""
    lines = "".join(
        f'<tr><th scope="row" style="{_TEXTUAL}">{_escaped(name)}</th>'
        f'<td style="{_TEXTUAL}">{escape(shown(value))}</td></tr>'
        for name, value in facts
    )
    return (
        f'<table><caption style="text-align:left"><strong>{_escaped(caption)}</strong></caption>'
        f"<tbody>{lines}</tbody></table>"
    )


def html_note(text: str) -> str:
    """A sentence beneath a table."""
    return f"<p><small>{_escaped(text)}</small></p>"


def _escaped(text: str) -> str:
    return escape(plain_text(text))


def _cells(row: Sequence[object], styles: Sequence[str]) -> str:
    return "".join(
        f'<td style="{style}">{escape(shown(value, _LONGEST))}</td>'
        for value, style in zip(row, styles, strict=True)
    )


def _columns(rows: Sequence[Sequence[object]], count: int) -> list[list[object]]:
    return [[row[index] for row in rows] for index in range(count)]


def _is_numeric(values: Iterable[object]) -> bool:
    known = [value for value in values if value is not None]
    return bool(known) and all(
        isinstance(value, int | float) and not isinstance(value, bool) for value in known
    )
