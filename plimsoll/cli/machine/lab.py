"""`plimsoll lab`: labs that stay up between commands."""

from __future__ import annotations

import json as json_text
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
import yaml
from rich.table import Table
from rich.text import Text

from plimsoll.benchmark.experiment.experiment import load_experiment
from plimsoll.benchmark.experiment.set_field import SetField
from plimsoll.dut.lab import LabModel
from plimsoll.dut.registry.labs import lab_kinds, lab_needs, lab_of_kind
from plimsoll.dut.registry.standing import LabDescription, lab_down, lab_list, lab_up
from plimsoll.errors import InputError
from plimsoll.host.ledger.ledger import sweep
from plimsoll.host.resctrl.filesystem import resctrl_offer
from plimsoll.terminal.options.options import SetOption
from plimsoll.terminal.output import labelled, stdout
from plimsoll.terminal.suggesting_group import SuggestingGroup

app = typer.Typer(
    name="lab",
    cls=SuggestingGroup,
    help="Bring a DUT up and keep it up, to try things by hand or with other tools.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
)


def add_to(parent: typer.Typer) -> None:
    """Register the command."""
    parent.add_typer(app)


@app.command(name="list", epilog="Example: **plimsoll lab list**")
def list_labs(
    json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """List the labs that are up, also those of runs, and the kinds there are with their needs."""
    sweep()
    labs = lab_list()
    if json:
        typer.echo(json_text.dumps([asdict(each) for each in labs], indent=2))
        return
    stdout.print(_table(labs) if labs else "no lab is up")
    stdout.print("\nkinds of lab:")
    needs = lab_needs()
    for kind, summary in lab_kinds().items():
        stdout.print(Text.assemble("  ", (kind, "bold"), f"  {summary}"), soft_wrap=True)
        if kind not in needs:
            continue
        stdout.print(labelled("    needs:", needs[kind].in_words()), soft_wrap=True)
        if missing := needs[kind].missing():
            stdout.print(labelled("    missing here:", ", ".join(missing), "red"), soft_wrap=True)
        if without := needs[kind].unavailable_settings():
            stdout.print(labelled("    not here:", ", ".join(without), "red"), soft_wrap=True)
        for shared in needs[kind].sharing_settings():
            stdout.print(labelled("    functional here:", shared, "yellow"), soft_wrap=True)
    offer = resctrl_offer().in_words()
    stdout.print("\nallocation of caches and memory bandwidth (CAT, MBA) by resctrl:")
    stdout.print(f"  {offer}", highlight=False, soft_wrap=True)


@app.command(
    epilog="Examples: **plimsoll lab up testpmd-memif** · "
    "**plimsoll lab up --experiment examples/demo.yaml**"
)
def up(
    kind: Annotated[str, typer.Argument(help="The kind of lab, with its defaults.")] = (
        "testpmd-memif"
    ),
    experiment: Annotated[
        Path | None, typer.Option(help="Take the lab from this experiment instead.")
    ] = None,
    set_fields: SetOption = None,
) -> None:
    """Bring a lab up and leave it up; prints how a generator, ours or another, connects to it."""
    settings = _lab(kind, experiment, set_fields or ())
    lab = lab_up(settings)
    running = ", ".join(lab.processes) or "the kernel forwards"
    stdout.print(Text.assemble("lab ", (lab.id, "bold"), f" is up: {running}"))
    if lab.note:
        stdout.print(labelled("note:", lab.note), soft_wrap=True)
    if lab.ports is not None:
        stdout.print("\nuse it from an experiment with:\n")
        text = yaml.safe_dump({"lab": lab.ports.as_external()}, sort_keys=False, width=1000)
        stdout.print(text, highlight=False, soft_wrap=True)
    stdout.print(f"take it down with: plimsoll lab down {lab.id}", highlight=False)


@app.command(epilog="Example: **plimsoll lab down lab-1a2b3c**")
def down(lab: Annotated[str, typer.Argument(help="Its id, as lab list shows it.")]) -> None:
    """Take a lab down and give back all that it used."""
    for line in lab_down(lab):
        stdout.print(line, soft_wrap=True, highlight=False)


def _lab(kind: str, experiment: Path | None, set_fields: Sequence[SetField]) -> LabModel:
    if experiment is not None:
        return load_experiment(experiment, set_fields).lab
    for each in set_fields:
        raise InputError(
            "there is no experiment to set it in", where=each.place, remedy="give --experiment"
        )
    return lab_of_kind(kind)


def _table(labs: tuple[LabDescription, ...]) -> Table:
    table = Table(box=None, pad_edge=False)
    for name in ("id", "kind", "state", "processes"):
        table.add_column(name)
    for lab in labs:
        table.add_row(lab.id, lab.kind, lab.state, ", ".join(lab.processes))
    return table
