"""What the user sees of a run while it goes on: one live line, and a line per finished trial."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from rich.console import Console
from rich.live import Live
from rich.markup import escape
from rich.text import Text

from plimsoll.cli.tables.trial_table import PHASES, VERDICT_STYLES, reason_of
from plimsoll.generator.histogram_sum import HistogramSum
from plimsoll.generator.interface import Interval, TrialPlan
from plimsoll.record.trials.trial_record import TrialPhase, TrialRecord
from plimsoll.text.units import format_duration, format_ns, format_pps, format_ratio

_BAR_CELLS = 24


@dataclass
class _RunningTrial:
    """What is known of the trial under way."""

    title: str
    planned_s: float
    plan: TrialPlan
    elapsed_s: float = 0.0
    offered: int = 0
    lost: int = 0
    latency: HistogramSum = field(default_factory=HistogramSum)

    def add(self, interval: Interval) -> None:
        probes = {stream.stream for stream in self.plan.streams if stream.role == "latency"}
        self.elapsed_s = interval.end_s
        self.offered += sum(counts.sent + counts.refused for counts in interval.streams)
        self.lost += sum(counts.missing + counts.refused for counts in interval.streams)
        for counts in interval.streams:
            if counts.stream in probes:
                self.latency.add(counts.latency)

    def render(self) -> Text:
        if self.plan.hold is not None and not self.elapsed_s:
            # Nothing comes before the trial ends; a clock would take its time from the loops.
            silent = f"  sending for {format_duration(self.planned_s)}, in silence: no CPU is free"
            return Text(f"{self.title}{silent}")
        share = min(1.0, self.elapsed_s / self.planned_s)
        cells = round(share * _BAR_CELLS)
        left_s = max(0.0, self.planned_s - self.elapsed_s)
        p99 = self.latency.total.quantile_ns(0.99)
        loss = format_ratio(max(0, self.lost) / self.offered) if self.offered else "-"
        return Text.assemble(
            f"{self.title}  ",
            ("━" * cells, "green"),
            ("━" * (_BAR_CELLS - cells), "dim"),
            f"  {format_duration(left_s)} left" if left_s else "  draining",
            f"  loss {loss}",
            f"  probe p99 {format_ns(p99) if p99 is not None else '-'}",
        )


class Progress:
    """A Watcher that draws on a terminal, and prints plain lines elsewhere.

    It draws when an interval ends and never in between: on a small machine each
    drawing takes time from a polling CPU.
    """

    def __init__(self, console: Console, live: Live | None) -> None:
        self._console = console
        self._live = live
        self._running: _RunningTrial | None = None

    def note(self, text: str) -> None:
        """Print it."""
        self._console.print(f"[dim]note:[/] {escape(text)}", soft_wrap=True)

    def trial_started(
        self, number: int, phase: TrialPhase, load_pps: float, plan: TrialPlan
    ) -> None:
        """Show the new trial."""
        load = format_pps(load_pps) if load_pps else "probe only"
        title = f"{number:>3}  {PHASES[phase]:<11} {load:>11}"
        self._running = _RunningTrial(title, plan.duration_s, plan)
        self._draw()

    def interval(self, interval: Interval) -> None:
        """Move the live line, where there is one."""
        if self._running is not None and self._live is not None:
            self._running.add(interval)
            self._draw()

    def trial_ended(self, record: TrialRecord) -> None:
        """Turn the live line into a finished one."""
        if self._running is None:
            return
        style = VERDICT_STYLES[record.verdict]
        verdict = "" if record.verdict == "none" else record.verdict.upper()
        reason = reason_of(record)
        self._console.print(
            Text.assemble(f"{self._running.title}  ", (f"{verdict:<8}", style), reason),
            soft_wrap=True,
        )
        self._running = None
        self._draw()

    def _draw(self) -> None:
        if self._live is not None:
            self._live.update(self._running.render() if self._running else "", refresh=True)


@contextmanager
def progress_on(console: Console) -> Iterator[Progress]:
    """A Progress on this console for the length of a `with`."""
    if not console.is_terminal:
        yield Progress(console, None)
        return
    with Live("", console=console, auto_refresh=False, transient=True) as live:
        yield Progress(console, live)
