"""Metrics and histograms as text: CSV (RFC 4180), and lines of an HdrHistogram log.

Lines of a run's HdrHistogram log: as they are, of some periods or tags, or added up. Any reader of
HdrHistogram's interval logs (format 1.3, with tags) takes them.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TextIO

from hdrh.histogram import HdrHistogram

from plimsoll.errors import InputError
from plimsoll.export.parquet_parts import RecordedPeriod, metric_batches
from plimsoll.record.metrics.histogram_log import (
    LogEntry,
    is_trial_mark,
    log_entries,
    log_lines,
    trial_mark,
)
from plimsoll.record.metrics.metrics import query_metrics
from plimsoll.record.run.run_directory import RunDirectory, trial_period
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


_MAX_NAMED = 8
_BY_TIME = "#[Entries joined to trials by time: recorded by a version that noted no trials]"


def histogram_lines(
    run: RunDirectory,
    periods: Sequence[RecordedPeriod] | None = None,
    tags: Sequence[str] = (),
    *,
    merge: bool = False,
) -> Iterator[str]:
    """The log's lines without their ends: its head, then the selected entries by trial.

    Those are of these periods (None: of the whole run) and these tags (none: all). `merge`
    adds the entries of each tag, and of each selected period, up to one. Raises InputError
    for a tag that is not there, and RecordError.
    """
    entries: Iterable[LogEntry] = log_entries(run.histograms)
    if tags:
        _check_tags(run, tags)
        entries = (entry for entry in entries if entry.tag in tags)
    yield from _head(run)
    if merge:
        yield from _merged(entries, periods)
        return
    trial: int | None = None
    is_noted = periods is None
    for entry in entries:
        if periods is None or _period_of(entry, periods) is not None:
            if entry.trial is None and not is_noted:
                is_noted = True
                yield _BY_TIME
            if entry.trial is not None and entry.trial != trial:
                yield trial_mark(entry.trial)
            trial = entry.trial
            yield entry.line


def _merged(entries: Iterable[LogEntry], periods: Sequence[RecordedPeriod] | None) -> Iterator[str]:
    sums: dict[tuple[str | None, str], _Sum] = {}
    for entry in entries:
        period = None if periods is None else _period_of(entry, periods)
        if periods is None or period is not None:
            sums.setdefault((period, entry.tag), _Sum(entry)).add(entry)
    for (_, tag), each in sums.items():
        yield each.line(tag)


class _Sum:
    """What entries of one tag come to."""

    def __init__(self, first: LogEntry) -> None:
        self._begin_s = first.begin_s
        self._end_s = self._max_ms = 0.0
        self._histogram: HdrHistogram | None = None

    def add(self, entry: LogEntry) -> None:
        decoded = entry.decoded()
        if self._histogram is None:
            self._histogram = decoded
        else:
            self._histogram.add(decoded)
        self._begin_s = min(self._begin_s, entry.begin_s)
        self._end_s = max(self._end_s, entry.end_s)
        # Exact, while the histogram's own is that of a bucket.
        self._max_ms = max(self._max_ms, entry.max_ms)

    def line(self, tag: str) -> str:
        payload = self._histogram.encode().decode("ascii") if self._histogram else ""
        length_s = self._end_s - self._begin_s
        return f"Tag={tag},{self._begin_s:.3f},{length_s:.3f},{self._max_ms:.6f},{payload}"


def _head(run: RunDirectory) -> Iterator[str]:
    for line in log_lines(run.histograms):
        if line.startswith("Tag="):
            return
        if not is_trial_mark(line):
            yield line


def _period_of(entry: LogEntry, periods: Sequence[RecordedPeriod]) -> str | None:
    """The period of the entry's trial; in logs of earlier versions that of its middle."""
    if entry.trial is not None:
        name = trial_period(entry.trial)
        return name if any(period.name == name for period in periods) else None
    middle_ms = (entry.begin_s + entry.length_s / 2) * 1e3
    found = (p.name for p in periods if p.begin_ms <= middle_ms < p.end_ms)
    return next(found, None)


def _check_tags(run: RunDirectory, tags: Sequence[str]) -> None:
    there = sorted({entry.tag for entry in log_entries(run.histograms)})
    for tag in tags:
        if tag not in there:
            named = ", ".join(there[:_MAX_NAMED])
            more = f" and {len(there) - _MAX_NAMED} more" if len(there) > _MAX_NAMED else ""
            raise InputError(
                f"the run has no histograms of {tag!r}",
                where=str(run.histograms),
                remedy=f"it has {named}{more}" if there else "it has none at all yet",
            )
