"""The answer to a question about metrics for machines: JSON and CSV, every digit kept."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from typing import Any

from plimsoll.record.query import AnswerRow, QueryAnswer, TimeRange
from plimsoll.text.plain_text import spreadsheet_text


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
