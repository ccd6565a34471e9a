"""The kernel's events on the tester's own host around one trial's incidents, page by page."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from plimsoll.attribution.events.coverage import TraceCoverage
from plimsoll.attribution.events.trace_time import on_tsc
from plimsoll.attribution.incidents.incident import Incident
from plimsoll.attribution.incidents.windows import IncidentWindow, trace_windows
from plimsoll.benchmark.testbed.buffer_losses import BufferLosses
from plimsoll.benchmark.testbed.event_budget import within_budget
from plimsoll.observe.kernel_trace.event import KernelEvent
from plimsoll.observe.kernel_trace.kernel_trace import KernelTrace
from plimsoll.observe.kernel_trace.trace_unavailable import TraceUnavailable
from plimsoll.record.causes.causes_record import TraceState
from plimsoll.record.trials.clock_fit import ClockFit


@dataclass
class LocalPages:
    """What was read of a trace, None where no loop polls here: `events` have the TSC's time."""

    trace: KernelTrace | TraceUnavailable | None
    tsc_hz: float
    events: list[KernelEvent] = field(default_factory=list)
    _losses: BufferLosses = field(default_factory=BufferLosses)

    def events_per_s(self) -> float:
        """Since the trial began. Raises MachineError."""
        return self.trace.events_per_s() if isinstance(self.trace, KernelTrace) else 0.0

    def read(
        self, found: Sequence[Incident], fit: ClockFit | None, most_events: int
    ) -> Sequence[Incident]:
        """Read around a page's incidents, and keep as many as there is room for their events.

        Raises MachineError.
        """
        trace = self.trace
        # Times of the raw clock can only be carried over once the clocks were read at the end.
        if not isinstance(trace, KernelTrace) or (trace.clock == "mono_raw" and fit is None):
            return found
        windows = trace_windows(found, self.tsc_hz)
        if trace.clock == "mono_raw" and fit is not None:
            events = on_tsc(trace.read(_in_raw_ns(windows, fit)), fit)
        else:
            events = trace.read(windows)
        kept, around = within_budget(found, events, self.tsc_hz, most_events)
        self.events += around
        for lost in trace.lost_events:
            if not lost.elsewhere:
                self._losses.note(lost.cpu, lost.events, lost.complete_from_tsc)
        return kept

    def coverage(self, span: tuple[int, int], fit: ClockFit | None) -> TraceCoverage:
        """From when to when in `span`, that of the trial, the trace is complete."""
        if not isinstance(self.trace, KernelTrace):
            return TraceCoverage()
        return self._losses.coverage(self.trace.cpus, span, self._tsc(fit))

    def state(self, span: tuple[int, int], fit: ClockFit | None) -> TraceState:
        """What the record says of it."""
        trace = self.trace
        if not isinstance(trace, KernelTrace):
            why = trace.reason if isinstance(trace, TraceUnavailable) else "nothing polls here"
            return TraceState(clock=None, unavailable=why)
        return TraceState(
            clock=trace.clock,
            events=len(self.events),
            names=trace.events,
            cpus=tuple(self._losses.traced(trace.cpus, span, self._tsc(fit))),
        )

    def _tsc(self, fit: ClockFit | None) -> Callable[[int], int]:
        """Carries a time of the trace over to the TSC."""
        raw = isinstance(self.trace, KernelTrace) and self.trace.clock == "mono_raw"
        return fit.raw.tsc if raw and fit is not None else int


def _in_raw_ns(windows: Iterable[IncidentWindow], fit: ClockFit) -> list[IncidentWindow]:
    return [(fit.raw_ns(begin), fit.raw_ns(end)) for begin, end in windows]
