"""A page's tables and charts as files of their own."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import vl_convert

from plimsoll.record.files.record_error import write_failed
from plimsoll.record.files.whole_file import write_whole
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.report.figures.figure import PRINT
from plimsoll.report.figures.table import CellValue, ReportTable
from plimsoll.report.parts.page import Page
from plimsoll.report.parts.run_head import load_head
from plimsoll.report.registry import make_page, write_report
from plimsoll.text.plain_text import spreadsheet_text


def write_files(run: RunDirectory, *, charts: bool, tables: bool) -> list[Path]:
    """Write report.html, and each chart and table if requested, all from a page made once.

    Raises RecordError where the run cannot be read or a file not be written.
    """
    page = make_page(run, load_head(run))
    written = [write_report(run, page)]
    written += _write_charts(run, page) if charts else []
    written += _write_tables(run, page) if tables else []
    return written


def _write_tables(run: RunDirectory, page: Page) -> list[Path]:
    """`<run>/tables/<name>.csv` of each table that has rows."""
    tables = page.tables
    if not tables:
        return []
    try:
        run.tables.mkdir(exist_ok=True)
    except OSError as error:
        raise write_failed(run.tables, error) from error
    taken: Counter[str] = Counter()
    return [_write_table(run.tables, table, taken) for table in tables]


def _write_table(folder: Path, table: ReportTable, taken: Counter[str]) -> Path:
    """Two of one name, as of two hosts whose names differ in case alone, are numbered."""
    taken[table.name] += 1
    number = f"-{taken[table.name]}" if taken[table.name] > 1 else ""
    path = folder / f"{table.name}{number}.csv"
    text = io.StringIO(newline="")
    names = [name for column in table.columns for name in column.names]
    writer = csv.DictWriter(text, names)
    writer.writerow({name: spreadsheet_text(name) for name in names})
    for record in table.records():
        writer.writerow({name: _written(value) for name, value in record.items()})
    write_whole(path, text.getvalue(), durable=False)
    return path


def _written(value: CellValue) -> CellValue:
    """Text of a run's that a spreadsheet would compute is text; a number is as it is."""
    return spreadsheet_text(value) if isinstance(value, str) else value


WIDTH = 900
# Twice the size on screen: sharp on paper and on dense displays.
_PNG_SCALE = 2.0


def _write_charts(run: RunDirectory, page: Page) -> list[Path]:
    """`<run>/charts/<name>.svg` and `.png` of each chart that has something to show."""
    paths: list[Path] = []
    for figure in page.figures:
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
