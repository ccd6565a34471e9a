"""`plimsoll simulate`: search a simulated DUT, whose true load line is known."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer
from rich.panel import Panel
from rich.table import Table

from plimsoll.benchmark.experiment import load_experiment
from plimsoll.benchmark.load_line import find_load_line
from plimsoll.benchmark.preflight import check_search
from plimsoll.benchmark.simulation import (
    Simulated,
    SimulationAsked,
    parse_loss,
    parse_settings,
)
from plimsoll.cli.options import parse_option
from plimsoll.cli.output import stderr, stdout
from plimsoll.cli.progress import Progress
from plimsoll.cli.result_summary import print_result
from plimsoll.errors import InputError
from plimsoll.generator.simulated.models.registry import model_kinds
from plimsoll.record.journal import read_journal
from plimsoll.record.run_directory import RunDirectory
from plimsoll.report import write_report
from plimsoll.traffic.units import format_duration, format_pps, format_ratio, parse_duration

_NO_LOAD_LINE = 1
# That of the truth where no validation says how long a load has to hold.
_HORIZON_S = 10_800.0
_EPILOG = (
    "Examples: **plimsoll simulate --list** · "
    "**plimsoll simulate rare-stalls --strategy load-line --loss 0 --validation 3h** · "
    "**plimsoll simulate soft-knee --seed 7 --set knee=2% --set search.granularity=0.5%**"
)


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command(epilog=_EPILOG)(simulate)


def simulate(
    model: Annotated[
        str | None, typer.Argument(help="The simulated DUT; --list tells which there are.")
    ] = None,
    strategy: Annotated[
        str | None, typer.Option(help="binary, mlrsearch, load-line or checkpoints.")
    ] = None,
    seed: Annotated[int, typer.Option(help="The same seed gives the same run.", min=0)] = 0,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", help="A field of the model, or of the experiment (search.width)."),
    ] = None,
    validation: Annotated[
        str | None, typer.Option(help="Validate for this long, such as 60s or 3h.")
    ] = None,
    loss: Annotated[
        str | None, typer.Option(help="The loss ratio allowed, such as 0 or 0.002%.")
    ] = None,
    experiment: Annotated[
        Path | None,
        typer.Option(help="Take profile, criteria and search from this experiment (YAML)."),
    ] = None,
    runs: Annotated[
        Path | None, typer.Option(help="Keep the run below this directory; by default nowhere.")
    ] = None,
    list_models: Annotated[
        bool, typer.Option("--list", help="Print the models and their fields.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Print what was found as JSON.")] = False,
) -> None:
    """Search a simulated DUT in simulated time, and print its true load line beside.

    Nothing is sent and nothing of the machine is used. Exits with 1 when no load line was
    found.
    """
    if list_models:
        _print_models()
        return
    if model is None:
        raise InputError("name a model", where="plimsoll simulate", remedy="plimsoll simulate --list")
    asked = SimulationAsked(
        model=model,
        strategy=strategy,
        seed=seed,
        settings=parse_settings(settings or [], "--set"),
        validation_s=_optional("--validation", parse_duration, validation),
        loss=_optional("--loss", parse_loss, loss),
    )
    base = None if experiment is None else load_experiment(experiment)
    _run(asked.experiment(base), runs, json)
