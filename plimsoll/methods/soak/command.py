"""`plimsoll soak`: hours at one load, judged per window and over all."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import typer
from rich.console import Console
from rich.panel import Panel
from rich.text import Text

from plimsoll.benchmark.experiment.experiment import Experiment
from plimsoll.benchmark.experiment.reading_interval import check_readings
from plimsoll.benchmark.whole_run.preflight import check_trial
from plimsoll.errors import InputError
from plimsoll.methods.soak.result import METHOD, SoakResult
from plimsoll.methods.soak.run import run_soak
from plimsoll.methods.soak.series import segments_of
from plimsoll.methods.soak.settings import SoakSettings
from plimsoll.report.parts.headline import compared_loads
from plimsoll.terminal.commands.standard_command import StandardCommand
from plimsoll.terminal.options.options import parse_option
from plimsoll.terminal.output import stdout
from plimsoll.terminal.tables.trial_table import VERDICT_STYLES
from plimsoll.text.units import (
    format_duration,
    format_ns,
    format_pps,
    format_ratio,
    parse_duration,
    parse_rate,
    parse_ratio,
)

# A soak's result on the terminal.

_LoadOption = Annotated[str | None, typer.Option(help="Per direction: 500kpps, 2Gbps, 60%, 1.5x.")]
_WindowOption = Annotated[
    str | None,
    typer.Option(
        help="Length of the windows that are judged, such as 1m; by default trial.window."
    ),
]
_StopOnFailureOption = Annotated[
    bool, typer.Option("--stop-on-failure", help="End at the first window that fails.")
]
_UndecidedOption = Annotated[
    str,
    typer.Option(
        help="The share of windows in which stalls of the tester may leave open whether a "
        "latency criterion was kept."
    ),
]


def print_soak(result: SoakResult, console: Console) -> None:
    """Print the verdict, and what it stands on."""
    console.print()
    style = VERDICT_STYLES[result.verdict]
    text = Text("\n").join(_lines(result, style))
    console.print(Panel(text, title="Soak", border_style=style, expand=False))


def _lines(result: SoakResult, style: str) -> Iterator[Text]:
    yield Text.assemble(
        (result.verdict.upper(), f"bold {style}"),
        f"  {format_pps(result.load_pps)} per direction for {format_duration(result.sent_s)}",
    )
    if result.offered_pps is not None:
        yield Text(f"{compared_loads(result.load_pps, result.offered_pps)}.")
    for segment in result.segments:
        for reason in segment.reasons:
            yield Text(f"  {reason.text}")
    yield from (Text(note) for note in result.notes)
    yield from (Text(drift.text) for drift in result.drift if drift.drifts)
    for cause, count in result.spikes.counts.items():
        yield Text(
            f"{count:,} latency spikes above {result.spikes.factor:g} times the usual: {cause}"
        )
    tester = result.tester
    yield Text(
        f"tester: {tester.stalls:,} stalls, the longest {format_ns(tester.worst_stall_ns)}; at "
        f"worst {format_ratio(tester.worst_stalled_share)} of a window"
    )


_EXAMPLE = "plimsoll soak examples/demo.yaml --load 500kpps --duration 8h"


def _settings(
    experiment: Experiment,
    *,
    load: _LoadOption = None,
    duration: Annotated[str | None, typer.Option(help="How long to send: 30m, 8h.")] = None,
    window: _WindowOption = None,
    stop_on_failure: _StopOnFailureOption = False,
    undecided: _UndecidedOption = "5%",
) -> SoakSettings:
    """Run hours at one load, without a search, and judge each window and the whole.

    SIGINT or SIGTERM stops it cleanly: traffic stops, the part that ran is judged and reported, and
    --resume runs the remaining time as another trial. A second signal aborts it immediately.

    Exits with 0 if the soak passed, with 1 if it failed, with 5 if it is invalid because of the
    tester, with 130 if a signal ended it early, whatever it had found.
    """
    if load is None or duration is None:
        raise InputError(
            "name an experiment, a load and a duration, or a run to resume",
            where="plimsoll soak",
            remedy=_EXAMPLE,
        )
    settings = SoakSettings(
        load=parse_option("--load", parse_rate, load),
        duration_s=parse_option("--duration", parse_duration, duration),
        window_s=experiment.trial.window
        if window is None
        else parse_option("--window", parse_duration, window),
        stop_on_failure=stop_on_failure,
        undecided=parse_option("--undecided", parse_ratio, undecided),
    )
    settings.check()
    check_trial(experiment, settings.load, "--load")
    place = "trial.window" if window is None else "--window"
    check_readings(experiment, {place: settings.window_s})
    return settings


add_to = StandardCommand(
    METHOD,
    model=SoakSettings,
    settings=_settings,
    run=run_soak,
    show=lambda result, _: print_soak(result, stdout),
    example=_EXAMPLE,
    examples=(
        "plimsoll soak experiment.yaml --load 500kpps --duration 8h",
        "plimsoll soak experiment.yaml --load 60% --duration 3h --window 1m --stop-on-failure",
        "plimsoll soak --resume runs/20260101T120000-demo-soak",
    ),
    kept="closed windows are kept",
    worth_a_report=segments_of,
).add_to
