"""The kernel's events on another host around one trial's incidents, page by page."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from plimsoll.attribution.events.trace_reading import NO_TRACE, TraceCoverage, on_tsc
from plimsoll.attribution.explanation.counters import CounterMove, WallClock
from plimsoll.attribution.explanation.observations import HostObservations
from plimsoll.attribution.incidents.incident import Incident
from plimsoll.attribution.incidents.spans import IncidentWindow, trace_windows, widened
from plimsoll.benchmark.testbed.event_budget import within_budget
from plimsoll.observe.agent.remote_trace import HostClock, RemoteTrace
from plimsoll.observe.kernel_trace.kernel_trace import KernelTrace
from plimsoll.observe.kernel_trace.trace_program import KernelEvent, TraceUnavailable
from plimsoll.record.causes.causes_record import (
    RemoteTraceState,
    TracedCpu,
    TraceState,
    UnwatchedDut,
)
from plimsoll.record.trials.clock_fit import ClockFit

_Span = tuple[int, int]


# What ring buffers of the kernel's trace lost during a trial, CPU by CPU.
@dataclass
class BufferLosses:
    """Of the CPUs of one host; times are of its trace's clock."""

    lost: dict[int, int] = field(default_factory=dict)
    # Since when nothing is missing; None where that is not known.
    since: dict[int, int | None] = field(default_factory=dict)

    def note(self, cpu: int, events: int, complete_from: int | None) -> None:
        """So many more events of this CPU are missing, all before `complete_from`."""
        self.lost[cpu] = self.lost.get(cpu, 0) + events
        self.since[cpu] = complete_from

    def coverage(
        self, cpus: Iterable[int], span: _Span, tsc: Callable[[int], int] = int
    ) -> TraceCoverage:
        """From when to when the trace is complete; `tsc` carries a time over to the TSC."""
        found = {cpu: self._complete(cpu, span, tsc) for cpu in cpus}
        return TraceCoverage({cpu: complete for cpu, complete in found.items() if complete})

    def traced(
        self,
        cpus: Iterable[int],
        span: _Span,
        tsc: Callable[[int], int] = int,
        host: str | None = None,
    ) -> Iterator[TracedCpu]:
        """What the record says of each of the CPUs."""
        for cpu in cpus:
            begin, end = self._complete(cpu, span, tsc) or (span[1], span[1])
            lost = self.lost.get(cpu, 0)
            yield TracedCpu(
                cpu=cpu,
                host=host,
                complete_from_tsc=begin,
                complete_to_tsc=end,
                lost_events=lost,
            )

    def _complete(self, cpu: int, span: _Span, tsc: Callable[[int], int]) -> _Span | None:
        """None where it is not known since when nothing is missing."""
        if cpu not in self.since:
            return span
        since = self.since[cpu]
        return None if since is None else (max(span[0], tsc(since)), span[1])


# The moves of a host's counters, None for the tester's own, by its wall clock.
CountersOf = Callable[[str | None, WallClock], Sequence[CounterMove]]
# What ties our own clocks together was read in an earlier trial, while one goes on.
_EARLIER_FIT_S = 0.001


@dataclass
class RemotePages:
    """What was read of the trace of a host. Events keep that host's time until the trial has ended.

    `waiting` are incidents around which nothing could be read yet.
    """

    trace: RemoteTrace
    tsc_hz: float
    _events: list[KernelEvent] = field(default_factory=list)
    _losses: BufferLosses = field(default_factory=BufferLosses)
    _cgroups: dict[int, str] = field(default_factory=dict)
    _own: set[int] = field(default_factory=set)
    _waiting: list[Incident] = field(default_factory=list)
    _complete: bool = True

    def read(self, found: Sequence[Incident], fit: ClockFit | None, most_events: int) -> None:
        """Read around a page's incidents, where `fit` ties our own clocks together."""
        self._waiting += found
        clock = self.trace.clock(fit)
        if isinstance(clock, TraceUnavailable):
            return
        margin = round((clock.error_ns / 1e9 + _EARLIER_FIT_S) * self.tsc_hz)
        windows = trace_windows(self._waiting, self.tsc_hz)
        self._waiting = []
        there = [_there(widened(window, margin), clock) for window in windows]
        if (read := self.trace.read(there, most_events)) is None:
            return
        self._events += read.events
        self._cgroups |= read.cgroups
        self._own |= set(read.own_threads)
        self._complete &= not read.left_out
        for lost in read.lost:
            self._losses.note(lost.cpu, lost.events, lost.complete_from_ns)

    def observations(
        self, fit: ClockFit | None, span: tuple[int, int], counters_of: CountersOf
    ) -> HostObservations:
        """All that was seen of the host; `span` is the trial's, on the TSC."""
        clock = self.trace.clock(fit)
        if isinstance(clock, TraceUnavailable):
            return HostObservations(host=self.trace.host, ticks=self.trace.ticks)
        tsc = clock.tsc_of
        events = [KernelEvent(tsc(e.tsc), e.cpu, e.name, e.fields) for e in self._events]
        return HostObservations(
            host=self.trace.host,
            events=sorted(events, key=lambda event: event.tsc),
            counters=counters_of(self.trace.host, clock),
            coverage=self._losses.coverage(self.trace.cpus, span, tsc) if self._whole else NO_TRACE,
            cgroups=self._cgroups,
            own_threads=frozenset(self._own),
            ticks=self.trace.ticks,
            clock_error=self._error(clock),
        )

    def state(self, fit: ClockFit | None) -> RemoteTraceState:
        """What the record says of the host's trace."""
        clock, traced = self.trace.clock(fit), self.trace.unavailable is None
        return RemoteTraceState(
            host=self.trace.host,
            clock="mono_raw" if traced else None,
            clock_error_ns=None if isinstance(clock, TraceUnavailable) else clock.error_ns,
            events=len(self._events),
            names=self.trace.names if traced else (),
        )

    def traced(self, fit: ClockFit | None, span: tuple[int, int]) -> Iterator[TracedCpu]:
        """What the record says of its CPUs."""
        clock = self.trace.clock(fit)
        if self._whole and not isinstance(clock, TraceUnavailable):
            yield from self._losses.traced(self.trace.cpus, span, clock.tsc_of, self.trace.host)

    def unwatched(self, fit: ClockFit | None) -> Iterator[UnwatchedDut]:
        """Why absences of the loops there would not have been seen in this trial."""
        why = self.trace.unavailable or self.trace.clock(fit)
        if isinstance(why, TraceUnavailable):
            yield UnwatchedDut(host=self.trace.host, reason=why.reason, remedy=why.remedy)
        elif not self._complete:
            yield UnwatchedDut(
                host=self.trace.host,
                reason="it had more kernel events around incidents than are taken",
                remedy="keep interrupts and other tasks off the CPUs under test",
            )

    @property
    def _whole(self) -> bool:
        return self._complete and self.trace.unavailable is None

    def _error(self, clock: HostClock) -> int:
        return round(clock.error_ns * self.tsc_hz / 1e9) + 1


def _there(window: IncidentWindow, clock: HostClock) -> IncidentWindow:
    begin, end = window
    return max(0, clock.there_ns(begin)), clock.there_ns(end)


# The kernel's events on the tester's own host around one trial's incidents, page by page.
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
