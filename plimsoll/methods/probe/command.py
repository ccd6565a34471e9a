"""`plimsoll probe`: one frame in flight, for hours."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from plimsoll.benchmark.experiment.experiment import Experiment
from plimsoll.benchmark.whole_run.preflight import check_search
from plimsoll.methods.probe.page import probe_answer
from plimsoll.methods.probe.result import METHOD
from plimsoll.methods.probe.run import run_probe
from plimsoll.methods.probe.settings import ProbeSettings
from plimsoll.terminal.commands.standard_command import StandardCommand
from plimsoll.terminal.options.options import parse_option
from plimsoll.terminal.output import stdout
from plimsoll.terminal.tables.figure_table import print_sections
from plimsoll.text.units import parse_duration, parse_rate


def _settings(
    experiment: Experiment,
    *,
    duration: Annotated[
        str | None, typer.Option(help="How long to probe: 1m, 8h; 8h by default.")
    ] = None,
    rate: Annotated[
        str | None, typer.Option(help="Maximum probe rate per direction; 10kpps by default.")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="10 s instead of hours.")] = False,
) -> ProbeSettings:
    """Send one probe at a time, without load, and record a latency histogram in microseconds.

    The frames are those of the profile's probes, or of its load where it has none. SIGINT or
    SIGTERM stops it cleanly; --resume probes for the remaining time, as another trial.

    Exits with 0 if probes came back, with 1 if no probe came back, with 5 if the result is
    inconclusive because of the tester, with 130 after a signal.
    """
    update: dict[str, Any] = {}
    if duration is not None:
        update["duration_s"] = parse_option("--duration", parse_duration, duration)
    if rate is not None:
        update["rate"] = parse_option("--rate", parse_rate, rate)
    settings = (ProbeSettings.quickly() if quick else ProbeSettings()).model_copy(update=update)
    settings.check(experiment.effective_generator)
    check_search(experiment)
    return settings


add_to = StandardCommand(
    METHOD,
    model=ProbeSettings,
    settings=_settings,
    run=run_probe,
    show=lambda _, run: print_sections(probe_answer(run), stdout),
    example="plimsoll probe examples/demo.yaml --duration 1m",
    examples=(
        "plimsoll probe experiment.yaml --duration 8h --rate 10kpps",
        "plimsoll probe examples/demo.yaml --duration 1m",
        "plimsoll probe --resume runs/20260101T120000-demo-probe",
    ),
).add_to
