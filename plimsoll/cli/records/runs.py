"""`plimsoll runs`: what has been run, and what was found."""

from __future__ import annotations

import json as json_text
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, TypeVar, get_args

import typer

from plimsoll.cli.records import runs_check, runs_marks, runs_on, runs_rm, runs_show
from plimsoll.errors import InputError
from plimsoll.record.index.find import SortKey, in_order, read_index
from plimsoll.record.index.run_entry import RunEntry, RunState
from plimsoll.record.trials.trial_record import Verdict
from plimsoll.terminal.options.run_choice import RunsFolderOption
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
from plimsoll.terminal.options.store_option import StoreOption, listed_runs
from plimsoll.terminal.output import stderr, stdout
from plimsoll.terminal.suggesting_group import DefaultGroup
from plimsoll.terminal.tables.runs_table import RunsTable, entry_json, print_damage, shown
from plimsoll.text.mistakes import did_you_mean

_VERDICTS: Sequence[Verdict] = get_args(Verdict)
_STATES: Sequence[RunState] = get_args(RunState)
W = TypeVar("W", bound=str)
_EPILOG = (
    "Examples: **plimsoll runs list --tag kernel=6.1 --since 7d** · "
    "**plimsoll runs list --dut testpmd-memif --verdict pass --sort answer** · "
    "**plimsoll runs list --state stopped --json** · "
    "**plimsoll runs list --on kube://lab/bench**"
)


class _ListByDefault(DefaultGroup):
    default = "list"


app = typer.Typer(
    name="runs",
    cls=_ListByDefault,
    help="List runs, tag them, write notes on them, and remove them. With no subcommand, lists "
    "runs; `plimsoll runs list --help` has the options of that.",
    epilog="Examples: **plimsoll runs** · **plimsoll runs --tag kernel=6.1** · "
    "**plimsoll runs show last** · **plimsoll runs rm 20260101T1200**",
    rich_markup_mode="markdown",
)

_VerdictOption = Annotated[
    list[str] | None,
    typer.Option(help=f"{', '.join(_VERDICTS)}; one of several.", autocompletion=lambda: _VERDICTS),
]
_StateOption = Annotated[
    list[str] | None,
    typer.Option(help=f"{', '.join(_STATES)}; one of several.", autocompletion=lambda: _STATES),
]
_SortOption = Annotated[SortKey, typer.Option(help="The latest, or the highest answer, first.")]
_PartsOption = Annotated[
    bool, typer.Option("--all", help="Also the runs that a matrix run is made of.")
]


def add_to(parent: typer.Typer) -> None:
    """Register the command."""
    parent.add_typer(app)


@app.command("list", epilog=_EPILOG)
def list_runs(
    context: typer.Context,
    runs: RunsFolderOption = Path("runs"),
    *,
    tag: TagFilterOption = None,
    dut: DutFilterOption = None,
    method: MethodFilterOption = None,
    verdict: _VerdictOption = None,
    state: _StateOption = None,
    since: SinceOption = None,
    until: UntilOption = None,
    utc: UtcOption = False,
    name: NameFilterOption = None,
    sort: _SortOption = "began",
    reverse: Annotated[bool, typer.Option("--reverse", help="The other way round.")] = False,
    limit: Annotated[int | None, typer.Option(min=1, metavar="N", help="Show at most N.")] = None,
    parts: _PartsOption = False,
    store: StoreOption = None,
    on: runs_on.OfClusterOption = None,
    json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """List runs with what they found; with --on, what runs have in a cluster.

    Damaged runs are reported below the list, on standard error, and the rest is listed; they
    do not change the exit code, which is 0. With --json they are entries of state damaged.
    """
    if on is not None:
        runs_on.print_runs(on, context, as_json=json)
        return
    now = datetime.now(UTC)
    began = began_between(since, until, now, utc=utc)
    selection = replace(
        run_filter(tag, dut, method, name, began),
        verdicts=_of("--verdict", verdict, _VERDICTS),
        states=_of("--state", state, _STATES),
    )
    everything = list(read_index(listed_runs(runs, store), parts=parts))
    taken = in_order(filter(selection.takes, everything), sort, reverse=reverse)[:limit]
    if json:
        typer.echo(json_text.dumps([entry_json(entry) for entry in taken], indent=2))
        return
    _print_list(taken, everything, store or runs, now)


def _print_list(
    taken: Sequence[RunEntry], everything: Sequence[RunEntry], place: str | Path, now: datetime
) -> None:
    listed = [entry for entry in taken if entry.state != "damaged"]
    if listed:
        stdout.print(RunsTable(listed, now))
    counted = f"{len(listed)} of {len(everything)} runs in {place}"
    stderr.print(shown(counted, "dim"), soft_wrap=True)
    print_damage(everything, stderr)


def _of(option: str, given: Sequence[str] | None, known: Sequence[W]) -> tuple[W, ...]:
    """What is given, each one of the known words. Raises InputError naming the option."""
    for word in given or ():
        if word not in known:
            raise InputError(
                f"there is no {word!r}", where=option, remedy=did_you_mean(word, known)
            )
    return tuple(word for word in known if word in (given or ()))


# Below the list, as the help has them in this order.
runs_show.add_to(app)
runs_check.add_to(app)
runs_marks.add_to(app)
runs_rm.add_to(app)
runs_on.add_to(app)
