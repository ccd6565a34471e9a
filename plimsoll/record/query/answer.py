"""What the metrics say to a question."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from plimsoll.record.files.record_error import RecordError
from plimsoll.record.metrics.over_time import Reduction
from plimsoll.record.query.metric_query import MetricQuery
from plimsoll.record.samples.metric_type import Aggregation

_SEVERAL = {"mean": "means", "max": "maxima", "min": "minima", "total": "totals"}


@dataclass(frozen=True, slots=True)
class TimeRange:
    """[begin_ms, end_ms) since the epoch."""

    begin_ms: float
    end_ms: float

    def windows(self, count: int) -> tuple[TimeRange, ...]:
        """It in so many parts of equal length."""
        length = self.end_ms - self.begin_ms
        edges = [self.begin_ms + length * number / count for number in range(count)]
        ends = [*edges[1:], self.end_ms]
        return tuple(TimeRange(begin, end) for begin, end in zip(edges, ends, strict=True))


@dataclass(frozen=True, slots=True)
class AnswerRow:
    """One series of the answer: its values by window, None where nothing was recorded.

    `names` has the value of each breakout; of one that draws all matches of a regex
    together it is that regex, and None where series have no such name. `series` is how many
    were drawn together. `whole` is its value over the whole range, which is what a filter
    looks at.
    """

    run: str
    source: str
    names: tuple[str | None, ...]
    series: int
    values: tuple[float | None, ...]
    whole: float


@dataclass(frozen=True, slots=True)
class RunFailure:
    """A run that could not answer, while others did."""

    run: str
    error: RecordError


@dataclass(frozen=True, slots=True)
class QueryAnswer:
    """The rows, ordered by run and by names; the times; what can be queried next.

    `columns` are the breakouts as they were typed, a column of `names` each. `ranges` has
    the time range queried of every run that has the metric, by the run's label;
    `silent` are the runs that lack it. `remaining` are the names of the series in the
    answer that are not breakouts, with how many values each has. `aggregation` is how series
    were drawn together, "merged" where a quantile is that of all their samples; `over_time` is
    what each series' values in a window became before that. `notes` are remarks on how to
    read the answer.
    """

    query: MetricQuery
    columns: tuple[str, ...]
    rows: tuple[AnswerRow, ...]
    ranges: Mapping[str, TimeRange]
    remaining: Mapping[str, int]
    metric_class: str
    unit: str
    aggregation: Aggregation | Literal["merged"]
    over_time: Reduction
    silent: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    failures: tuple[RunFailure, ...] = ()

    def drawn(self, row: AnswerRow) -> str:
        """How a row's values came about, such as mean, p99, or max of means of several series."""
        within = (
            self.query.type.partition("-")[0] if self.over_time == "quantile" else (self.over_time)
        )
        if row.series == 1 or self.aggregation in ("merged", within):
            return within
        return f"{self.aggregation} of {_SEVERAL.get(within, within)}"

    def plain(self, row: AnswerRow) -> bool:
        """Whether a row's values are means over time, and sums or means of series."""
        drawn_together = row.series == 1 or self.aggregation in ("sum", "mean")
        return self.over_time == "mean" and drawn_together

    @property
    def windows(self) -> tuple[TimeRange, ...] | None:
        """The windows, where all runs have the same; None where each has its own."""
        ranges = set(self.ranges.values())
        return ranges.pop().windows(self.query.resolution) if len(ranges) == 1 else None

    def windows_of(self, run: str) -> tuple[TimeRange, ...]:
        """The windows of a run, by its label."""
        return self.ranges[run].windows(self.query.resolution)
