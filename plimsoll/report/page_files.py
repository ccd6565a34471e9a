"""A page's tables and charts as files of their own."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import vl_convert

from plimsoll.record.files.record_error import write_failed
from plimsoll.record.files.whole_file import write_whole
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.report.figures.figure import PRINT
from plimsoll.report.parts.run_head import load_head
from plimsoll.report.registry import make_page
from plimsoll.text.plain_text import slug, spreadsheet_text

_HEADINGS = ("h1", "h2", "h3", "summary", "caption")
_CELLS = ("td", "th")
# They hold others of the same name, and the way to a table leads through them.
_NESTING = ("section", "details", "li")
_DIGIT = re.compile(r"\d")
_UNNAMED = ("", "Table")


@dataclass(frozen=True, slots=True)
class PageTable:
    """`name` is a file name that no other table of the page has. Rows are the heading and others.

    A row that unfolds a reason below the row before it is added to that as one more cell.
    """

    name: str
    rows: tuple[tuple[str, ...], ...]


def page_tables(page: str) -> tuple[PageTable, ...]:
    """All tables of a page of the report, in its order."""
    reader = _Reader()
    reader.feed(page)
    reader.close()
    taken: Counter[str] = Counter()
    return tuple(_named(each, taken) for each in reader.tables if each.rows)


@dataclass
class _Found:
    place: str
    title: str
    rows: list[list[str]] = field(default_factory=list)


def _named(found: _Found, taken: Counter[str]) -> PageTable:
    place = slug(found.place)
    title = slug(found.title).removesuffix(f"-of-{place}")
    # A title with a figure in it would name the same table otherwise in the next run.
    known = dict.fromkeys(part for part in (place, "" if _DIGIT.search(title) else title) if part)
    name = "-".join(known) or "table"
    taken[name] += 1
    number = f"-{taken[name]}" if taken[name] > 1 else ""
    return PageTable(f"{name}{number}", tuple(map(tuple, found.rows)))


class _Reader(HTMLParser):
    """Reads our own pages: every element is closed, and no table is within another."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tables: list[_Found] = []
        self._places: list[str] = []
        self._heading = ""
        self._label = ""
        self._text: list[str] | None = None
        self._cell: list[str] | None = None
        self._in_table = False
        self._spanned = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take note of where the reader is."""
        given = {name: value or "" for name, value in attrs}
        if tag in _NESTING:
            self._places.append(given.get("id", ""))
        if tag in _HEADINGS and self._cell is None:
            self._text = []
        elif tag == "div" and given.get("role") == "region":
            self._label = given.get("aria-label", "")
        elif tag == "table":
            self._begin_table()
        elif tag == "tr" and self._in_table:
            self.tables[-1].rows.append([])
        elif tag in _CELLS and self._in_table:
            self._cell, self._spanned = [], "colspan" in given
        elif tag in ("br", "p", "summary") and self._cell is not None:
            self._cell.append(" ")

    def handle_endtag(self, tag: str) -> None:
        """Complete what ends here."""
        if tag in _NESTING and self._places:
            self._places.pop()
        if tag in _HEADINGS and self._text is not None:
            title, self._text = _words(self._text), None
            if tag == "caption" and self._in_table:
                self.tables[-1].title = title
            else:
                self._heading = title
        elif tag in _CELLS and self._cell is not None:
            self._end_cell(_words(self._cell))
        elif tag == "table":
            self._in_table, self._label = False, ""

    def handle_data(self, data: str) -> None:
        """Text of a cell or a heading."""
        for words in (self._text, self._cell):
            if words is not None:
                words.append(data)

    def _begin_table(self) -> None:
        place = next((each for each in reversed(self._places) if each), "")
        title = self._heading if self._label in _UNNAMED else self._label
        self.tables.append(_Found(place, title))
        self._in_table = True

    def _end_cell(self, text: str) -> None:
        rows, self._cell = self.tables[-1].rows, None
        if not self._spanned:
            rows[-1].append(text)
        elif text:
            # A reason that unfolds: it belongs to the row above.
            rows.pop()
            rows[-1].append(text)


def _words(pieces: list[str]) -> str:
    return " ".join("".join(pieces).split())


def export_tables(run: RunDirectory) -> list[Path]:
    """Write `<run>/tables/<name>.csv` of each table of the run's report.html.

    Raises RecordError where the page cannot be read or a file not be written.
    """
    try:
        tables = page_tables(run.report.read_text(encoding="utf-8"))
        if not tables:
            return []
        run.tables.mkdir(exist_ok=True)
    except OSError as error:
        raise write_failed(run.tables, error) from error
    return [_write_table(run.tables / f"{table.name}.csv", table) for table in tables]


def _write_table(path: Path, table: PageTable) -> Path:
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    width = max(map(len, table.rows))
    for row in table.rows:
        writer.writerow([*map(_cell, row), *[""] * (width - len(row))])
    write_whole(path, text.getvalue(), durable=False)
    return path


def _cell(text: str) -> str:
    """Of a page's dash, for what is not known, nothing."""
    return "" if text == "-" else spreadsheet_text(text)


WIDTH = 900
# Twice the size on screen: sharp on paper and on dense displays.
_PNG_SCALE = 2.0


def export_charts(run: RunDirectory) -> list[Path]:
    """Write `<run>/charts/<name>.svg` and `.png` of each chart that has something to show.

    Raises RecordError when the run cannot be read or the files not be written.
    """
    paths: list[Path] = []
    for figure in make_page(run, load_head(run)).figures:
        specification = figure.specification()
        if specification is not None:
            paths += _export(_on_paper(specification, figure.title), run.charts / figure.name)
    return paths


def _on_paper(specification: dict[str, Any], title: str) -> dict[str, Any]:
    heading = {"text": title, "anchor": "start", "fontSize": 15, "offset": 12}
    return {**specification, "width": WIDTH, "title": heading, "config": PRINT}


def _export(specification: dict[str, Any], stem: Path) -> list[Path]:
    svg = vl_convert.vegalite_to_svg(specification)
    png = vl_convert.vegalite_to_png(specification, scale=_PNG_SCALE)
    return [
        _write_chart(stem.with_suffix(".svg"), lambda path: path.write_text(svg, encoding="utf-8")),
        _write_chart(stem.with_suffix(".png"), lambda path: path.write_bytes(png)),
    ]


def _write_chart(path: Path, write: Callable[[Path], int]) -> Path:
    try:
        path.parent.mkdir(exist_ok=True)
        write(path)
    except OSError as error:
        raise write_failed(path, error) from error
    return path
