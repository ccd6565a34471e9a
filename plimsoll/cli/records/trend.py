"""`plimsoll trend`: where did a figure change over releases, and is the newest one worse?"""

from __future__ import annotations

import json as json_text
import shlex
import sys
from collections.abc import Iterable
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from plimsoll.analysis.comparison.changes import parse_fact
from plimsoll.analysis.comparison.side import invalid_runs
from plimsoll.analysis.comparison.trend.trend import (
    FigureTrend,
    ReleaseOrder,
    Releases,
    Trend,
    releases_of,
    trend,
)
from plimsoll.analysis.comparison.trend.trend_words import notable_sentences
from plimsoll.record.index.find import read_index
from plimsoll.record.index.run_entry import RunEntry, entry_of
from plimsoll.record.query.queried_run import find_runs
from plimsoll.report.pages.trend.page import trend_page
from plimsoll.terminal.options.options import parse_option
from plimsoll.terminal.options.run_choice import RunsFolderOption, complete_run
from plimsoll.terminal.options.run_selection import (
    DutFilterOption,
    MethodFilterOption,
    NameFilterOption,
    SinceOption,
    TagFilterOption,
    UntilOption,
    UtcOption,
    began_between,
    run_filter,
)
from plimsoll.terminal.output import stderr, stdout, write_new_file
from plimsoll.terminal.tables.comparison_table import facts_table, level_changes_table, levels_table
from plimsoll.text.counted import counted
from plimsoll.text.plain_text import plain_text

_EPILOG = (
    "Examples: **plimsoll trend --by release** · "
    "**plimsoll trend --by build --name demo --since 90d --fail-if-worse** · "
    "**plimsoll trend 'runs/nightly-\\*' --figure 'p99.9 latency' --html trend.html**"
)

_ChosenArgument = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[RUNS...]",
        help="Runs, or patterns of runs in quotes; all of the folder by default.",
        autocompletion=complete_run,
    ),
]
_ByOption = Annotated[
    str | None,
    typer.Option(
        help="A tag, such as release, build or commit, or a fact, such as environment.kernel: "
        "runs with one value of it are repetitions of one release. Without it each run "
        "stands by itself, by time."
    ),
]
_OrderOption = Annotated[
    ReleaseOrder,
    typer.Option(help="Of releases: by when each was first measured, or by name, 2 before 10."),
]
_FigureOption = Annotated[
    list[str] | None,
    typer.Option(help="Follow only this one, such as 'p99.9 latency'; may be repeated."),
]
_FailIfWorseOption = Annotated[
    bool,
    typer.Option(
        "--fail-if-worse",
        help="Exit with 1 when the newest releases are worse: in what the runs were made "
        "for, or in any figure named by --figure.",
    ),
]
_HtmlOption = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Also write it as a page, with charts.")
]


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command("trend", epilog=_EPILOG)(show_trend)


def show_trend(
    chosen: _ChosenArgument = None,
    *,
    by: _ByOption = None,
    order: _OrderOption = "measured",
    tag: TagFilterOption = None,
    dut: DutFilterOption = None,
    method: MethodFilterOption = None,
    since: SinceOption = None,
    until: UntilOption = None,
    utc: UtcOption = False,
    name: NameFilterOption = None,
    figure: _FigureOption = None,
    fail_if_worse: _FailIfWorseOption = False,
    html: _HtmlOption = None,
    json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
    runs: RunsFolderOption = Path("runs"),
) -> None:
    """Find where figures changed over releases, by how much, and with which run.

    A change counts where a permutation test and the 95 % interval of its size say so: of series
    in which nothing changes, 1 % at most are said to have a change. Needs
    the extra trend (make build EXTRAS=trend).
    """
    began = began_between(since, until, datetime.now(UTC), utc=utc)
    selection = run_filter(tag, dut, method, name, began)
    key = None if by is None else parse_option("--by", parse_fact, by)
    taken = filter(selection.takes, _entries(chosen or (), runs))
    releases = releases_of(taken, key, order)
    found = trend(releases.sides, figure or ())
    _show(found, releases, json=json)
    _write_page(html, found, key)
    gated = found.figures if figure else found.figures[:1]
    if fail_if_worse and any(each.newest == "worse" for each in gated):
        raise typer.Exit(1)


def _show(found: Trend, releases: Releases, *, json: bool) -> None:
    if json:
        typer.echo(json_text.dumps(_document(found), indent=2))
    else:
        _print(found, releases)


def _write_page(html: Path | None, found: Trend, key: str | None) -> None:
    if html is not None:
        command = shlex.join(["plimsoll", *sys.argv[1:]])
        write_new_file(html, trend_page(found, by=key, command=command), "--html")


def _entries(chosen: Iterable[str], runs_root: Path) -> Iterable[RunEntry]:
    named = list(chosen)
    if not named:
        return read_index(runs_root)
    return [entry_of(run.path.name, run.path) for run in find_runs(named, runs_root)]


def _print(found: Trend, releases: Releases) -> None:
    if releases.left_out:
        stderr.print(f"{counted(releases.left_out, 'run')} without the value left out")
    if len(releases.experiments) > 1:
        names = plain_text(", ".join(releases.experiments))
        note = f"runs of {len(releases.experiments)} experiments: {names}; --name chooses"
        stderr.print(note, soft_wrap=True, highlight=False)
    for warning in invalid_runs(found.releases):
        stderr.print(warning, soft_wrap=True)
    tables = [levels_table(found), level_changes_table(found), facts_table(found)]
    for table in tables:
        if table.rows:
            stdout.print(table)
            stdout.print()
    for sentence in notable_sentences(found):
        stdout.print(plain_text(sentence), soft_wrap=True, highlight=False)


def _document(found: Trend) -> dict[str, object]:
    return {
        "releases": [
            {"label": side.label, "runs": [str(run.run.path) for run in side.runs]}
            for side in found.releases
        ],
        "figures": [_figure(each, found) for each in found.figures],
        "facts": [
            {
                "release": found.releases[at.release].label,
                "changes": [asdict(change) for change in at.changes],
            }
            for at in found.facts
        ],
    }


def _figure(figure: FigureTrend, found: Trend) -> dict[str, object]:
    return {
        "name": figure.name,
        "unit": figure.unit,
        "better": figure.better,
        "newest": figure.newest,
        "conclusion": {"kind": figure.kind, "within": figure.within},
        "values": [list(values) for values in figure.values],
        "changes": [
            {
                "release": found.releases[change.release].label,
                "judgement": change.judgement,
                "p": change.p,
                "before": change.before,
                "after": change.after,
                "shift": asdict(change.shift),
                "first_run": str(change.first_run.run.path),
            }
            for change in figure.changes
        ],
    }
