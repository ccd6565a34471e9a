"""`plimsoll latency-at-load`: latency at shares of a rate."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from plimsoll.benchmark.latency_at_load.latency_at_load import (
    METHOD,
    check_latency_at_load,
    run_latency_at_load,
)
from plimsoll.benchmark.latency_at_load.settings import LatencyAtLoadAsked
from plimsoll.benchmark.load_line.load_line import METHOD as SEARCH
from plimsoll.benchmark.session.beginning import check_method
from plimsoll.cli.methods.progress import progress_on
from plimsoll.cli.methods.running import serving
from plimsoll.cli.methods.standard_command import (
    StandardCommand,
    given_experiment,
    new_run,
    print_outcome,
    resumed_run,
    running_standard,
)
from plimsoll.cli.options.frame_options import parse_percents
from plimsoll.cli.options.options import (
    ExperimentArgument,
    JsonOption,
    MetricsPortOption,
    RunsOption,
    parse_option,
)
from plimsoll.cli.options.set_option import SetOption
from plimsoll.cli.options.tags_option import TagsOption, tag_run
from plimsoll.cli.terminal.exit_codes import end_by
from plimsoll.cli.terminal.output import stderr
from plimsoll.errors import InputError
from plimsoll.record.results.result import read_result
from plimsoll.record.run.journal import read_journal
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.report.pages.standard.latency_at_load_answer import latency_at_load_answer
from plimsoll.text.units import Rate, parse_duration, parse_rate

_COMMAND = StandardCommand(METHOD, "plimsoll latency-at-load examples/demo.yaml --rate 1Mpps")
_EPILOG = (
    "Examples: **plimsoll latency-at-load experiment.yaml --rate 2Mpps** · "
    "**plimsoll latency-at-load experiment.yaml --run runs/20260101T120000-demo** · "
    "**plimsoll latency-at-load --resume runs/20260101T120000-demo-latency-at-load**"
)


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command("latency-at-load", epilog=_EPILOG)(latency_at_load)


def latency_at_load(
    experiment: ExperimentArgument = None,
    *,
    rate: Annotated[
        str | None,
        typer.Option(help="100 %, per direction; else the experiment's search finds it."),
    ] = None,
    run: Annotated[
        Path | None, typer.Option(help="100 % is the load line of this finished run.")
    ] = None,
    loads: Annotated[
        str | None, typer.Option(help="Percents of the rate; 0,10,50,90 by default, 0 is no load.")
    ] = None,
    duration: Annotated[
        str | None, typer.Option(help="Of the trial at each load; 1m by default.")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="2 s at each load.")] = False,
    set_fields: SetOption = None,
    resume: Annotated[
        Path | None, typer.Option(help="Go on with this run after its last trial.")
    ] = None,
    runs: RunsOption = Path("runs"),
    tag: TagsOption = None,
    metrics_port: MetricsPortOption = None,
    json: JsonOption = False,
) -> None:
    """Measure the probes' latency without load and at shares of a rate.

    Exits with 0 when it was measured at every load, with 1 when the search found no rate, with
    5 when the tester could not tell at some load.
    """
    with serving(metrics_port) as live:
        if resume is None:
            named = given_experiment(_COMMAND, experiment, set_fields)
            settings = _asked(rate, run, loads, duration, quick)
            check_latency_at_load(named, settings)
            asked = new_run(_COMMAND, named, settings, runs)
        else:
            given = (experiment, set_fields or None, rate, run, loads, duration)
            others = quick or any(each is not None for each in given)
            asked = resumed_run(_COMMAND, resume, LatencyAtLoadAsked, others_given=others)
        tag_run(asked.directory, tag)
        with running_standard(_COMMAND, asked.directory, live), progress_on(stderr) as progress:
            result = run_latency_at_load(
                asked.experiment, asked.settings, asked.directory, progress
            )
    print_outcome(result, latency_at_load_answer(asked.directory), asked.directory, json)
    end_by(result.verdict)


def _asked(
    rate: str | None, run: Path | None, loads: str | None, duration: str | None, quick: bool
) -> LatencyAtLoadAsked:
    if rate is not None and run is not None:
        raise InputError(
            "the rate is given twice", where="--run", remedy="give --rate or --run, not both"
        )
    asked = LatencyAtLoadAsked.quickly() if quick else LatencyAtLoadAsked()
    update: dict[str, Any] = {}
    if rate is not None:
        update = {"rate": parse_option("--rate", parse_rate, rate), "rate_from": "given"}
    if run is not None:
        update = {"rate": _rate_of(run), "rate_from": "run"}
    if loads is not None:
        update["percents"] = parse_percents("--loads", loads)
    if duration is not None:
        update["trial_s"] = parse_option("--duration", parse_duration, duration)
    return asked.model_copy(update=update)


def _rate_of(path: Path) -> Rate:
    """The load line of a finished run. Raises InputError where it has none."""
    directory = RunDirectory.open(path)
    check_method(read_journal(directory.journal), SEARCH, directory)
    result = read_result(directory)
    if result is None or result.load_line is None:
        problem = "the run has no result yet" if result is None else "the run found no load line"
        raise InputError(
            problem, where="--run", remedy="name a finished run that found one, or give --rate"
        )
    return Rate(result.load_line.pps_per_direction, "pps")
