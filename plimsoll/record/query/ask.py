"""Puts a question to the metrics of one run or many."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import duckdb

from plimsoll.errors import InputError
from plimsoll.record.files.table_file import connect
from plimsoll.record.query.answer import AnswerRow, QueryAnswer, RunFailure, TimeRange
from plimsoll.record.query.breakdown import (
    Breakdown,
    Descriptor,
    break_down,
    choose_series,
    create_parts,
    known_names,
    known_values,
    scan_into_parts,
)
from plimsoll.record.query.breakout import Breakout
from plimsoll.record.query.contents import (
    but_for_damage,
    nothing_recorded,
    unknown_metric,
    unknown_name,
    unknown_values,
)
from plimsoll.record.query.measured_range import (
    PeriodRanges,
    measured_ranges,
    offered_ranges,
    recorded_range,
)
from plimsoll.record.query.merged_quantiles import merge_quantiles
from plimsoll.record.query.metric_query import MetricQuery
from plimsoll.record.query.queried_run import QueriedRun, queried_runs
from plimsoll.record.query.run_rows import RunRows, read_in_groups
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.text.counted import natural_order

# What Crucible's TRex tells of itself, our own generator tells under its own name.
_SAME_AS: Mapping[str, str] = {"trafficgen-trex-profiler": "trafficgen-engine"}


def ask(runs: RunDirectory | Sequence[RunDirectory], query: MetricQuery) -> QueryAnswer:
    """What the metrics of these runs say; also of a run that is going on, as far as it is.

    Raises InputError for what no run has: a period, a source, a type, a name, a value, a
    time; and RecordError when no run can be read. A run that cannot, while others can, is
    among the answer's failures.
    """
    queried = queried_runs([runs] if isinstance(runs, RunDirectory) else runs, query.period)
    with connect() as connection:
        _check_patterns(connection, query.breakouts)
        gathered = _Gathering(connection, query)
        failures = read_in_groups(connection, queried, gathered.read)
        if failures and len(failures) == sum(
            bool(run.files.paths or run.damage) for run in queried
        ):
            raise failures[0].error
        if not gathered.descriptors:
            raise but_for_damage(_nothing(connection, queried, query, gathered), failures)
        _check_names(connection, query)
        aggregation = query.aggregation or gathered.metric.aggregation
        reduction = gathered.metric.reduction(query)
        if reduction == "quantile":
            answering = [run for run in queried if run.number in gathered.descriptors]
            lost = merge_quantiles(connection, answering, query, gathered.ranges)
            if len(lost.failures) == len(answering):
                raise lost.failures[0].error
            failures += lost.failures
            gathered.by_time = lost.by_time
        breakdown = break_down(connection, query, aggregation, reduction)
        return _answer(queried, query, gathered, breakdown, failures)


@dataclass(slots=True)
class _Gathering:
    """Reads groups of runs into the table `parts`, and remembers the time ranges queried."""

    connection: duckdb.DuckDBPyConnection
    query: MetricQuery
    ranges: dict[int, tuple[int, int]] = field(default_factory=dict)
    # In which frames were offered, in each period; of no use where the question has its own time.
    offered: PeriodRanges = field(default_factory=dict)
    # Of runs whose measurement the requested time range does not fit.
    unfit: dict[int, InputError] = field(default_factory=dict)
    descriptors: dict[int, Descriptor] = field(default_factory=dict)
    # Runs of earlier versions, whose histograms do not say which trial they are of.
    by_time: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        create_parts(self.connection)

    def read(self, group: Sequence[QueriedRun], rows: RunRows) -> None:
        """The runs of a group."""
        self._find_ranges(group, rows)
        found = self._scan(group, rows, self.query.source)
        same = _SAME_AS.get(self.query.source)
        if same is not None:
            others = [run for run in group if run.number not in found]
            found = {**self._scan(others, rows, same), **found}
        # Last, as what is added to `parts` is undone where anything before goes wrong.
        self.descriptors.update(found)

    @property
    def metric(self) -> Descriptor:
        """What the metric is, as the first run that has it says."""
        return self.descriptors[min(self.descriptors)]

    def _find_ranges(self, group: Sequence[QueriedRun], rows: RunRows) -> None:
        fixed = self.query.fixed_range
        if fixed is not None:
            self.ranges.update(dict.fromkeys((run.number for run in group), fixed))
            return
        self.offered = offered_ranges(self.connection, group, rows)
        for number, measured in measured_ranges(self.offered).items():
            try:
                self.ranges[number] = self.query.time_range(*measured)
            except InputError as error:
                self.unfit[number] = error

    def _scan(
        self, group: Sequence[QueriedRun], rows: RunRows, source: str
    ) -> dict[int, Descriptor]:
        """By the numbers of the runs of the group that have the metric, what it is."""
        descriptor = scan_into_parts(
            self.connection,
            group,
            rows,
            self.query,
            source=source,
            ranges=self.ranges,
            offered=self.offered,
        )
        if descriptor is None:
            return {}
        found = self.connection.execute("SELECT DISTINCT run FROM parts").fetchall()
        numbers = {run.number for run in group}
        return {number: descriptor for (number,) in found if number in numbers}


def _check_patterns(connection: duckdb.DuckDBPyConnection, breakouts: Sequence[Breakout]) -> None:
    for breakout in breakouts:
        try:
            connection.execute("SELECT regexp_full_match('', ?)", [breakout.pattern]).fetchall()
        except duckdb.Error as error:
            raise InputError(
                f"{breakout.heading!r} is not a valid regex: {str(error).partition(': ')[2]}",
                where="--breakout",
                remedy="write it as RE2 has it: https://github.com/google/re2/wiki/Syntax",
            ) from error


def _check_names(connection: duckdb.DuckDBPyConnection, query: MetricQuery) -> None:
    """Choose the series; each breakout must be of a name that there is, with such a value."""
    known = known_names(connection)
    for breakout in query.breakouts:
        if breakout.name not in known:
            raise unknown_name(query, breakout, known)
    if not choose_series(connection, query.breakouts):
        names = [each.name for each in query.breakouts if each.kind != "every"]
        raise unknown_values(query, {name: known_values(connection, name) for name in names})


def _nothing(
    connection: duckdb.DuckDBPyConnection,
    queried: Sequence[QueriedRun],
    query: MetricQuery,
    gathered: _Gathering,
) -> InputError:
    if gathered.unfit and not gathered.ranges:
        return next(iter(gathered.unfit.values()))
    sources = [query.source, *filter(None, [_SAME_AS.get(query.source)])]
    unknown = unknown_metric(queried, query, sources)
    if unknown is not None:
        return unknown
    ranges = gathered.ranges.values()
    time = TimeRange(min(begin for begin, _ in ranges), max(end for _, end in ranges))
    recorded = recorded_range(connection, queried, sources, query.type)
    return nothing_recorded(queried, query, time, recorded)


def _answer(
    queried: Sequence[QueriedRun],
    query: MetricQuery,
    gathered: _Gathering,
    breakdown: Breakdown,
    failures: Sequence[RunFailure],
) -> QueryAnswer:
    labels = {run.number: run.label for run in queried}
    found = gathered.descriptors
    metric = gathered.metric
    failed = {failure.run for failure in failures}
    return QueryAnswer(
        query=query,
        columns=tuple(breakout.heading for breakout in query.breakouts),
        rows=tuple(_rows(breakdown, labels, gathered)),
        ranges={labels[n]: TimeRange(*gathered.ranges[n]) for n in sorted(found)},
        remaining=breakdown.remaining,
        metric_class=metric.metric_class,
        unit=metric.unit,
        aggregation="merged"
        if metric.reduction(query) == "quantile"
        else query.aggregation or metric.aggregation,
        over_time=metric.reduction(query),
        silent=tuple(
            run.label for run in queried if run.number not in found and run.label not in failed
        ),
        notes=(
            *_notes(query, {each.source for each in found.values()}, breakdown),
            *_joined_by_time(gathered.by_time),
        ),
        failures=tuple(failures),
    )


def _rows(
    breakdown: Breakdown, labels: Mapping[int, str], gathered: _Gathering
) -> Iterator[AnswerRow]:
    places = {name: natural_order(name) for row in breakdown.rows for name in row.names}
    windows = range(gathered.query.resolution)
    for row in sorted(breakdown.rows, key=lambda row: (row.run, *map(places.get, row.names))):
        yield AnswerRow(
            run=labels[row.run],
            source=gathered.descriptors[row.run].source,
            names=row.names,
            series=row.series,
            values=tuple(map(row.values.get, windows)),
            whole=row.whole,
        )


def _joined_by_time(runs: Sequence[str]) -> Iterator[str]:
    if runs:
        yield (
            f"the histograms of {', '.join(runs)} do not say of which trial they are, as those of "
            "earlier versions; they were joined to it by their times, which is wrong where the "
            "clock was set back"
        )


def _notes(query: MetricQuery, sources: set[str], breakdown: Breakdown) -> Iterator[str]:
    same = _SAME_AS.get(query.source)
    if same in sources:
        yield (
            f"answered from {same}: these runs were made by Plimsoll's own generator, "
            f"which has what {query.source} has of TRex"
        )
    count, least, greatest = breakdown.spread
    if query.filter is not None and not breakdown.rows:
        shown = f"between {least:g} and {greatest:g}" if count > 1 else f"{greatest:g}"
        yield f"none of {count} rows is {query.filter} over the whole range: they are {shown}"
    for place, breakout in enumerate(query.breakouts):
        missing = set(breakout.values) - {row.names[place] or "" for row in breakdown.rows}
        if missing and query.filter is None:
            listed = ", ".join(sorted(missing, key=natural_order))
            yield f"no series has {breakout.name} {listed}"
