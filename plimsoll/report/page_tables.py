"""The tables of a page, read back from its HTML: those that people see, and none is forgotten."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from html.parser import HTMLParser

from plimsoll.text.plain_text import slug

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
