"""The answer to a question about metrics as a table, in Crucible's layout."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, tzinfo

from plimsoll.record.query import AnswerRow, QueryAnswer, TimeRange
from plimsoll.text.plain_text import plain_text

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
