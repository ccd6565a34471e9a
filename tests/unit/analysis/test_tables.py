"""Tables of plain values in every form, and how anything is shown."""

from datetime import UTC, datetime
from html.parser import HTMLParser
from importlib import import_module
from typing import Any

import pandas
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.analysis import table as tables
from plimsoll.analysis.shown import html_facts, html_note, html_table, shown, text_table
from plimsoll.analysis.table import Column, PlainTable
from plimsoll.errors import InputError

COLUMNS = (
    Column("text", "text"),
    Column("integer", "integer"),
    Column("number", "number"),
    Column("boolean", "boolean"),
    Column("time", "time"),
    Column("names", "names"),
)
AT = datetime(2026, 11, 2, 9, 30, 0, 250_000, tzinfo=UTC)
FULL = ("a", 2**53 + 1, 0.5, True, AT, {"k": "v"})
EMPTY = (None,) * 6


def test_values_and_absence_survive_every_form() -> None:
    table = PlainTable("t", COLUMNS, [FULL, EMPTY])
    first, second = table.rows()
    assert tuple(first.values()) == FULL
    assert tuple(second.values()) == EMPTY
    names = table.arrow()["names"].to_pylist()
    assert [dict(each) if each else each for each in names] == [{"k": "v"}, None]
    frame = table.polars()
    # A float could not tell it from its neighbour.
    assert frame["integer"].to_list() == [2**53 + 1, None]
    assert frame["time"].to_list() == [AT, None]
    assert frame["boolean"].to_list() == [True, None]
    whole = table.pandas()
    assert whole["integer"][0] == 2**53 + 1
    assert whole["integer"].isna().tolist() == [False, True]
    assert whole["boolean"].dtype == pandas.BooleanDtype()
    assert whole["time"][0] == pandas.Timestamp(AT)


@pytest.mark.parametrize("rows", [[], [EMPTY], [FULL]])
def test_types_do_not_hang_on_the_values(rows: list[tuple[object, ...]]) -> None:
    schema = PlainTable("t", COLUMNS, rows).arrow().schema
    assert [str(field.type) for field in schema] == [
        "string",
        "int64",
        "double",
        "bool",
        "timestamp[us, tz=UTC]",
        "map<string, string>",
    ]


def test_names_of_files_that_are_no_utf8_reach_arrow() -> None:
    table = PlainTable("t", COLUMNS[:1], [("run-\udcff",)])
    assert table.polars()["text"].to_list() == ["run-\\udcff"]


@pytest.mark.parametrize(
    ("form", "missing"), [("arrow", "pyarrow"), ("pandas", "pandas"), ("polars", "polars")]
)
def test_a_missing_library_is_reported_with_the_extra_to_install(
    form: str, missing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def without(name: str) -> Any:
        if name == missing:
            raise ModuleNotFoundError(f"No module named {name!r}")
        return import_module(name)

    monkeypatch.setattr(tables, "import_module", without)
    table = PlainTable("t", COLUMNS, [FULL])
    with pytest.raises(InputError, match=f"{missing} cannot be imported") as caught:
        getattr(table, form)()
    assert "build EXTRAS=analysis, or take the rows" in caught.value.remedy
    assert len(table.rows()) == 1


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, "-"),
        (True, "yes"),
        (False, "no"),
        (13_360_184, "13,360,184"),
        (13360184.86, "13,360,200"),
        (0.00012345678, "0.000123457"),
        (float("nan"), "nan"),
        (float("inf"), "inf"),
        (AT, "2026-11-02 09:30:00.250"),
        ({"num": "5", "type": "usr"}, "num=5, type=usr"),
        ("a\x1b[31m\nb", "a\\x1b[31m\\nb"),
        ("\u202eabc", "\\u202eabc"),
    ],
)
def test_values_are_shown_in_one_line(value: object, expected: str) -> None:
    assert shown(value) == expected


def test_text_is_aligned_and_numbers_are_to_the_right() -> None:
    assert text_table(["name", "pps"], [("a", 5), ("long", None), ("b", 1000)]) == (
        "name    pps\na         5\nlong      -\nb     1,000"
    )


def test_a_long_table_shows_its_beginning_and_how_much_is_left() -> None:
    table = PlainTable("numbers", [Column("n", "integer")], [(n,) for n in range(1012)])
    said = repr(table).splitlines()
    assert said[0] == "numbers"
    assert (said[2].strip(), said[11].strip()) == ("0", "9")
    assert said[12].startswith("… and 1,002 more; ")
    assert "numbers (1,012 rows)" in table._repr_html_()
    assert "The first 10; " in table._repr_html_()


class Page(HTMLParser):
    """What of a page is markup, and what is text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: set[str] = set()
        self.text: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data: str) -> None:
        self.text.append(data)


@given(st.text(max_size=40))
def test_no_text_becomes_markup(text: str) -> None:
    plain = Page(html_table("c", ["h"], [("x",)]) + html_facts("c", [("n", "x")]) + html_note("x"))
    page = Page(
        html_table(text, [text], [(text,)]) + html_facts(text, [(text, text)]) + html_note(text)
    )
    assert page.tags == plain.tags
    assert page.attributes == plain.attributes == {"style", "scope"}


def test_a_table_says_what_its_cells_are_to_a_screen_reader() -> None:
    page = Page(html_table("Trials", ["number", "phase"], [(1, "search")]))
    assert page.tags == [
        *("table", "caption", "thead", "tr", "th", "th", "tbody", "tr", "td", "td"),
    ]
    assert page.text == ["Trials", "number", "phase", "1", "search"]
