"""Each table of a run's page as a CSV file (RFC 4180), with what the page shows in its cells."""

from __future__ import annotations

import csv
import io
from pathlib import Path

from plimsoll.record.files.record_error import write_failed
from plimsoll.record.files.whole_file import write_whole
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.report.page_tables import PageTable, page_tables
from plimsoll.text.plain_text import spreadsheet_text


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
    return [_write(run.tables / f"{table.name}.csv", table) for table in tables]


def _write(path: Path, table: PageTable) -> Path:
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
