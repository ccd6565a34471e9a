"""`plimsoll compare`: is the difference between runs more than their spread?"""

from __future__ import annotations

import json as json_text
import shlex
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from plimsoll.analysis.comparison.changes import parse_fact, sides_by
from plimsoll.analysis.comparison.comparison import Comparison, FigureComparison, compare
from plimsoll.analysis.comparison.side import Side, find_side, invalid_runs
from plimsoll.analysis.comparison.words import sentences
from plimsoll.errors import InputError
from plimsoll.record.index.find import read_index
from plimsoll.record.index.run_entry import entry_of
from plimsoll.record.query.queried_run import find_runs
from plimsoll.report.pages.comparison.page import comparison_page
from plimsoll.terminal.options.options import parse_option
from plimsoll.terminal.options.run_choice import RunsFolderOption, complete_run
from plimsoll.terminal.output import stderr, stdout, write_new_file
from plimsoll.terminal.tables.comparison_table import changes_table, figures_table

_EPILOG = (
    "Examples: **plimsoll compare 20260101T120000-demo last** · "
    "**plimsoll compare release=4.18 release=4.19 --fail-if-worse** · "
    "**plimsoll compare --by kernel --by experiment.lab.kind --html grid.html** · "
    "**plimsoll compare 'runs/base-\\*' 'runs/tuned-\\*' --html tuned.html**"
)

_SidesArgument = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="RUNS...",
        help="Sides: a run, a pattern of runs in quotes, or a tag (key=value) that several "
        "repetitions carry. The first is the baseline.",
        autocompletion=complete_run,
    ),
]
_ByOption = Annotated[
    list[str] | None,
    typer.Option(
        help="A tag, such as kernel, or a fact, such as experiment.lab.kind: each value is a "
        "side, of the RUNS or else of all runs. If given twice, each pair of values is one side."
    ),
]
_FailIfWorseOption = Annotated[
    bool,
    typer.Option(
        "--fail-if-worse",
        help="Exit with 1 when what the runs were made for is worse than the baseline's.",
    ),
]
_HtmlOption = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Also write it as a page, with charts and latencies."),
]


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command("compare", epilog=_EPILOG)(compare_runs)


def compare_runs(
    sides: _SidesArgument = None,
    *,
    by: _ByOption = None,
    fail_if_worse: _FailIfWorseOption = False,
    html: _HtmlOption = None,
    json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
    runs: RunsFolderOption = Path("runs"),
) -> None:
    """Compare runs, or groups of repetitions, with the first one named.

    What else changed comes first: experiment, host, versions and tuning. A side is better or worse
    where the difference's 95 % interval leaves out zero, which takes four repetitions a side, or
    three and five, and the same where all of it is within the run's search.width (else 1 %);
    where it cannot tell, it says what would. Latency and loss are those at each run's own
    answer.
    """
    facts = [parse_option("--by", parse_fact, text) for text in by or ()]
    found = compare(_sides(sides or [], facts, runs))
    if json:
        typer.echo(json_text.dumps(_document(found), indent=2))
    else:
        _print(found)
    if html is not None:
        command = shlex.join(["plimsoll", *sys.argv[1:]])
        write_new_file(html, comparison_page(found, command=command, facts=facts), "--html")
    if fail_if_worse and any(each.kind == "worse" for each in found.figures[0].conclusions):
        raise typer.Exit(1)


def _sides(texts: Sequence[str], facts: Sequence[str], runs_root: Path) -> Sequence[Side]:
    if len(facts) > 2:
        raise InputError(f"{len(facts)} facts to group by", where="--by", remedy="give one or two")
    if facts:
        named = find_runs(texts, runs_root)
        entries = [entry_of(run.path.name, run.path) for run in named]
        return sides_by(entries if texts else read_index(runs_root), facts)
    if len(texts) < 2:
        raise InputError(
            "one side cannot be compared" if texts else "no runs are named",
            where="plimsoll compare",
            remedy="name a baseline and what to compare with it, or group runs by --by",
        )
    return [find_side(each, runs_root) for each in texts]


def _print(found: Comparison) -> None:
    if found.changes:
        stdout.print(changes_table(found))
        stdout.print()
    stdout.print(figures_table(found))
    stdout.print()
    for sentence in sentences(found):
        stdout.print(sentence, soft_wrap=True)
    for warning in invalid_runs(found.sides):
        stderr.print(warning, soft_wrap=True)


def _document(found: Comparison) -> dict[str, object]:
    return {
        "sides": [
            {"label": side.label, "runs": [str(run.run.path) for run in side.runs]}
            for side in found.sides
        ],
        "changes": [asdict(each) for each in found.changes],
        "figures": [_figure(each) for each in found.figures],
    }


def _figure(of: FigureComparison) -> dict[str, object]:
    return {**asdict(of), "conclusions": [each.model_dump() for each in of.conclusions]}
