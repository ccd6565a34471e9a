"""`plimsoll probe`: one frame in flight, for hours."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from plimsoll.benchmark.probe.probe import METHOD, run_probe
from plimsoll.benchmark.probe.settings import ProbeAsked
from plimsoll.benchmark.whole_run.preflight import check_search
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
from plimsoll.cli.options.options import (
    ExperimentArgument,
    JsonOption,
    MetricsPortOption,
    RunsOption,
    parse_option,
)
from plimsoll.cli.options.set_option import SetOption
from plimsoll.cli.options.tags_option import TagsOption, tag_run
from plimsoll.cli.terminal.exit_codes import SIGNALLED, end_by
from plimsoll.cli.terminal.output import stderr
from plimsoll.report.pages.standard.probe_answer import probe_answer
from plimsoll.text.units import parse_duration, parse_rate

_COMMAND = StandardCommand(METHOD, "plimsoll probe examples/demo.yaml --duration 1m")
_EPILOG = (
    "Examples: **plimsoll probe experiment.yaml --duration 8h --rate 10kpps** · "
    "**plimsoll probe examples/demo.yaml --duration 1m** · "
    "**plimsoll probe --resume runs/20260101T120000-demo-probe**"
)


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command(epilog=_EPILOG)(probe)


def probe(
    experiment: ExperimentArgument = None,
    *,
    duration: Annotated[
        str | None, typer.Option(help="How long to probe: 1m, 8h; 8h by default.")
    ] = None,
    rate: Annotated[
        str | None, typer.Option(help="At most so often in each direction; 10kpps by default.")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="10 s instead of hours.")] = False,
    set_fields: SetOption = None,
    resume: Annotated[
        Path | None, typer.Option(help="Probe for what this run has left, as another trial.")
    ] = None,
    runs: RunsOption = Path("runs"),
    tag: TagsOption = None,
    metrics_port: MetricsPortOption = None,
    json: JsonOption = False,
) -> None:
    """Send the next probe when the last is back, without load, and count latency by microsecond.

    The frames are those of the profile's probes, or of its load where it has none. SIGINT or
    SIGTERM ends it in good order; --resume probes for the rest.

    Exits with 0 when probes came back, with 1 when none did, with 5 when the tester could not
    tell, with 130 after a signal.
    """
    with serving(metrics_port) as live:
        if resume is None:
            named = given_experiment(_COMMAND, experiment, set_fields)
            settings = _asked(duration, rate, quick)
            settings.check(named.effective_generator)
            check_search(named)
            asked = new_run(_COMMAND, named, settings, runs)
        else:
            given = (experiment, set_fields or None, duration, rate)
            others = quick or any(each is not None for each in given)
            asked = resumed_run(_COMMAND, resume, ProbeAsked, others_given=others)
        tag_run(asked.directory, tag)
        with running_standard(_COMMAND, asked.directory, live), progress_on(stderr) as progress:
            result = run_probe(asked.experiment, asked.settings, asked.directory, progress)
    print_outcome(result, probe_answer(asked.directory), asked.directory, json)
    if result.ended == "signal":
        raise typer.Exit(SIGNALLED)
    end_by(result.verdict)


def _asked(duration: str | None, rate: str | None, quick: bool) -> ProbeAsked:
    asked = ProbeAsked.quickly() if quick else ProbeAsked()
    update: dict[str, Any] = {}
    if duration is not None:
        update["duration_s"] = parse_option("--duration", parse_duration, duration)
    if rate is not None:
        update["rate"] = parse_option("--rate", parse_rate, rate)
    return asked.model_copy(update=update)
