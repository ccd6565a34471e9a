"""What disturbs a test bed's trials: the kernel's events recorded during them, and explained."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import MappingProxyType

from plimsoll.attribution.events.coverage import TraceCoverage
from plimsoll.attribution.events.trace_time import on_tsc
from plimsoll.attribution.explanation.counters import CounterMove
from plimsoll.attribution.explanation.incidents_of_trial import incidents_of, longest_latencies
from plimsoll.attribution.explanation.returned_frames import StreamLosses
from plimsoll.attribution.incidents.incident import Incident
from plimsoll.attribution.incidents.loops import PollingLoop
from plimsoll.attribution.incidents.windows import IncidentWindow, met_by, trace_windows
from plimsoll.attribution.ranking.dut_disturbances import dut_disturbances
from plimsoll.attribution.ranking.trial_causes import CausesFound, TrialFacts, causes_of_trial
from plimsoll.benchmark.testbed.event_budget import (
    events_of_page,
    events_of_trial,
    largest,
    likely_within_budget,
    within_budget,
)
from plimsoll.benchmark.testbed.task_cgroups import task_cgroups, tasks_seen
from plimsoll.benchmark.testbed.trial_load import path_load
from plimsoll.benchmark.testbed.without_collections import without_collections
from plimsoll.dut.lab import DutProcess
from plimsoll.generator.interface import ClockReading, Interval, TrialPlan
from plimsoll.host.ledger.ledger import Ledger
from plimsoll.host.ledger.own_processes import StartedByRun
from plimsoll.host.processes.schedule_stats import pinned_to, polling_threads
from plimsoll.host.processes.ticks import HostTicks
from plimsoll.observe.kernel_trace.event import KernelEvent
from plimsoll.observe.kernel_trace.kernel_trace import KernelTrace
from plimsoll.observe.kernel_trace.trace_unavailable import TraceUnavailable
from plimsoll.record.causes.causes_record import TracedCpu, TraceState
from plimsoll.record.trials.clock_fit import ClockFit
from plimsoll.record.trials.disturbance import Disturbance
from plimsoll.trial.outcome.outcome import Outcome

# Of each page of a trial, so many losses, latencies and stalls are explained, the largest.
_EXPLAINED_OF_A_KIND = 300
# A trial of more than two pages is read while it goes on: the ring buffers hold some 80 s.
_PAGE_S = 30.0
_ONE_PAGE_S = 130.0
_TESTER = "tester"


@dataclass(frozen=True)
class Disturbances:
    """The polling loops of a test bed and the trace of their CPUs, None where nothing polls.

    `started` says what the run has started so far, `tsc_hz` is the rate of the TSC.
    """

    trace: KernelTrace | TraceUnavailable | None = None
    loops: tuple[PollingLoop, ...] = ()
    started: Callable[[], StartedByRun] = StartedByRun
    tsc_hz: float = 0.0

    @classmethod
    def open(
        cls,
        loops: tuple[PollingLoop, ...],
        generator_pid: int | None,
        tsc_hz: float | None,
        ledger: Ledger,
    ) -> Disturbances:
        """Make the trace of the loops' CPUs, noted in the ledger. Raises MachineError."""
        if not loops or tsc_hz is None:
            return cls()
        cpus, threads = {loop.cpu for loop in loops}, {loop.thread_id for loop in loops}
        trace = KernelTrace.open(cpus, ledger, threads)
        return cls(trace, loops, lambda: StartedByRun.of(ledger, generator_pid), tsc_hz)

    def own_threads(self, events: Sequence[KernelEvent]) -> frozenset[int]:
        """Of the tasks that had a CPU, Plimsoll's own. Raises MachineError."""
        readers = self.trace.readers if isinstance(self.trace, KernelTrace) else ()
        return self.started().own_threads(tasks_seen(events)).union(readers)

    def close(self) -> None:
        """Remove the trace; may be repeated. Raises MachineError."""
        if isinstance(self.trace, KernelTrace):
            self.trace.close()

    @property
    def note(self) -> str | None:
        """Why nothing is traced, for people; None where it is, or nothing polls."""
        if not isinstance(self.trace, TraceUnavailable):
            return None
        return (
            "no kernel events are recorded, so causes of stalls, spikes and losses are known by "
            f"counters alone: {self.trace.reason} ({self.trace.remedy})"
        )

    @contextmanager
    def recorded(self) -> Iterator[None]:
        """Record events for the length of a `with`. Raises MachineError."""
        if not isinstance(self.trace, KernelTrace):
            yield
            return
        self.trace.start()
        try:
            yield
        finally:
            self.trace.stop()

    def of_trial(self, plan: TrialPlan, *, refused_is_lost: bool) -> TrialDisturbances:
        """What is collected of one trial while it goes on."""
        paged = plan.duration_s > _ONE_PAGE_S
        names = {each.stream: each.name for each in plan.streams}
        duration_s = plan.duration_s
        budget = events_of_page(duration_s, _PAGE_S) if paged else events_of_trial(duration_s)
        return TrialDisturbances(self, names, paged, refused_is_lost, budget)


# Of a test bed without polling loops on this machine.
NO_DISTURBANCES = Disturbances()


@dataclass
class TrialDisturbances:
    """The incidents of one trial and the kernel's events around them, page by page.

    `names` are the streams' by number. A `paged` trial reads the trace every 30 s, and keeps
    of each page `events_of_page`. What the tester's ports have no room for counts as lost where
    `refused_is_lost`.
    """

    bed: Disturbances
    names: Mapping[int, str]
    paged: bool
    refused_is_lost: bool
    events_of_page: int
    _page: list[Incident] = field(default_factory=list)
    _page_begin_s: float = 0.0
    _incidents: list[Incident] = field(default_factory=list)
    _stalls: list[Incident] = field(default_factory=list)
    _events: list[KernelEvent] = field(default_factory=list)
    _lost: dict[int, int] = field(default_factory=dict)
    _incomplete: dict[int, int | None] = field(default_factory=dict)

    def interval(self, interval: Interval) -> None:
        """Take in what the next interval lists. Raises MachineError."""
        if not self.bed.loops:
            return
        self._page += incidents_of(
            interval, self.names, self.bed.tsc_hz, refused_is_lost=self.refused_is_lost
        )
        if self.paged and interval.end_s - self._page_begin_s >= _PAGE_S:
            self._page_begin_s = interval.end_s
            self._turn_page(None)

    @without_collections()
    def explained(
        self,
        number: int,
        outcome: Outcome,
        counters: Sequence[CounterMove],
        noise_tasks: Mapping[int, str] = MappingProxyType({}),
    ) -> CausesFound | None:
        """What caused them, once the trial has ended; None where nothing polls.

        `noise_tasks` are the threads of the experiment's neighbours, by whose they are.

        Raises MachineError when the trace cannot be read.
        """
        if not self.bed.loops:
            return None
        fit = clock_fit(outcome.report.clock)
        self._turn_page(fit)
        begin, end = _span(outcome.report.clock)
        return causes_of_trial(
            TrialFacts(
                number=number,
                tsc_hz=self.bed.tsc_hz,
                incidents=tuple(self._incidents),
                loops=self.bed.loops,
                trace=self._state(begin, end),
                events=self._events,
                counters=counters,
                coverage=self._coverage(begin, end),
                clock=fit,
                load=path_load(outcome),
                cgroups=task_cgroups(self._events),
                own_threads=self.bed.own_threads(self._events),
                noise_tasks=noise_tasks,
                ticks=HostTicks.of_this_host(),
                stalls=self._stalls,
                stalls_measured=bool(outcome.report.workers),
                longest=longest_latencies(outcome.report, self.names),
                streams=_losses_of(outcome),
                loss_events=_loss_events(outcome),
            )
        )

    @without_collections()
    def _turn_page(self, fit: ClockFit | None) -> None:
        found: Sequence[Incident] = largest(self._page, _EXPLAINED_OF_A_KIND)
        stalls = [each for each in self._page if each.kind == "stall"]
        self._page = []
        before = len(self._incidents)
        self._read_around(found, fit)
        self._stalls += met_by(stalls, trace_windows(self._incidents[before:], self.bed.tsc_hz))

    def _read_around(self, found: Sequence[Incident], fit: ClockFit | None) -> None:
        """Keep as many of a page's incidents as there is room for their events."""
        trace = self.bed.trace
        if not isinstance(trace, KernelTrace):
            self._incidents += found
            return
        found = likely_within_budget(
            found, trace.events_per_s(), self.bed.tsc_hz, self.events_of_page
        )
        windows = trace_windows(found, self.bed.tsc_hz)
        if trace.clock == "mono_raw":
            # Its times can only be carried over once the clocks were read at the trial's end.
            if fit is None:
                self._incidents += found
                return
            events = on_tsc(trace.read(_in_raw_ns(windows, fit)), fit)
        else:
            events = trace.read(windows)
        kept, around = within_budget(found, events, self.bed.tsc_hz, self.events_of_page)
        self._incidents += kept
        self._events += around
        for lost in trace.lost_events:
            if not lost.elsewhere:
                self._lost[lost.cpu] = self._lost.get(lost.cpu, 0) + lost.events
                self._incomplete[lost.cpu] = lost.complete_from_tsc

    def _coverage(self, begin: int, end: int) -> TraceCoverage:
        return TraceCoverage(
            {cpu: span for cpu in self._traced() if (span := self._complete(cpu, begin, end))}
        )

    def _complete(self, cpu: int, begin: int, end: int) -> tuple[int, int] | None:
        """Of a CPU; None where it is not known since when nothing is missing."""
        if cpu not in self._incomplete:
            return begin, end
        complete_from = self._incomplete[cpu]
        return None if complete_from is None else (max(begin, complete_from), end)

    def _traced(self) -> tuple[int, ...]:
        return self.bed.trace.cpus if isinstance(self.bed.trace, KernelTrace) else ()

    def _state(self, begin: int, end: int) -> TraceState:
        trace = self.bed.trace
        if not isinstance(trace, KernelTrace):
            why = trace.reason if isinstance(trace, TraceUnavailable) else "nothing polls here"
            return TraceState(clock=None, unavailable=why)
        spans = {cpu: self._complete(cpu, begin, end) or (end, end) for cpu in trace.cpus}
        return TraceState(
            clock=trace.clock,
            events=len(self._events),
            names=trace.events,
            cpus=tuple(
                TracedCpu(
                    cpu=cpu,
                    complete_from_tsc=complete_from,
                    complete_to_tsc=complete_to,
                    lost_events=self._lost.get(cpu, 0),
                )
                for cpu, (complete_from, complete_to) in spans.items()
            ),
        )


def _losses_of(outcome: Outcome) -> dict[str, StreamLosses]:
    """By stream, also what came back otherwise than it was sent."""
    counted = ((plan.name, outcome.counts(plan.stream)) for plan in outcome.plan.streams)
    lost = {plan.name: outcome.lost(plan.stream) for plan in outcome.plan.streams}
    return {
        name: StreamLosses(max(0, lost[name]), counts.corrupt, counts.misdirected)
        for name, counts in counted
    }


def _loss_events(outcome: Outcome) -> int:
    """All that the tester counted; it lists the largest of each stream."""
    found = [outcome.counts(plan.stream) for plan in outcome.plan.streams]
    return sum(len(each.losses) + each.losses_left_out.events for each in found)


def disturbances_of(outcome: Outcome, found: CausesFound | None) -> tuple[Disturbance, ...]:
    """What took the DUT's CPUs; nothing where it was not looked for or cannot be timed."""
    fit = clock_fit(outcome.report.clock)
    if found is None or fit is None:
        return ()
    first_frame_tsc = fit.tsc(outcome.report.begin_unix_ns)
    return dut_disturbances(found.explanations, first_frame_tsc, found.record.tsc_hz)


def clock_fit(readings: Sequence[ClockReading]) -> ClockFit | None:
    """The clocks tied together; None where they were not read at two times."""
    try:
        return ClockFit.of(readings)
    except ValueError:
        return None


def loops_of_tester(program: str | None, pid: int | None) -> Iterator[PollingLoop]:
    """The loops of the tester's process; nothing where it has none."""
    if pid is not None:
        for thread, cpu in polling_threads(pid).items():
            yield PollingLoop("tester", program or _TESTER, cpu, thread)


def loops_of_dut(process: DutProcess) -> Iterator[PollingLoop]:
    """The loops of a process of the DUT, its main thread among them where that forwards."""
    for thread, cpu in polling_threads(process.pid).items():
        yield PollingLoop("dut", process.name, cpu, thread)
    if process.main_forwards and (main_cpu := pinned_to(process.pid)) is not None:
        yield PollingLoop("dut", process.name, main_cpu, process.pid, sleeps=True)


def _in_raw_ns(windows: Iterable[IncidentWindow], fit: ClockFit) -> list[IncidentWindow]:
    return [(fit.raw_ns(begin), fit.raw_ns(end)) for begin, end in windows]


def _span(clock: Sequence[ClockReading]) -> tuple[int, int]:
    """From the first reading of the clocks to the last; nothing where they were not read."""
    return (clock[0].tsc, clock[-1].tsc) if clock else (0, 0)
