"""`plimsoll runs`: what has been run, and what was found."""

from __future__ import annotations

import json as json_text
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_args

import typer

from plimsoll.cli.options.moments import parse_since, parse_until
from plimsoll.cli.options.options import parse_option
from plimsoll.cli.options.run_choice import RunsFolderOption
from plimsoll.cli.records import runs_check, runs_marks, runs_rm, runs_show
from plimsoll.cli.tables.run_words import entry_json, shown
from plimsoll.cli.tables.runs_table import RunsTable, print_damage
from plimsoll.cli.terminal.output import stderr, stdout
from plimsoll.cli.terminal.suggesting_group import SuggestingGroup
from plimsoll.errors import InputError
from plimsoll.record.index.run_entry import RunState
from plimsoll.record.index.run_filter import RunFilter, SortKey, in_order
from plimsoll.record.index.run_index import read_index
from plimsoll.record.index.run_tag import parse_tag, parse_tag_key
from plimsoll.record.trials.trial_record import Verdict
from plimsoll.text.mistakes import did_you_mean

_VERDICTS: Sequence[Verdict] = get_args(Verdict)
_STATES: Sequence[RunState] = get_args(RunState)
W = TypeVar("W", bound=str)
_EPILOG = (
    "Examples: **plimsoll runs list --tag kernel=6.1 --since 7d** · "
    "**plimsoll runs list --dut testpmd-memif --verdict pass --sort answer** · "
    "**plimsoll runs list --state stopped --json**"
)


class _ListByDefault(SuggestingGroup):
    """`plimsoll runs --tag x` is `plimsoll runs list --tag x`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """As the group's own, with the command put in where none is named."""
        bare = not args or (args[0].startswith("-") and args[0] != "--help")
        # While the shell completes, nothing may stand where a command may still come.
        if bare and not ctx.resilient_parsing:
            args = ["list", *args]
        return super().parse_args(ctx, args)


app = typer.Typer(
    name="runs",
    cls=_ListByDefault,
    help="List runs, tag them, write notes on them, and remove them. Without a command it is "
    "`list`, whose options `plimsoll runs list --help` tells.",
    epilog="Examples: **plimsoll runs** · **plimsoll runs --tag kernel=6.1** · "
    "**plimsoll runs show last** · **plimsoll runs rm 20260101T1200**",
    rich_markup_mode="markdown",
)


def add_to(parent: typer.Typer) -> None:
    """Register the command."""
    parent.add_typer(app)


@app.command("list", epilog=_EPILOG)
def list_runs(
    runs: RunsFolderOption = Path("runs"),
    *,
    tag: Annotated[
        list[str] | None, typer.Option(help="A key, or key=value; of several all must be there.")
    ] = None,
    dut: Annotated[
        list[str] | None,
        typer.Option(help="A kind of lab, or the model of a simulated DUT; one of several."),
    ] = None,
    method: Annotated[
        list[str] | None, typer.Option(help="Such as load-line, soak, rfc2544; one of several.")
    ] = None,
    verdict: Annotated[
        list[str] | None,
        typer.Option(
            help=f"{', '.join(_VERDICTS)}; one of several.", autocompletion=lambda: _VERDICTS
        ),
    ] = None,
    state: Annotated[
        list[str] | None,
        typer.Option(help=f"{', '.join(_STATES)}; one of several.", autocompletion=lambda: _STATES),
    ] = None,
    since: Annotated[
        str | None,
        typer.Option(
            help="Began then or later: 2026-11-22, 2026-11-22T07:30, 7d, today; in this host's "
            "time, or with an offset: 2026-11-22T07:30Z."
        ),
    ] = None,
    until: Annotated[
        str | None, typer.Option(help="Began before: a moment, or the end of a day; likewise.")
    ] = None,
    utc: Annotated[
        bool, typer.Option("--utc", help="--since and --until in UTC, not this host's time.")
    ] = False,
    name: Annotated[
        str | None, typer.Option(help="A shell pattern for name or id, such as '*-imix'.")
    ] = None,
    sort: Annotated[
        SortKey, typer.Option(help="The latest, or the highest answer, first.")
    ] = "began",
    reverse: Annotated[bool, typer.Option("--reverse", help="The other way round.")] = False,
    limit: Annotated[int | None, typer.Option(min=1, help="At most so many.")] = None,
    parts: Annotated[
        bool, typer.Option("--all", help="Also the runs that a matrix run is made of.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """List runs with what they found.

    Damaged runs are reported below the list, on standard error, and the rest is listed; they
    do not change the exit code, which is 0. With --json they are entries of state damaged.
    """
    now, zone = datetime.now(UTC), UTC if utc else None
    wanted = RunFilter(
        tags=tuple(_tag(text) for text in tag or ()),
        duts=tuple(dut or ()),
        methods=tuple(method or ()),
        verdicts=_of("--verdict", verdict, _VERDICTS),
        states=_of("--state", state, _STATES),
        since_ns=None
        if since is None
        else parse_option("--since", partial(parse_since, now=now, zone=zone), since),
        until_ns=None
        if until is None
        else parse_option("--until", partial(parse_until, now=now, zone=zone), until),
        name=name,
    )
    everything = list(read_index(runs, parts=parts))
    taken = in_order(filter(wanted.takes, everything), sort, reverse=reverse)[:limit]
    if json:
        typer.echo(json_text.dumps([entry_json(entry) for entry in taken], indent=2))
        return
    listed = [entry for entry in taken if entry.state != "damaged"]
    if listed:
        stdout.print(RunsTable(listed, now))
    counted = f"{len(listed)} of {len(everything)} runs in {runs}"
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


def _tag(text: str) -> tuple[str, str | None]:
    if "=" in text:
        return parse_option("--tag", parse_tag, text)
    return parse_option("--tag", parse_tag_key, text), None


# Below the list, as the help has them in this order.
runs_show.add_to(app)
runs_check.add_to(app)
runs_marks.add_to(app)
runs_rm.add_to(app)
