"""What has metrics: a trial, a run, many runs. All are queried in the same way."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence

from plimsoll.analysis.shown import html_note
from plimsoll.analysis.table import Column, PlainTable, name_column
from plimsoll.analysis.when import When, moment_of, utc_of_ms
from plimsoll.record.query import (
    MEASUREMENT,
    MetricQuery,
    OverTime,
    QueryAnswer,
    ask,
    parse_breakouts,
    parse_filter,
)
from plimsoll.record.query.contents import metric_contents
from plimsoll.record.run.run_directory import RunDirectory, trial_period
from plimsoll.record.samples.metric_type import Aggregation

_TYPE_COLUMNS = (
    Column("source", "text"),
    Column("type", "text"),
    Column("class", "text"),
    Column("unit", "text"),
    Column("aggregation", "text"),
    Column("series", "integer"),
    Column("names", "text"),
)


class Measured(ABC):
    """Answers questions to its metrics, with the semantics of `plimsoll metrics get`."""

    @abstractmethod
    def _measured_runs(self) -> Mapping[str, RunDirectory]:
        """The runs that hold the metrics, by what they are called."""

    @property
    def _own_period(self) -> str:
        """The period that is meant when none is named."""
        return MEASUREMENT

    def metrics(
        self,
        source: str,
        type: str,
        *,
        breakout: str | Sequence[str] = (),
        period: int | str | None = None,
        begin: When | None = None,
        end: When | None = None,
        resolution: int = 1,
        filter: str | None = None,
        aggregation: Aggregation | None = None,
        over_time: OverTime | None = None,
    ) -> MetricTable:
        """A type of metric in `resolution` equal windows between `begin` and `end`.

        Without `breakout` it is one series over everything; each name in it, as in
        "hostname,num=5+9,type", splits. `period` is a trial's number, a period's name,
        "measurement" (the trial that the run's answer rests on) or "all"; by default the
        measurement and, of a trial, itself. A moment is an aware datetime, ms since the epoch,
        or text: a date, "+30" for 30 s after the period begins, "-30" for 30 s before it ends.
        `filter` keeps series by their value over the whole time, as in "gt:0.5". Without
        `over_time` a value is the mean over time, of a greatest value the greatest, of a least
        the least, and of a quantile that of all samples; the column `aggregation` says which.
        docs/metrics.md says what all of it means.

        Raises InputError for what does not exist or cannot be queried, and RecordError where no
        run can be read.
        """
        chosen = self._own_period if period is None else period
        breakouts = breakout if isinstance(breakout, str) else ",".join(breakout)
        query = MetricQuery(
            source=source,
            type=type,
            period=trial_period(chosen) if isinstance(chosen, int) else chosen,
            begin=None if begin is None else moment_of(begin, "begin"),
            end=None if end is None else moment_of(end, "end"),
            resolution=resolution,
            breakouts=parse_breakouts(breakouts) if breakouts else (),
            filter=None if filter is None else parse_filter(filter),
            aggregation=aggregation,
            over_time=over_time,
        )
        runs = self._measured_runs()
        # An answer calls a run by its directory's name, or its path where names are alike.
        ids = {str(run.path): name for name, run in runs.items()}
        ids |= {run.run_id: name for name, run in runs.items()}
        return MetricTable(ask(list(runs.values()), query), ids)

    def metric_types(self, period: int | str | None = None) -> PlainTable:
        """What metrics there are: a row for each source and type.

        `names` are its breakouts, with how many values each has. Raises InputError for a
        period that there is not.
        """
        chosen = self._own_period if period is None else period
        name = trial_period(chosen) if isinstance(chosen, int) else chosen
        contents, _ = metric_contents(list(self._measured_runs().values()), name)
        rows = (
            (
                metric.source,
                metric.type,
                metric.metric_class,
                metric.unit,
                metric.aggregation,
                metric.series,
                ", ".join(f"{each} ({count})" for each, count in metric.names.items()),
            )
            for metric in contents
        )
        return PlainTable("Metrics", _TYPE_COLUMNS, rows)


# The answer to a question to the metrics, as a table.
class MetricTable(PlainTable):
    """A row for each series and window: run, source, type, breakouts, begin, end, value, how.

    The value is null in a window in which nothing was recorded. The last column, `aggregation`,
    says how it came about: mean, max, p99, or sum of means of several series. `answer` is the
    whole answer: unit, aggregation, runs that have no such metric or cannot be read.
    `remaining` are the names that could be broken out next, with how many values each has.
    """

    def __init__(self, answer: QueryAnswer, ids: Mapping[str, str]) -> None:
        """`ids` are what the runs are called, by their labels in the answer."""
        self.answer = answer
        self._silent = [ids.get(label, label) for label in answer.silent]
        breakouts = (name_column(each.name) for each in answer.query.breakouts)
        columns = (
            *(Column(name, "text") for name in ("run", "source", "type", *breakouts)),
            Column("begin", "time"),
            Column("end", "time"),
            Column("value", "number"),
            Column("aggregation", "text"),
        )
        unit = f", {answer.unit}" if answer.unit else ""
        title = f"{answer.query.source} {answer.query.type}{unit}"
        super().__init__(title, columns, _rows(answer, ids))

    @property
    def unit(self) -> str:
        """The values'."""
        return self.answer.unit

    @property
    def remaining(self) -> Mapping[str, int]:
        """Names of the series that are not breakouts, with how many values each has."""
        return self.answer.remaining

    def __repr__(self) -> str:
        return "\n".join([super().__repr__(), *self._notes()])

    def _repr_html_(self) -> str:
        return super()._repr_html_() + "".join(map(html_note, self._notes()))

    def _notes(self) -> list[str]:
        answer, notes = self.answer, list(self.answer.notes)
        if answer.remaining:
            names = ", ".join(f"{name} ({count})" for name, count in answer.remaining.items())
            notes.append(f"Remaining breakouts: {names}")
        if self._silent:
            notes.append(f"Without this metric: {', '.join(self._silent)}")
        return [*notes, *(f"Left out: {failure.error}" for failure in answer.failures)]


def _rows(answer: QueryAnswer, ids: Mapping[str, str]) -> Iterator[tuple[object, ...]]:
    for row in answer.rows:
        run = ids.get(row.run, row.run)
        for window, value in zip(answer.windows_of(row.run), row.values, strict=True):
            begin, end = utc_of_ms(window.begin_ms), utc_of_ms(window.end_ms)
            drawn = answer.drawn(row)
            yield (run, row.source, answer.query.type, *row.names, begin, end, value, drawn)
