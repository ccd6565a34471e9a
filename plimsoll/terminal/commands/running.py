"""What every command that leaves a run does around it, and what the user sees of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rich.console import Console
from rich.live import Live

from plimsoll.generator.histogram import Histogram, HistogramSum
from plimsoll.generator.interface import Interval, TrialPlan
from plimsoll.host.ledger.ledger import sweep
from plimsoll.record.run.journal import JournalContents, read_journal
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.record.trials.trial_parts import TrialPhase
from plimsoll.record.trials.trial_record import TrialRecord
from plimsoll.report import write_report
from plimsoll.terminal.output import labelled, stderr
from plimsoll.terminal.tables.live_view import (
    LiveMoment,
    SearchView,
    TrialView,
    ended_line,
    live_text,
    trial_title,
)
from plimsoll.web.endpoint import ListenEndpoint

if TYPE_CHECKING:
    from plimsoll.web.open_metrics import LiveMetrics


def serving(metrics_port: ListenEndpoint | None) -> AbstractContextManager[LiveMetrics | None]:
    """Listen there, if requested, before anything is started or written.

    Which run is served is said once there is one. Raises MachineError.
    """
    if metrics_port is None:
        return nullcontext()
    from plimsoll.web.open_metrics import open_metrics  # noqa: PLC0415 - few runs need a server

    return open_metrics(metrics_port)


@contextmanager
def running(
    command: str,
    directory: RunDirectory,
    kept: str,
    worth_a_report: Callable[[JournalContents], object] | None,
    live: LiveMetrics | None = None,
) -> Iterator[None]:
    """Clean up after earlier runs, tell where this one is, and keep it if it is cut short.

    Its live values are shown by `live` while it runs. When it is cut short, `kept` says
    what stays, and how `plimsoll <command>` goes on. The report is written where the journal
    holds what is `worth_a_report`; None writes none.
    """
    for line in sweep():
        stderr.print(labelled("cleaned up after an earlier run:", line), soft_wrap=True)
    stderr.print(labelled("run:", directory.path), soft_wrap=True)
    if live is not None:
        live.show(directory)
    try:
        yield
    except BaseException:
        # The error on its way may be that the disk is full or the record damaged, or a fault.
        with suppress(Exception):
            history = None if worth_a_report is None else read_journal(directory.journal)
            if history is None or (worth_a_report and worth_a_report(history)):
                if history is not None:
                    write_report(directory)
                _say_how_to_go_on(command, directory, kept)
            elif history.events:
                # Cut short in its calibration, say: there is nothing to report yet.
                _say_how_to_go_on(command, directory, "no trial was finished yet")
        raise


def _say_how_to_go_on(command: str, directory: RunDirectory, kept: str) -> None:
    stderr.print(
        f"{kept}; resume with: plimsoll {command} --resume {directory.path}",
        soft_wrap=True,
        highlight=False,
    )


@dataclass
class _RunningTrial:
    """What is known of the trial under way."""

    view: TrialView
    plan: TrialPlan
    offered: int = 0
    lost: int = 0
    received: float = 0.0
    latency: HistogramSum = field(default_factory=HistogramSum)

    def add(self, interval: Interval) -> None:
        """Count the interval in, and draw it."""
        moment = HistogramSum()
        offered, lost, received = self._counts(interval)
        probes = {stream.stream for stream in self.plan.streams if stream.role == "latency"}
        for counts in interval.streams:
            if counts.stream in probes:
                moment.add(counts.latency)
                self.latency.add(counts.latency)
        self.offered += offered
        self.lost += lost
        self.received += received
        # What comes in during the drain was sent before: a rate of it is none.
        if interval.phase == "send":
            length_s = interval.end_s - interval.begin_s
            self.view.moments.append(_moment(received, length_s, lost, offered, moment.total))
        self.view.elapsed_s = interval.end_s
        sent_s = min(interval.end_s, self.plan.duration_s)
        total = self.latency.total
        self.view.whole = _moment(self.received, sent_s, self.lost, self.offered, total)

    def _counts(self, interval: Interval) -> tuple[int, int, float]:
        """Frames offered and lost in all, and received per direction under load."""
        offered = sum(counts.sent + counts.refused for counts in interval.streams)
        lost = sum(counts.missing + counts.refused for counts in interval.streams)
        loads = [each for each in self.plan.streams if each.role == "load"] or self.plan.streams
        directions = {(each.tx_port, each.rx_port) for each in loads}
        named = {each.stream for each in loads}
        received = sum(each.received for each in interval.streams if each.stream in named)
        return offered, lost, received / max(1, len(directions))


def _moment(
    received: float, length_s: float, lost: int, offered: int, latency: Histogram
) -> LiveMoment:
    return LiveMoment(
        rate_pps=received / length_s if length_s > 0 else None,
        loss_ratio=max(0, lost) / offered if offered else None,
        p50_ns=latency.quantile_ns(0.5),
        p99_ns=latency.quantile_ns(0.99),
        max_ns=latency.max_ns,
    )


class Progress:
    """A ProgressListener that draws on a terminal, and prints plain lines elsewhere.

    It draws when an interval ends and never in between: on a small machine each
    drawing takes time from a polling CPU.
    """

    def __init__(self, console: Console, live: Live | None) -> None:
        self._console = console
        self._live = live
        self._running: _RunningTrial | None = None
        self._search = SearchView()
        self._began_s = time.monotonic()

    def note(self, text: str) -> None:
        """Print it."""
        self._console.print(labelled("note:", text), soft_wrap=True)

    def trial_started(self, number: int, phase: TrialPhase, plan: TrialPlan) -> None:
        """Show the new trial; the first of a run begins a display of its own."""
        if number == 1:
            self._search, self._began_s = SearchView(), time.monotonic()
        title = trial_title(number, phase, plan.load_pps)
        view = TrialView(title, plan.duration_s, silent=plan.hold_s > 0)
        self._running = _RunningTrial(view, plan)
        self._draw()

    def interval(self, interval: Interval) -> None:
        """Move the live display, where there is one."""
        if self._running is not None and self._live is not None:
            self._running.add(interval)
            self._draw()

    def trial_ended(self, record: TrialRecord) -> None:
        """Turn the live display into a finished line."""
        if self._running is None:
            return
        line = ended_line(self._running.view.title, record)
        self._search.take(record.phase, record.load_pps, record.verdict)
        self._running = None
        self._console.print(line, soft_wrap=True)
        self._draw()

    def _draw(self) -> None:
        if self._live is None:
            return
        text = live_text(
            self._running.view if self._running else None,
            self._search,
            time.monotonic() - self._began_s,
            width=self._console.width,
            ascii_only=self._console.options.ascii_only,
        )
        self._live.update(text, refresh=True)


@contextmanager
def progress_on(console: Console, *, live: bool = True) -> Iterator[Progress]:
    """A Progress on this console for the length of a `with`; finished trials only, if not `live`.

    What is not a terminal, or one that cannot move its cursor, gets finished trials, too.
    """
    if not live or not console.is_terminal or console.is_dumb_terminal:
        yield Progress(console, None)
        return
    with Live("", console=console, auto_refresh=False, transient=True) as display:
        yield Progress(console, display)
