"""`plimsoll init`: an experiment for this host."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from plimsoll.benchmark.proposal.proposed_experiment import proposed_experiment
from plimsoll.benchmark.proposal.survey import survey_host
from plimsoll.terminal.output import stderr, write_new_file


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command(epilog="Examples: **plimsoll init** · **plimsoll init -o experiment.yaml**")(init)


def init(
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Write here, and not to standard output.")
    ] = None,
) -> None:
    """Write an experiment for this host: its CPUs, hugepages, and ports or a testpmd.

    Looks only, and changes nothing. Two ports that are bound for DPDK are used; without them
    the DUT is dpdk-testpmd over shared memory, which needs no NIC. `plimsoll run` takes what it
    writes as it is.
    """
    text = proposed_experiment(survey_host())
    if output is None:
        typer.echo(text, nl=False)
        return
    write_new_file(output, text)
    stderr.print(f"run it with: plimsoll run {output}", soft_wrap=True, highlight=False)
