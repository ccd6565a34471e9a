"""`plimsoll soak`: hours at one load, judged per window and over all."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from plimsoll.benchmark.experiment.experiment import Experiment, load_experiment
from plimsoll.benchmark.experiment.reading_interval import check_readings
from plimsoll.benchmark.experiment.set_field import SetField
from plimsoll.benchmark.soak.segments import segments_of
from plimsoll.benchmark.soak.settings import SoakAsked
from plimsoll.benchmark.soak.soak import resumable_soak, run_soak
from plimsoll.benchmark.whole_run.preflight import check_trial
from plimsoll.cli.methods.progress import progress_on
from plimsoll.cli.methods.running import running, serving
from plimsoll.cli.options.options import (
    ExperimentArgument,
    JsonOption,
    MetricsPortOption,
    RunsOption,
    parse_option,
)
from plimsoll.cli.options.set_option import SetOption
from plimsoll.cli.options.tags_option import TagsOption, tag_run
from plimsoll.cli.tables.soak_summary import print_soak
from plimsoll.cli.terminal.exit_codes import SIGNALLED, end_by
from plimsoll.cli.terminal.output import stderr, stdout
from plimsoll.errors import InputError
from plimsoll.record.results.soak_result import SoakResult
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.report import write_report
from plimsoll.text.units import parse_duration, parse_rate

_EPILOG = (
    "Examples: **plimsoll soak experiment.yaml --load 500kpps --duration 8h** · "
    "**plimsoll soak experiment.yaml --load 60% --duration 3h --window 1m --stop-on-failure** · "
    "**plimsoll soak --resume runs/20260101T120000-demo-soak**"
)


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command(epilog=_EPILOG)(soak)


def soak(
    experiment: ExperimentArgument = None,
    *,
    load: Annotated[
        str | None, typer.Option(help="Per direction: 500kpps, 2Gbps, 60%, 1.5x.")
    ] = None,
    duration: Annotated[str | None, typer.Option(help="How long to send: 30m, 8h.")] = None,
    window: Annotated[
        str | None,
        typer.Option(help="Judge each so long, such as 1m; else trial.window."),
    ] = None,
    stop_on_failure: Annotated[
        bool, typer.Option("--stop-on-failure", help="End at the first window that fails.")
    ] = False,
    set_fields: SetOption = None,
    resume: Annotated[
        Path | None, typer.Option(help="Run what this soak has left, as another trial.")
    ] = None,
    runs: RunsOption = Path("runs"),
    tag: TagsOption = None,
    metrics_port: MetricsPortOption = None,
    json: JsonOption = False,
) -> None:
    """Run hours at one load, without a search, and judge each window and the whole.

    SIGINT or SIGTERM ends it in good order: the traffic stops, what there is is judged and
    reported, and --resume runs the rest. A second signal breaks it off.

    Exits with 0 when all of it passed, with 1 when something failed, with 5 when the tester
    spoiled it, with 130 when a signal ended it before its time, whatever it found until then.
    """
    given = (load, duration, window, stop_on_failure or None)
    with serving(metrics_port) as live:
        if resume is None:
            asked, plan, directory = _new_soak(experiment, set_fields or (), given, runs)
        else:
            others = (experiment, set_fields or None, *given)
            asked, plan, directory = _old_soak(resume, others)
        tag_run(directory, tag)
        kept = running("soak", directory, "closed windows are kept", segments_of, live)
        with kept, progress_on(stderr) as progress:
            result = run_soak(asked, plan, directory, progress)
    _print(result, write_report(directory), json)
    if result.ended == "signal":
        raise typer.Exit(SIGNALLED)
    end_by(result.verdict)


_Given = tuple[str | None, str | None, str | None, bool | None]


def _new_soak(
    experiment: Path | None, set_fields: Sequence[SetField], given: _Given, runs: Path
) -> tuple[Experiment, SoakAsked, RunDirectory]:
    load, duration, window, stop_on_failure = given
    if experiment is None or load is None or duration is None:
        raise InputError(
            "name an experiment, a load and a duration, or a soak to resume",
            where="plimsoll soak",
            remedy="plimsoll soak examples/demo.yaml --load 500kpps --duration 8h",
        )
    asked = load_experiment(experiment, set_fields)
    plan = SoakAsked(
        load=parse_option("--load", parse_rate, load),
        duration_s=parse_option("--duration", parse_duration, duration),
        window_s=asked.trial.window
        if window is None
        else parse_option("--window", parse_duration, window),
        stop_on_failure=bool(stop_on_failure),
    )
    plan.check()
    check_trial(asked, plan.load, "--load")
    window = "trial.window" if window is None else "--window"
    check_readings(asked, {window: plan.window_s})
    return asked, plan, RunDirectory.create(runs, f"{asked.name}-soak", asked.normalised())


def _old_soak(resume: Path, others: Sequence[object]) -> tuple[Experiment, SoakAsked, RunDirectory]:
    if any(each is not None for each in others):
        raise InputError(
            "a resumed soak keeps its own experiment, load, duration and windows",
            where="--resume",
            remedy="name nothing else, or start a new soak",
        )
    directory = RunDirectory.open(resume)
    asked = load_experiment(directory.experiment)
    return asked, resumable_soak(asked, directory), directory


def _print(result: SoakResult, page: Path, json: bool) -> None:
    if json:
        typer.echo(result.model_dump_json(indent=2))
        return
    print_soak(result, stdout)
    stdout.print(f"\nreport: {page}", soft_wrap=True, highlight=False)
