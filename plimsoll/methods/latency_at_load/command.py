"""`plimsoll latency-at-load`: latency at shares of a rate."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from plimsoll.benchmark.experiment.experiment import Experiment
from plimsoll.benchmark.session.session import check_method
from plimsoll.errors import InputError
from plimsoll.methods.latency_at_load.page import latency_at_load_answer
from plimsoll.methods.latency_at_load.result import METHOD
from plimsoll.methods.latency_at_load.run import (
    check_latency_at_load,
    run_latency_at_load,
)
from plimsoll.methods.latency_at_load.settings import LatencyAtLoadSettings
from plimsoll.methods.load_line.result import METHOD as LOAD_LINE
from plimsoll.record.results.result import read_result
from plimsoll.record.run.journal import read_journal
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.terminal.commands.standard_command import StandardCommand
from plimsoll.terminal.options.options import parse_option, parse_percents
from plimsoll.terminal.output import stdout
from plimsoll.terminal.tables.figure_table import print_sections
from plimsoll.text.units import Rate, parse_duration, parse_rate


def _settings(
    experiment: Experiment,
    *,
    rate: Annotated[
        str | None,
        typer.Option(help="100 %, per direction; else the experiment's search finds it."),
    ] = None,
    run: Annotated[
        Path | None, typer.Option(help="100 % is the load line of this finished run.")
    ] = None,
    loads: Annotated[
        str | None, typer.Option(help="Percentages of the rate; 0,10,50,90 by default, 0 is idle.")
    ] = None,
    duration: Annotated[
        str | None, typer.Option(help="Of the trial at each load; 1m by default.")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="2 s at each load.")] = False,
) -> LatencyAtLoadSettings:
    """Measure the probes' latency without load and at shares of a rate.

    Exits with 0 if latency was measured at every load, with 1 if the search found no rate, with 5
    if a load's result is inconclusive because of the tester.
    """
    if rate is not None and run is not None:
        raise InputError(
            "the rate is given twice", where="--run", remedy="give --rate or --run, not both"
        )
    update: dict[str, Any] = {}
    if rate is not None:
        update = {"rate": parse_option("--rate", parse_rate, rate), "rate_from": "given"}
    if run is not None:
        update = {"rate": _rate_of(run), "rate_from": "run"}
    if loads is not None:
        update["percents"] = parse_percents("--loads", loads)
    if duration is not None:
        update["trial_s"] = parse_option("--duration", parse_duration, duration)
    defaults = LatencyAtLoadSettings.quickly() if quick else LatencyAtLoadSettings()
    settings = defaults.model_copy(update=update)
    check_latency_at_load(experiment, settings)
    return settings


def _rate_of(path: Path) -> Rate:
    """The load line of a finished run. Raises InputError where it has none."""
    directory = RunDirectory.open(path)
    check_method(read_journal(directory.journal), LOAD_LINE, directory)
    result = read_result(directory)
    if result is None or result.load_line is None:
        problem = "the run has no result yet" if result is None else "the run found no load line"
        raise InputError(
            problem, where="--run", remedy="name a finished run that found one, or give --rate"
        )
    return Rate(result.load_line.pps_per_direction, "pps")


add_to = StandardCommand(
    METHOD,
    model=LatencyAtLoadSettings,
    settings=_settings,
    run=run_latency_at_load,
    show=lambda _, run: print_sections(latency_at_load_answer(run), stdout),
    example="plimsoll latency-at-load examples/demo.yaml --rate 1Mpps",
    examples=(
        "plimsoll latency-at-load experiment.yaml --rate 2Mpps",
        "plimsoll latency-at-load experiment.yaml --run runs/20260101T120000-demo",
        "plimsoll latency-at-load --resume runs/20260101T120000-demo-latency-at-load",
    ),
).add_to
