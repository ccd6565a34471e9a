"""What has metrics: a trial, a run, many runs. All are queried in the same way."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence

from plimsoll.analysis.column import Column
from plimsoll.analysis.metric_table import MetricTable
from plimsoll.analysis.plain_table import PlainTable
from plimsoll.analysis.when import When, moment_of
from plimsoll.record.query import (
    MEASUREMENT,
    MetricQuery,
    OverTime,
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
