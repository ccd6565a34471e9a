"""`plimsoll plugfest`: DUTs against each other, over chains, flows, frame sizes and noise."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from plimsoll.benchmark.experiment.set_field import SetField
from plimsoll.methods.matrix.many_runs import MatrixCommand
from plimsoll.methods.matrix.plan import begin_matrix
from plimsoll.methods.plugfest.conclusions import plugfest_result
from plimsoll.methods.plugfest.document import load_plugfest
from plimsoll.methods.plugfest.grids import (
    STATE_WORDS,
    THROUGHPUT,
    difference_grid,
    duts_of,
    latency_grid,
    setting_of,
    setting_title,
    throughput_grid,
)
from plimsoll.methods.plugfest.plan import refusal_text
from plimsoll.methods.plugfest.result import METHOD, PlugfestResult
from plimsoll.methods.plugfest.run import INVALID_SHARE, Prospect, Span, prospect, run_plugfest
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.report.figures.table import ReportTable
from plimsoll.terminal.commands.running import serving
from plimsoll.terminal.options.options import (
    JsonOption,
    MetricsPortOption,
    RunsOption,
    SetOption,
    TagsOption,
    parse_option,
    tag_run,
)
from plimsoll.terminal.output import stderr, stdout
from plimsoll.terminal.tables.figure_table import FigureTable, TableColumn
from plimsoll.text.counted import counted
from plimsoll.text.plain_text import plain_text
from plimsoll.text.units import format_duration, parse_duration

_EPILOG = (
    "Examples: **plimsoll plugfest plugfest.yaml** · **plimsoll plugfest plugfest.yaml "
    "--budget 8h** · **plimsoll plugfest --resume runs/20260101T120000-plugfest --budget 10h**"
)
_MAX_LABELS = 3
# A page of what there is, however little.
_COMMAND = MatrixCommand(
    METHOD,
    "plugfest.yaml",
    kept="finished cells are kept",
    worth_a_report=lambda journal: bool(journal.events),
)

_ExperimentArgument = Annotated[
    Path | None, typer.Argument(help="The experiment, with a plugfest section (YAML).")
]
_BudgetOption = Annotated[
    str | None,
    typer.Option(
        help="Time limit for the whole plugfest, such as 8h. Repetitions are dropped to meet it."
    ),
]
_DryRunOption = Annotated[
    bool, typer.Option("--dry-run", help="Say what would be run and how long, and end.")
]
_ResumeOption = Annotated[
    Path | None, typer.Option(help="Run what this run has left, failed or left out.")
]


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command(epilog=_EPILOG)(plugfest)


def plugfest(
    experiment: _ExperimentArgument = None,
    *,
    budget: _BudgetOption = None,
    dry_run: _DryRunOption = False,
    set_fields: SetOption = None,
    resume: _ResumeOption = None,
    runs: RunsOption = Path("runs"),
    tag: TagsOption = None,
    metrics_port: MetricsPortOption = None,
    json: JsonOption = False,
) -> None:
    """Compare DUTs head to head over chains, flows, frame sizes, noise and generators.

    Every combination is a cell, run several times in an order that is drawn anew for each round. A
    cell that cannot be run, or gives no result, is reported with the reason; all other cells are
    still run.

    Exits with the code of a cell that ended with an error; else with 1 if a DUT carried no load,
    with 5 if a cell is inconclusive because of the tester, else with 0, even if cells were refused
    from the start.
    """
    budget_s = None if budget is None else parse_option("--budget", parse_duration, budget)
    fields = set_fields or ()

    def what_to_run(into: Path) -> RunDirectory:
        return _COMMAND.what_to_run(experiment, resume, fields, partial(_begun, fields, into))

    if dry_run:
        with TemporaryDirectory(prefix="plimsoll-") as nowhere:
            _say(prospect(what_to_run(Path(nowhere)), budget_s))
        return
    with serving(metrics_port) as live:
        directory = what_to_run(runs)
        ahead = prospect(directory, budget_s)
        _say(ahead)
        tag_run(directory, tag)
        with _COMMAND.going_on(directory, live, json=json) as (progress, hooks):
            result = run_plugfest(directory, ahead, progress, hooks, plugfest_result)
    _COMMAND.hand_over(result, directory, partial(_show, result), json=json)


def _begun(set_fields: Sequence[SetField], runs: Path, experiment: Path) -> RunDirectory:
    found = load_plugfest(experiment, set_fields)
    return begin_matrix(found.matrix, runs, METHOD, found.plan.as_settings())


def _show(result: PlugfestResult) -> None:
    for table in plugfest_tables(result):
        stdout.print()
        stdout.print(table)


def _say(ahead: Prospect) -> None:
    for line in _prospects(ahead):
        stderr.print(plain_text(line), soft_wrap=True, highlight=False)


def _prospects(ahead: Prospect) -> list[str]:
    """What will be run, what not, how long it takes and when it ends."""
    cells = len(ahead.cells.cells)
    expected = ahead.estimate
    lines = [
        f"{counted(cells, 'cell')}, {expected.cells} of which can be run, "
        f"{counted(expected.repetitions, 'repetition')} each; order drawn by seed "
        f"{ahead.plan.seed}"
    ]
    for reason, labels in ahead.refusals.items():
        shown = "; ".join(labels[:_MAX_LABELS])
        more = f" and {len(labels) - _MAX_LABELS} more" if len(labels) > _MAX_LABELS else ""
        lines.append(f"refused: {shown}{more}: {reason}")
    lines += [f"not now: {refusal_text(taken)}" for taken in ahead.taken]
    if ahead.done:
        lines.append(f"done already: {counted(ahead.done, 'repetition')}")
    if expected.first is None or expected.all_of_it is None:
        lines.append("how long a search takes is not known before the links are up")
    else:
        lines.append(
            f"estimate: {_in_words(expected.first)} for one of each, "
            f"{_in_words(expected.all_of_it)} for all that is left; the former without an invalid "
            f"trial, the latter with {INVALID_SHARE:.0%} of a search's trials invalid and run again"
        )
    if ahead.left_s is not None:
        ends = time.strftime("%Y-%m-%d %H:%M", time.localtime(time.time() + ahead.left_s))
        lines.append(
            f"ends by {ends} ({format_duration(ahead.left_s)}): to stay within "
            "the budget, repeats are dropped, never cells"
        )
        lines += _too_little(expected.first, ahead.left_s)
    return lines


def _too_little(first: Span | None, left_s: float) -> list[str]:
    """A warning where the time does not suffice for one of each cell, or may not."""
    if first is None or first.most_s <= left_s:
        return []
    verb = "takes" if first.least_s > left_s else "may take"
    return [
        f"warning: one repetition of each cell {verb} longer than the {format_duration(left_s)} "
        f"there are: {_in_words(first)}, and it is run all the same (give more with --budget)"
    ]


def _in_words(span: Span) -> str:
    least, most = format_duration(round(span.least_s)), format_duration(round(span.most_s))
    return least if least == most else f"{least} to {most}"


# A plugfest on the terminal: a table of each setting, differences, and what has no load line.
def plugfest_tables(result: PlugfestResult) -> Iterator[FigureTable]:
    """Throughput, latency and differences of each chain, noise and generator."""
    several = len(duts_of(result)) > 1
    for setting in dict.fromkeys(map(setting_of, result.measured)):
        title = setting_title(setting)
        yield _table(throughput_grid(result, setting), title)
        yield _table(latency_grid(result, setting, "p99 latency"), title)
        if several:
            yield _table(difference_grid(result, setting, THROUGHPUT), title)
    lost = [cell for cell in result.cells if cell.reason]
    if lost:
        columns = [
            TableColumn("", "left", wraps=True),
            TableColumn("", "left"),
            TableColumn("why", "left", True),
        ]
        table = FigureTable("Cells without a load line", columns)
        for cell in lost:
            table.add_row(cell.label, STATE_WORDS[cell.state], plain_text(cell.reason or ""))
        yield table


def _table(grid: ReportTable, setting: str) -> FigureTable:
    flows, frames, *others = (column.heading for column in grid.shown_columns)
    columns = [TableColumn(f"{flows}, {frames.lower()}", "left"), *map(TableColumn, others)]
    table = FigureTable(f"{grid.title}: {setting}", columns)
    for _, (flows_cell, frames_cell, *cells) in grid.shown_rows:
        table.add_row(f"{flows_cell.text}, {frames_cell.text}", *(cell.text for cell in cells))
    return table
