"""`plimsoll test rfc9004`: back-to-back bursts, and the buffer that they tell of."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from plimsoll.benchmark.experiment.experiment import Experiment
from plimsoll.errors import InputError
from plimsoll.methods.rfc2544.subject import check_frames
from plimsoll.methods.rfc9004.page import rfc9004_answer
from plimsoll.methods.rfc9004.result import METHOD
from plimsoll.methods.rfc9004.run import run_rfc9004
from plimsoll.methods.rfc9004.settings import Rfc9004Settings
from plimsoll.terminal.commands.standard_command import StandardCommand
from plimsoll.terminal.options.options import parse_option, parse_sizes
from plimsoll.terminal.output import stdout
from plimsoll.terminal.tables.figure_table import print_sections
from plimsoll.text.units import format_duration, parse_duration, parse_rate

# Section 6.2: the limit must be configurable up to this.
_LONGEST_BURST_S, _SHORTEST_BURST_S = 30.0, 0.001

_SizesOption = Annotated[
    str | None,
    typer.Option(help="Frame sizes with FCS; 64,128,256,512,1024,1280,1518 by default."),
]
_MaximumOption = Annotated[
    str | None,
    typer.Option(
        help="The frame rate of bursts where the lab has no line rate; by default the "
        "search's maximum."
    ),
]
_BurstLimitOption = Annotated[
    str | None, typer.Option(help="The time that the longest burst takes, up to 30s.")
]
_RepeatsOption = Annotated[
    int | None, typer.Option(min=1, help="N, how often each search is repeated.")
]
_QuickOption = Annotated[
    bool, typer.Option("--quick", help="Seconds instead of the standard's durations.")
]


def _settings(
    experiment: Experiment,
    *,
    sizes: _SizesOption = None,
    maximum: _MaximumOption = None,
    burst_limit: _BurstLimitOption = None,
    repeats: _RepeatsOption = None,
    quick: _QuickOption = False,
) -> Rfc9004Settings:
    """The longest bursts without loss, and the DUT's buffer time, per RFC 9004.

    Exits with 0 if the buffer times are valid, with 1 if the DUT has no throughput, with 5 if the
    result is inconclusive because of the tester, for example because bursts were too short to fill
    a buffer.
    """
    defaults = Rfc9004Settings.quickly() if quick else Rfc9004Settings()
    bursts: dict[str, Any] = {}
    if burst_limit is not None:
        bursts["limit_s"] = _parse_limit(burst_limit)
    if repeats is not None:
        bursts["repeats"] = repeats
    update: dict[str, Any] = {"bursts": defaults.bursts.model_copy(update=bursts)}
    if sizes is not None:
        update["sizes"] = parse_sizes("--sizes", sizes)
    if maximum is not None:
        update["maximum"] = parse_option("--maximum", parse_rate, maximum)
    settings = defaults.model_copy(update=update)
    check_frames(experiment, settings)
    return settings


def _parse_limit(text: str) -> float:
    limit_s = parse_option("--burst-limit", parse_duration, text)
    if not _SHORTEST_BURST_S <= limit_s <= _LONGEST_BURST_S:
        raise InputError(
            f"no burst may take {format_duration(limit_s)}",
            where="--burst-limit",
            remedy="give a time from 1ms to 30s",
        )
    return limit_s


add_to = StandardCommand(
    METHOD,
    model=Rfc9004Settings,
    settings=_settings,
    run=run_rfc9004,
    show=lambda _, run: print_sections(rfc9004_answer(run), stdout),
    example="plimsoll test rfc9004 examples/demo.yaml --quick",
    examples=(
        "plimsoll test rfc9004 experiment.yaml --burst-limit 10s",
        "plimsoll test rfc9004 examples/demo.yaml --quick --sizes 64",
        "plimsoll test rfc9004 --resume runs/20260101T120000-demo-rfc9004",
    ),
).add_to
