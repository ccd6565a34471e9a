"""`plimsoll osnoise`: what takes CPUs away from a loop that only looks at the clock."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.text import Text

from plimsoll.benchmark.noise.noise import NoiseSettings, measure_noise
from plimsoll.host.cpus import parse_cpu_list
from plimsoll.host.ledger.janitor import swept_ledger
from plimsoll.host.ledger.ledger import sweep
from plimsoll.record.results.noise_result import NoiseResult
from plimsoll.terminal.options.options import JsonOption, parse_option
from plimsoll.terminal.output import labelled, stderr, stdout
from plimsoll.terminal.tables.noise_summary import print_noise
from plimsoll.text.units import parse_duration, parse_latency_ns

_EXCEEDED = 1
_EPILOG = (
    "Examples: **plimsoll osnoise --cpus 1** · **plimsoll osnoise --cpus 2-5 --duration 10m** · "
    "**plimsoll osnoise --cpus 1 --duration 60s --max 20us --json**"
)


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command(epilog=_EPILOG)(osnoise)


def osnoise(
    cpus: Annotated[str, typer.Option(help="The CPUs to measure, in the form 2-5,8.")],
    *,
    duration: Annotated[str, typer.Option(help="For how long: 10s, 1m, 8h.")] = "60s",
    threshold: Annotated[
        str, typer.Option(help="Gaps from here on are stalls and looked into, from 1us on.")
    ] = "1us",
    max_gap: Annotated[
        str | None, typer.Option("--max", help="The longest gap that passes: 20us.")
    ] = None,
    trace: Annotated[
        bool, typer.Option(help="Record the kernel's events, by which causes are named.")
    ] = True,
    json: JsonOption = False,
) -> None:
    """Measure how long, and by what, busy-polling CPUs are interrupted.

    No traffic, no ports, no hugepages: a loop of the engine's on each CPU reads the time stamp
    counter without a pause, as a dataplane polls, and each gap is counted. What had the CPU
    in that time is found in the kernel's events. Nothing is kept.

    Exits with 0 if no gap was longer than --max or --max was not given, with 1 otherwise.
    """
    settings = NoiseSettings(
        cpus=parse_cpu_list(cpus, where="--cpus"),
        duration_s=parse_option("--duration", parse_duration, duration),
        threshold_ns=parse_option("--threshold", parse_latency_ns, threshold),
        max_ns=None if max_gap is None else parse_option("--max", parse_latency_ns, max_gap),
        trace=trace,
    )
    settings.check()
    for line in sweep():
        stderr.print(labelled("cleaned up after an earlier run:", line), soft_wrap=True)
    result = _measured(settings)
    if json:
        typer.echo(result.model_dump_json(indent=2))
    else:
        print_noise(result, stdout)
    if result.passed is False:
        raise typer.Exit(_EXCEEDED)


def _measured(settings: NoiseSettings) -> NoiseResult:
    with swept_ledger("noise") as ledger, stderr.status("") as status:
        return measure_noise(settings, ledger, lambda step: status.update(Text(step, "dim")))
