"""`plimsoll rfc9004`: back-to-back bursts, and the buffer that they tell of."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from plimsoll.benchmark.rfc2544.preparation import check_frames
from plimsoll.benchmark.rfc9004.rfc9004 import METHOD, run_rfc9004
from plimsoll.benchmark.rfc9004.settings import Rfc9004Settings
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
from plimsoll.cli.options.frame_options import parse_sizes
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
from plimsoll.report.pages.standard.rfc9004_answer import rfc9004_answer
from plimsoll.text.units import format_duration, parse_duration, parse_rate

_COMMAND = StandardCommand(METHOD, "plimsoll rfc9004 examples/demo.yaml --quick")
# Section 6.2: the limit must be configurable up to this.
_LONGEST_BURST_S, _SHORTEST_BURST_S = 30.0, 0.001
_EPILOG = (
    "Examples: **plimsoll rfc9004 experiment.yaml --burst-limit 10s** · "
    "**plimsoll rfc9004 examples/demo.yaml --quick --sizes 64** · "
    "**plimsoll rfc9004 --resume runs/20260101T120000-demo-rfc9004**"
)


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command(epilog=_EPILOG)(rfc9004)


def rfc9004(
    experiment: ExperimentArgument = None,
    *,
    sizes: Annotated[
        str | None,
        typer.Option(help="Frame sizes with FCS; 64,128,256,512,1024,1280,1518 by default."),
    ] = None,
    maximum: Annotated[
        str | None,
        typer.Option(
            help="The frame rate of bursts where the lab has no line rate; by default the "
            "search's maximum."
        ),
    ] = None,
    burst_limit: Annotated[
        str | None, typer.Option(help="The time that the longest burst takes, up to 30s.")
    ] = None,
    repeats: Annotated[
        int | None, typer.Option(min=1, help="N, how often each search is repeated.")
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Seconds instead of the standard's durations.")
    ] = False,
    set_fields: SetOption = None,
    resume: Annotated[
        Path | None, typer.Option(help="Go on with this run after its last trial.")
    ] = None,
    runs: RunsOption = Path("runs"),
    tag: TagsOption = None,
    metrics_port: MetricsPortOption = None,
    json: JsonOption = False,
) -> None:
    """The longest bursts without loss, and the DUT's buffer time, per RFC 9004.

    Exits with 0 when the buffer times are valid, with 1 when the DUT has no throughput, with 5
    when the tester could not tell, be it that bursts were too short to fill a buffer.
    """
    with serving(metrics_port) as live:
        if resume is None:
            named = given_experiment(_COMMAND, experiment, set_fields)
            settings = _settings(sizes, maximum, burst_limit, repeats, quick)
            check_frames(named, settings)
            asked = new_run(_COMMAND, named, settings, runs)
        else:
            given = (experiment, set_fields or None, sizes, maximum, burst_limit, repeats)
            others = quick or any(each is not None for each in given)
            asked = resumed_run(_COMMAND, resume, Rfc9004Settings, others_given=others)
        tag_run(asked.directory, tag)
        with running_standard(_COMMAND, asked.directory, live), progress_on(stderr) as progress:
            result = run_rfc9004(asked.experiment, asked.settings, asked.directory, progress)
    print_outcome(result, rfc9004_answer(asked.directory), asked.directory, json)
    end_by(result.verdict)


def _settings(
    sizes: str | None,
    maximum: str | None,
    burst_limit: str | None,
    repeats: int | None,
    quick: bool,
) -> Rfc9004Settings:
    settings = Rfc9004Settings.quickly() if quick else Rfc9004Settings()
    bursts: dict[str, Any] = {}
    if burst_limit is not None:
        bursts["limit_s"] = _parse_limit(burst_limit)
    if repeats is not None:
        bursts["repeats"] = repeats
    update: dict[str, Any] = {"bursts": settings.bursts.model_copy(update=bursts)}
    if sizes is not None:
        update["sizes"] = parse_sizes("--sizes", sizes)
    if maximum is not None:
        update["maximum"] = parse_option("--maximum", parse_rate, maximum)
    return settings.model_copy(update=update)


def _parse_limit(text: str) -> float:
    limit_s = parse_option("--burst-limit", parse_duration, text)
    if not _SHORTEST_BURST_S <= limit_s <= _LONGEST_BURST_S:
        raise InputError(
            f"no burst may take {format_duration(limit_s)}",
            where="--burst-limit",
            remedy="give a time from 1ms to 30s",
        )
    return limit_s
