"""A soak's result on the terminal."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console
from rich.panel import Panel
from rich.text import Text

from plimsoll.methods.soak.result import SoakResult
from plimsoll.report.parts.offered import compared_loads
from plimsoll.terminal.tables.trial_table import VERDICT_STYLES
from plimsoll.text.units import format_duration, format_ns, format_pps, format_ratio


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
