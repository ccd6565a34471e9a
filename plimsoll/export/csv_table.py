"""Metrics as CSV (RFC 4180): a row of the record a line."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Sequence
from typing import Any, TextIO

from plimsoll.export.metric_batches import RecordedPeriod, metric_batches
from plimsoll.record.metrics.metrics import query_metrics
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.text.plain_text import spreadsheet_text

_BEFORE = ("period", "source", "type", "class", "unit", "aggregation")
_AFTER = ("begin_ms", "end_ms", "monotonic_ms", "count", "value")
# As text, as each series has thousands of rows with the same names.
_NAMES = "to_json(names)::VARCHAR"
_STATEMENT = f"SELECT {', '.join((*_BEFORE, _NAMES, *_AFTER))} FROM rows"  # noqa: S608


def write_csv(
    file: TextIO, run: RunDirectory, periods: Sequence[RecordedPeriod], *, wide: bool = False
) -> int:
    """Write the metrics of these periods and return how many rows there were.

    The columns are the record's. `names` are one column, as a JSON object; `wide` gives
    each name a column `name.<name>`, empty where a series has it not. Text that a spreadsheet
    would take for a formula has an apostrophe before it. Raises RecordError.
    """
    names = _all_names(run, periods) if wide else None
    headings = ["names"] if names is None else [f"name.{name}" for name in names]
    writer = csv.writer(file)
    writer.writerow([*_BEFORE, *headings, *_AFTER])
    cells: dict[str, list[str]] = {}
    written, at = 0, len(_BEFORE)
    for batch in _batches(run, periods):
        for row in batch:
            named = row[at]
            if named not in cells:
                cells[named] = _cells(named, names)
            writer.writerow([*map(_cell, row[:at]), *cells[named], *row[at + 1 :]])
        written += len(batch)
    return written


def _cells(named: str, names: Sequence[str] | None) -> list[str]:
    """What stands in the columns of the names, which are one column where `names` is None."""
    found = json.loads(named)
    if names is None:
        return [json.dumps(found, ensure_ascii=False, sort_keys=True)]
    return [_cell(found.get(name, "")) for name in names]


def _cell(value: object) -> str:
    """Text of the record, which may be an observed host's."""
    return spreadsheet_text(str(value))


def _batches(
    run: RunDirectory, periods: Sequence[RecordedPeriod]
) -> Iterator[list[tuple[Any, ...]]]:
    for period in periods:
        yield from metric_batches(run, _STATEMENT, period=period.name)


def _all_names(run: RunDirectory, periods: Sequence[RecordedPeriod]) -> list[str]:
    statement = (
        "SELECT DISTINCT unnest(map_keys(names)) AS name "
        "FROM (SELECT DISTINCT names FROM rows) ORDER BY name"
    )
    found = query_metrics(run, statement, periods=[period.name for period in periods])
    return [name for (name,) in found]
