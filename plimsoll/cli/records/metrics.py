"""`plimsoll metrics`: questions to the metrics of runs."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, tzinfo
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from plimsoll.record.index.find import LAST
from plimsoll.record.query import (
    MEASUREMENT,
    MetricQuery,
    QueryAnswer,
    RunFailure,
    ask,
    parse_breakouts,
    parse_filter,
    parse_moment,
)
from plimsoll.record.query.contents import metric_contents
from plimsoll.record.query.queried_run import find_runs
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.terminal.options.metric_completion import (
    complete_period,
    complete_source,
    complete_type,
)
from plimsoll.terminal.options.run_choice import RunsFolderOption, complete_run
from plimsoll.terminal.options.store_option import StoreOption, bring_whole, listed_runs
from plimsoll.terminal.output import errors, labelled, stderr, stdout
from plimsoll.terminal.suggesting_group import SuggestingGroup
from plimsoll.terminal.tables.metric_tables import (
    contents_csv,
    contents_json,
    contents_table,
    metric_csv,
    metric_json,
    metric_table,
    names_and_counts,
)
from plimsoll.text.plain_text import plain_text

app = typer.Typer(
    name="metrics",
    cls=SuggestingGroup,
    help="Ask the metrics of runs: what the generator and the hosts showed, second by second.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
)


def add_to(parent: typer.Typer) -> None:
    """Register the command."""
    parent.add_typer(app)


class Output(StrEnum):
    """How an answer is printed."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"


class Across(StrEnum):
    """How several series become one."""

    SUM = "sum"
    MEAN = "mean"
    MAX = "max"
    MIN = "min"


class OverTimeOption(StrEnum):
    """What becomes of a series' values in a window."""

    MEAN = "mean"
    MAX = "max"
    MIN = "min"
    TOTAL = "total"


_BeginOption = Annotated[
    str | None,
    typer.Option(
        help="From here on: ms since the epoch, a date and time (in this host's time, or "
        "with an offset: 2026-11-22T07:30Z), +s after the period begins or -s before it "
        "ends. The period's begin where left out."
    ),
]
_BreakoutOption = Annotated[
    list[str] | None,
    typer.Option(
        help="Names to split by, with commas: a for every value, a=v1+v2 for these, "
        "a=r/regex/ for each that matches, a=R/regex/ for all that match together."
    ),
]
_FilterOption = Annotated[
    str | None,
    typer.Option("--filter", help="Only rows whose overall value matches, such as gt:0.5."),
]
_AggregationOption = Annotated[
    Across | None, typer.Option(help="Across series; the metric's own where left out.")
]
_WindowOption = Annotated[
    OverTimeOption | None,
    typer.Option(
        help="Of each series in a window; total is its value times seconds. Where left out, "
        "the mean; of a greatest or least value that, of a quantile that of all samples."
    ),
]


RunOption = Annotated[
    list[str] | None,
    typer.Option(
        help="A run directory, a run's id or its start, last, or a pattern in quotes; "
        "may be repeated. The last run where left out.",
        autocompletion=complete_run,
    ),
]
PeriodOption = Annotated[
    str,
    typer.Option(
        help="A trial, such as trial-0007 or 7; measurement, the trial that proved the result "
        "or the most telling one; the trials of a phase, such as validation; or all.",
        autocompletion=complete_period,
    ),
]
OutputOption = Annotated[Output, typer.Option(help="Print it as this.")]


@app.command(
    name="get",
    epilog="Examples: **plimsoll metrics get --source trafficgen --type rx-pps "
    "--breakout port_pair,rx_port,tx_port** · **plimsoll metrics get --run 20260101T12 "
    "--source mpstat --type Busy-CPU --breakout hostname=dut-1,num,type --filter gt:0.5** · "
    "**plimsoll metrics get --run 'runs/*-demo' --source procstat --type interrupts-sec "
    "--breakout 'desc=r/i40e-.\\*/' --resolution 70 --output csv**",
)
def get(
    source: Annotated[str, typer.Option(help="What measured it.", autocompletion=complete_source)],
    type_: Annotated[str, typer.Option("--type", help="The metric.", autocompletion=complete_type)],
    *,
    run: RunOption = None,
    period: PeriodOption = MEASUREMENT,
    begin: _BeginOption = None,
    end: Annotated[str | None, typer.Option(help="Up to here, likewise.")] = None,
    resolution: Annotated[int, typer.Option(help="Number of equal windows.")] = 1,
    breakout: _BreakoutOption = None,
    filter_: _FilterOption = None,
    aggregation: _AggregationOption = None,
    over_time: _WindowOption = None,
    utc: Annotated[bool, typer.Option("--utc", help="Times in UTC, not this host's.")] = False,
    output: OutputOption = Output.TABLE,
    runs: RunsFolderOption = Path("runs"),
    store: StoreOption = None,
) -> None:
    """Query the metrics of one or more runs: one row per breakout.

    The columns end with one for each window, under the time at which it ends. Windows in
    which nothing was recorded are empty. The column aggregation says how values were computed
    that are not plain means. Further names to split by are listed on stderr.

    Exits with 4 if a run is damaged; the others are answered.
    """
    zone = UTC if utc else None
    query = MetricQuery(
        source=source,
        type=type_,
        period=period,
        begin=None if begin is None else parse_moment(begin, "--begin", zone),
        end=None if end is None else parse_moment(end, "--end", zone),
        resolution=resolution,
        breakouts=parse_breakouts(",".join(breakout)) if breakout else (),
        filter=None if filter_ is None else parse_filter(filter_),
        aggregation=None if aggregation is None else aggregation.value,
        over_time=None if over_time is None else over_time.value,
    )
    queried = _queried(run, runs, store)
    if run is None:
        _note(f"run {queried[0].path}")
    answer = ask(queried, query)
    _print_answer(answer, output, zone, with_run=len(queried) > 1)
    _exit_after(answer.failures)


@app.command(
    name="list",
    epilog="Examples: **plimsoll metrics list** · **plimsoll metrics list --run last "
    "--source mpstat**",
)
def list_(
    run: RunOption = None,
    *,
    source: Annotated[
        str | None, typer.Option(help="Only this.", autocompletion=complete_source)
    ] = None,
    period: PeriodOption = MEASUREMENT,
    output: OutputOption = Output.TABLE,
    runs: RunsFolderOption = Path("runs"),
    store: StoreOption = None,
) -> None:
    """List the metrics of a run: sources, types, units, and names with their number of values.

    Exits with 4 if a run is damaged; the others are listed.
    """
    queried = _queried(run, runs, store)
    if run is None:
        _note(f"run {queried[0].path}")
    contents, failures = metric_contents(queried, period, source)
    if output is Output.JSON:
        typer.echo(contents_json(contents))
    elif output is Output.CSV:
        typer.echo(contents_csv(contents))
    elif contents:
        stdout.print(contents_table(contents))
    else:
        _note(f"no metrics of {source or 'any source'} in {period} of {len(queried)} run(s)")
    _exit_after(failures)


def _queried(run: list[str] | None, runs: Path, store: str | None) -> list[RunDirectory]:
    """The runs of a question, their metrics brought here where they are in a store."""
    queried = find_runs(run or [LAST], listed_runs(runs, store))
    bring_whole(store, {each.run_id for each in queried})
    return list(queried)


def _print_answer(
    answer: QueryAnswer, output: Output, zone: tzinfo | None, *, with_run: bool
) -> None:
    if output is Output.JSON:
        typer.echo(metric_json(answer))
    elif output is Output.CSV:
        typer.echo(metric_csv(answer))
    elif answer.rows:
        typer.echo(metric_table(answer, with_run=with_run, zone=zone))
    for note in answer.notes:
        _note(note)
    if answer.silent:
        _note(f"nothing of it in {len(answer.silent)} run(s): {', '.join(answer.silent[:5])}")
    if answer.remaining:
        _note(f"also to break out by: {names_and_counts(answer.remaining)}")


def _exit_after(failures: Sequence[RunFailure]) -> None:
    for failure in failures:
        errors.print_error(failure.error)
    if failures:
        raise typer.Exit(failures[0].error.exit_code)


def _note(text: str) -> None:
    stderr.print(labelled("note:", plain_text(text)), soft_wrap=True)
