"""Metrics and the answers to questions about them: as tables, as JSON and as CSV."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime, tzinfo
from typing import Any

from plimsoll.record.query import AnswerRow, QueryAnswer, TimeRange
from plimsoll.record.query.contents import MetricContents
from plimsoll.terminal.tables.figure_table import FigureTable, TableColumn
from plimsoll.text.plain_text import plain_text, spreadsheet_text

_HEADINGS = ("source", "type", "class", "unit", "aggregation", "names", "series")


def contents_table(contents: Sequence[MetricContents]) -> FigureTable:
    """A line for each type of metric; after each name how many values it has."""
    sides = ["left"] * (len(_HEADINGS) - 1) + ["right"]
    table = FigureTable(
        "",
        [
            TableColumn(heading, "right" if side == "right" else "left", wraps=heading == "names")
            for heading, side in zip(_HEADINGS, sides, strict=True)
        ],
    )
    for metric in contents:
        table.add_row(*_cells(metric))
    return table


def contents_json(contents: Sequence[MetricContents]) -> str:
    """A list of objects."""
    return json.dumps([asdict(metric) for metric in contents], indent=2)


def contents_csv(contents: Sequence[MetricContents]) -> str:
    """The table's columns."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_HEADINGS)
    writer.writerows(map(spreadsheet_text, _cells(metric)) for metric in contents)
    return text.getvalue().rstrip("\n")


def names_and_counts(names: Mapping[str, int]) -> str:
    """Each name, and after it how many values it has."""
    return ", ".join(f"{plain_text(name)} ({count})" for name, count in names.items())


def _cells(metric: MetricContents) -> tuple[str, ...]:
    plain = (metric.source, metric.type, metric.metric_class, metric.unit, metric.aggregation)
    names = names_and_counts(metric.names)
    return (*map(plain_text, plain), names, str(metric.series))


def metric_json(answer: QueryAnswer) -> str:
    """One object. Times are in ms since the epoch; null is a window without a value."""
    query = answer.query
    document = {
        "source": query.source,
        "type": query.type,
        "class": answer.metric_class,
        "unit": answer.unit,
        "period": query.period,
        "aggregation": answer.aggregation,
        "over_time": answer.over_time,
        "resolution": query.resolution,
        "filter": None if query.filter is None else str(query.filter),
        "breakouts": list(answer.columns),
        "runs": {
            run: {
                "begin_ms": found.begin_ms,
                "end_ms": found.end_ms,
                "windows": [_ms(each) for each in answer.windows_of(run)],
            }
            for run, found in answer.ranges.items()
        },
        "rows": [_row(answer, row) for row in answer.rows],
        "remaining_breakouts": dict(answer.remaining),
        "runs_without": list(answer.silent),
        "failures": [{"run": each.run, "error": str(each.error)} for each in answer.failures],
        "notes": list(answer.notes),
    }
    return json.dumps(document, indent=2)


def metric_csv(answer: QueryAnswer) -> str:
    """A line for each row and window; a window without a value has none.

    Columns: run, source, type, each breakout, begin_ms, end_ms, value, aggregation.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    names = [spreadsheet_text(column) for column in answer.columns]
    after = ["begin_ms", "end_ms", "value", "aggregation"]
    writer.writerow(["run", "source", "type", *names, *after])
    writer.writerows(_lines(answer))
    return text.getvalue().rstrip("\n")


def _row(answer: QueryAnswer, row: AnswerRow) -> dict[str, Any]:
    names = {
        breakout.name: value
        for breakout, value in zip(answer.query.breakouts, row.names, strict=True)
    }
    return {
        "run": row.run,
        "source": row.source,
        "names": names,
        "series": row.series,
        "aggregation": answer.drawn(row),
        "whole_range": row.whole,
        "values": list(row.values),
    }


def _lines(answer: QueryAnswer) -> Iterator[list[object]]:
    windows = {run: answer.windows_of(run) for run in answer.ranges}
    for row in answer.rows:
        for window, value in zip(windows[row.run], row.values, strict=True):
            # csv writes None as nothing.
            head = [_text(cell) for cell in (row.run, row.source, answer.query.type, *row.names)]
            yield [*head, *_ms(window), value, answer.drawn(row)]


def _text(cell: str | None) -> str | None:
    return None if cell is None else spreadsheet_text(cell)


def _ms(window: TimeRange) -> list[float]:
    """Begin and end; whole where they are whole."""
    return [int(ms) if ms == int(ms) else ms for ms in (window.begin_ms, window.end_ms)]


# Two lines of heading, and the cells below.
MetricColumn = tuple[str, str, list[str]]


def metric_table(answer: QueryAnswer, *, with_run: bool, zone: tzinfo | None) -> str:
    """Columns of names, then one for each window under the date and the time at which it ends.

    Times are in `zone`, None being this host's. Runs that each measured at their own time
    have their windows under numbers. Cells without a value are blank. What is more than a mean
    over time, and a sum or a mean of series, is named in a column of its own.
    """
    columns = [*_name_columns(answer, with_run), *_value_columns(answer, zone)]
    widths = [max(map(len, (above, below, *cells))) for above, below, cells in columns]
    above, below, cells = zip(*columns, strict=True)
    lines = [
        _line(above, widths),
        _line(below, widths),
        "-" * (sum(widths) + len(widths)),
        *(_line(row, widths) for row in zip(*cells, strict=True)),
    ]
    return "\n".join(lines)


def _name_columns(answer: QueryAnswer, with_run: bool) -> Iterator[MetricColumn]:
    rows = answer.rows
    if with_run:
        yield "", "run", [plain_text(row.run) for row in rows]
    yield "", "source", [plain_text(row.source) for row in rows]
    yield "", "type", [plain_text(answer.query.type)] * len(rows)
    for place, heading in enumerate(answer.columns):
        yield "", plain_text(heading), [plain_text(row.names[place] or "") for row in rows]
    if not all(map(answer.plain, rows)):
        yield "", "aggregation", [plain_text(answer.drawn(row)) for row in rows]


def _value_columns(answer: QueryAnswer, zone: tzinfo | None) -> Iterator[MetricColumn]:
    count = answer.query.resolution
    windows = answer.windows
    for place in range(count):
        if windows is None:
            above, below = "window", f"{place + 1} of {count}"
        else:
            above, below = _ends(windows[place], zone)
        yield above, below, [_cell(row, place) for row in answer.rows]


def _ends(window: TimeRange, zone: tzinfo | None) -> tuple[str, str]:
    """Date and time, with milliseconds where seconds would not tell windows apart."""
    whole_ms = int(window.end_ms // 1)
    end = datetime.fromtimestamp(whole_ms // 1000, zone)
    short = window.end_ms - window.begin_ms < 1000
    return f"{end:%Y-%m-%d}", f"{end:%H:%M:%S}" + (f".{whole_ms % 1000:03d}" if short else "")


def _cell(row: AnswerRow, place: int) -> str:
    value = row.values[place]
    return "" if value is None else f"{value:.2f}"


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = (f" {cell:>{width}}" for cell, width in zip(cells, widths, strict=True))
    return "".join(padded).rstrip()
