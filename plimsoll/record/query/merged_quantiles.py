"""Quantiles of all samples: from the histograms of a run, merged over time and over series.

The metrics have a quantile of each interval, from which that of a longer time cannot be
worked out. The run's HdrHistogram log has the samples. Which of its entries count is said by
the rows of the metrics: those of the intervals that lie in the requested time range. Entries
are held against the rows of their own trial alone, whose times are in order; between trials
the wall clock may have been set back.
"""

from __future__ import annotations

import json
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import duckdb

from plimsoll.errors import InputError
from plimsoll.generator.histogram import Histogram, HistogramSum, bucket_bounds_ns
from plimsoll.record.files.growing_files import STEP_S
from plimsoll.record.files.record_error import RecordError
from plimsoll.record.metrics.histogram_log import (
    LoggedHistogram,
    gaps_tag,
    read_histogram_log,
    stream_tag,
)
from plimsoll.record.metrics.metrics import trial_number
from plimsoll.record.metrics.over_time import quantile_of
from plimsoll.record.query.answer import RunFailure, TimeRange
from plimsoll.record.query.metric_query import MetricQuery
from plimsoll.record.query.queried_run import QueriedRun
from plimsoll.record.run.run_directory import trial_period

_NS_PER_US = 1e3
_MS_PER_S = 1e3
# The log's times and those of the metrics are the same ones, each rounded to ms.
_ROUNDING_MS = 2.0
_MERGED = """
    CREATE TEMP TABLE merged (run BIGINT, key_number BIGINT, place BIGINT, value DOUBLE)"""
_SERIES = """
    SELECT period, names_json, key_number, list(begin_ms ORDER BY begin_ms),
        list(end_ms ORDER BY begin_ms)
    FROM spans JOIN chosen USING (names_json) WHERE run = ? GROUP BY ALL ORDER BY ALL"""
_INSTEAD = "--over-time max answers from the metrics alone: the worst interval of each series"


@dataclass(frozen=True, slots=True)
class MergedRuns:
    """The runs whose log is damaged or lacks samples, and those that noted no trials in it.

    The entries of these were joined to their trials by time.
    """

    failures: list[RunFailure]
    by_time: tuple[str, ...]


def merge_quantiles(
    connection: duckdb.DuckDBPyConnection,
    queried: Sequence[QueriedRun],
    query: MetricQuery,
    ranges: Mapping[int, tuple[int, int]],
) -> MergedRuns:
    """Make the table `merged` of the series in `chosen`: a value for each key and window.

    Over the whole range `place` is NULL. Values are in µs. Returns what is amiss with runs;
    raises InputError for windows that it cannot tell.
    """
    connection.execute(_MERGED)
    failures, by_time = [], []
    for run in queried:
        if run.number not in ranges:
            continue
        try:
            joining = _Joining()
            rows = list(_values(connection, run, query, ranges[run.number], joining))
        except RecordError as error:
            failures.append(RunFailure(run.label, error))
            continue
        if rows:
            connection.executemany("INSERT INTO merged VALUES (?, ?, ?, ?)", rows)
        if joining.by_time:
            by_time.append(run.label)
    return MergedRuns(failures, tuple(by_time))


@dataclass(slots=True)
class _Joining:
    """Whether entries had to be joined to their trials by time."""

    by_time: bool = False


@dataclass(frozen=True)
class _Series:
    """The rows of a series in one trial, by time, and the key of the answer's row it is part of."""

    key: int
    begins_ms: Sequence[int]
    ends_ms: Sequence[int]
    seen: set[int] = field(default_factory=set)

    def rows_of(self, entry: LoggedHistogram) -> range:
        """The places of the rows that the entry has the samples of: one, or those of a minute."""
        begin_ms, end_ms = entry.begin_s * _MS_PER_S, entry.end_s * _MS_PER_S
        first = bisect_left(self.middles_ms, begin_ms - _ROUNDING_MS / 2)
        return range(first, bisect_right(self.middles_ms, end_ms + _ROUNDING_MS / 2))

    def coarse(self, rows: range, entry: LoggedHistogram) -> bool:
        """Whether the entry is of more than one interval."""
        length_ms = self.ends_ms[rows[0]] - self.begins_ms[rows[0]]
        return (entry.end_s - entry.begin_s) * _MS_PER_S > length_ms + 2 * _ROUNDING_MS

    @cached_property
    def middles_ms(self) -> list[float]:
        """In the order of the rows."""
        times = zip(self.begins_ms, self.ends_ms, strict=True)
        return [(begin_ms + end_ms) / 2 for begin_ms, end_ms in times]


def _values(
    connection: duckdb.DuckDBPyConnection,
    run: QueriedRun,
    query: MetricQuery,
    time: tuple[int, int],
    joining: _Joining,
) -> Iterable[tuple[int, int, int | None, float]]:
    series = _series(connection, run, query)
    if not series:
        return []
    windows = TimeRange(*time).windows(query.resolution)
    sums: dict[tuple[int, int | None], HistogramSum] = {}
    for entry in _entries(run, series):
        found = series.of(entry)
        if found is None:
            continue
        of, rows = found
        joining.by_time |= entry.trial is None
        of.seen.update(rows)
        if of.coarse(rows, entry):
            _check_whole(entry, windows, query)
        histogram = _histogram(entry)
        for place in (None, *_places(windows, of, rows)):
            sums.setdefault((of.key, place), HistogramSum()).add(histogram)
    _check_complete(run, series)
    quantile = quantile_of(query.type) or 0.0
    return [
        (run.number, key, place, value_ns / _NS_PER_US)
        for (key, place), each in sums.items()
        if (value_ns := each.total.quantile_ns(quantile)) is not None
    ]


@dataclass(frozen=True)
class _RunSeries:
    """Those of a run, by the tag that their histograms have in the log, and by period."""

    by_tag: dict[str, dict[str, _Series]] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.by_tag)

    def __iter__(self) -> Iterator[tuple[str, _Series]]:
        for tag, by_period in self.by_tag.items():
            yield from ((tag, each) for each in by_period.values())

    @property
    def trials(self) -> frozenset[int]:
        """The numbers of their trials."""
        periods = {period for by_period in self.by_tag.values() for period in by_period}
        return frozenset(number for period in periods if (number := trial_number(period)))

    def of(self, entry: LoggedHistogram) -> tuple[_Series, range] | None:
        """The series that the entry has samples of, and the places of their rows."""
        by_period = self.by_tag[entry.tag]
        if entry.trial is None:
            # Of a log of an earlier version: by time alone.
            candidates = list(by_period.values())
        else:
            candidates = [s for p, s in by_period.items() if p == trial_period(entry.trial)]
        found = ((series, series.rows_of(entry)) for series in candidates)
        return next(((series, rows) for series, rows in found if rows), None)


def _series(
    connection: duckdb.DuckDBPyConnection, run: QueriedRun, query: MetricQuery
) -> _RunSeries:
    series = _RunSeries()
    found = connection.execute(_SERIES, [run.number]).fetchall()
    for period, names_json, key, begins_ms, ends_ms in found:
        tag = tag_of(query.type, json.loads(names_json))
        if tag is None:
            raise InputError(
                f"the histograms behind {query.source} {query.type} were not recorded",
                where="--type",
                remedy=_INSTEAD,
            )
        series.by_tag.setdefault(tag, {})[period] = _Series(key, begins_ms, ends_ms)
    return series


def _entries(run: QueriedRun, series: _RunSeries) -> Iterable[LoggedHistogram]:
    begin_ms = min(each.begins_ms[0] for _, each in series)
    end_ms = max(each.ends_ms[-1] for _, each in series)
    return read_histogram_log(
        run.run.histograms,
        # An entry of a step may begin before the first interval requested.
        begin_s=begin_ms / _MS_PER_S - 2 * STEP_S,
        end_s=end_ms / _MS_PER_S,
        trials=series.trials,
        takes=series.by_tag.__contains__,
    )


def _places(windows: Sequence[TimeRange], series: _Series, rows: range) -> Iterable[int]:
    """The windows in which these rows lie, as a whole or in part.

    An interval that a border cuts counts on both sides, as it does for a greatest value.
    """
    if len(windows) == 1:
        return ()
    begin_ms, length_ms = windows[0].begin_ms, windows[0].end_ms - windows[0].begin_ms
    first = int((series.begins_ms[rows[0]] - begin_ms) // length_ms)
    last = int((series.ends_ms[rows[-1]] - begin_ms - 1) // length_ms)
    return range(max(0, first), min(len(windows) - 1, last) + 1)


def _check_whole(entry: LoggedHistogram, windows: Sequence[TimeRange], query: MetricQuery) -> None:
    """Parts of a minute are unknown: no border of the query may lie within it.

    Where the measurement ends is none, as what follows it in the log is the drain.
    """
    borders = [window.end_ms for window in windows[:-1]]
    borders += [windows[0].begin_ms] if query.begin is not None else []
    borders += [windows[-1].end_ms] if query.end is not None else []
    begin_ms, end_ms = entry.begin_s * _MS_PER_S, entry.end_s * _MS_PER_S
    if any(begin_ms + _ROUNDING_MS < border < end_ms - _ROUNDING_MS for border in borders):
        raise InputError(
            "after the first ten minutes of a trial its histograms are kept by the minute, and "
            "the time of this question, or one of its windows, ends within one",
            where="--begin, --end, --resolution",
            remedy=f"ask for the whole trial in one window; {_INSTEAD}",
        )


def _histogram(entry: LoggedHistogram) -> Histogram:
    """As the trial's own record reckons with it; its sum is not needed and not known."""
    counts = entry.histogram.encoder.get_counts()
    buckets = tuple((index, count) for index, count in enumerate(counts) if count)
    least_ns = bucket_bounds_ns(buckets[0][0])[0] if buckets else None
    total = sum(count for _, count in buckets)
    return Histogram(total, 0, least_ns, entry.max_ns, buckets)


def _check_complete(run: QueriedRun, series: _RunSeries) -> None:
    """Every row of a quantile was made of samples. A trial that goes on may be ahead of them."""
    if run.files.growing:
        return
    for tag, each in series:
        missing = len(each.begins_ms) - len(each.seen)
        if missing:
            raise RecordError(
                f"lacks the samples of {tag} in {missing} of {len(each.begins_ms)} intervals",
                where=str(run.run.histograms),
                remedy=f"restore it from a copy of the run; {_INSTEAD}",
            )


# Which histograms of the log are behind a type of metric.
def tag_of(kind: str, names: Mapping[str, str]) -> str | None:
    """The tag of a series, such as p99-round-trip-usec of a stream; None where there is none."""
    of = kind.partition("-")[2]
    try:
        if of == "gap-usec":
            return gaps_tag(int(names["lcore"]))
        if of not in ("round-trip-usec", "tx-lateness-usec"):
            return None
        path = (names["stream"], int(names["tx_port"]), int(names["rx_port"]))
    except (KeyError, ValueError):
        return None
    return stream_tag(*path, "latency" if of == "round-trip-usec" else "lateness")
