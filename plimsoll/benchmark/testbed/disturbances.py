"""What disturbs a test bed's trials: the kernels' events recorded during them, and explained."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from plimsoll.attribution.explanation.incidents_of_trial import incidents_of, longest_latencies
from plimsoll.attribution.explanation.returned_frames import StreamLosses, shared_truncated
from plimsoll.attribution.incidents.incident import Incident
from plimsoll.attribution.incidents.loops import PollingLoop
from plimsoll.attribution.incidents.spans import met_by, trace_windows
from plimsoll.attribution.ranking.rank import dut_disturbances
from plimsoll.attribution.ranking.trace_gaps import unwatched_sentence
from plimsoll.attribution.ranking.trial_causes import CausesFound, TrialFacts, causes_of_trial
from plimsoll.benchmark.testbed.event_budget import (
    NO_HOST_NAMED,
    events_of_page,
    events_of_trial,
    largest,
    likely_within_budget,
)
from plimsoll.benchmark.testbed.shared_cpus import loops_of_host
from plimsoll.benchmark.testbed.trace_pages import CountersOf, LocalPages, RemotePages
from plimsoll.benchmark.testbed.trial_load import path_load
from plimsoll.generator.interface import ClockReading, Interval, TrialPlan
from plimsoll.host.ledger.ledger import Ledger
from plimsoll.host.ledger.own_processes import StartedByRun
from plimsoll.host.processes.garbage_collection import gc_disabled
from plimsoll.host.processes.ticks import HostTicks
from plimsoll.observe.agent.remote_trace import RemoteTrace
from plimsoll.observe.kernel_trace.kernel_trace import KernelTrace
from plimsoll.observe.kernel_trace.trace_program import (
    KernelEvent,
    TraceUnavailable,
    task_cgroups,
    tasks_seen,
)
from plimsoll.record.causes.causes_record import TraceState, UnwatchedDut
from plimsoll.record.trials.clock_fit import ClockFit
from plimsoll.search.evidence.trial_evidence import Disturbance
from plimsoll.traffic.plan import StreamPlan
from plimsoll.trial.outcome.outcome import Outcome

# Of each page of a trial, so many losses, latencies and stalls are explained, the largest.
_EXPLAINED_OF_A_KIND = 300
# A trial of more than two pages is read while it goes on: the ring buffers hold some 80 s.
_PAGE_S = 30.0
_ONE_PAGE_S = 130.0


@dataclass
class _LatestFit:
    """What ties the tester's clocks together, by the last trial that has ended."""

    fit: ClockFit | None = None


@dataclass(frozen=True)
class Disturbances:
    """The polling loops of a test bed and the trace of their CPUs, None where nothing polls.

    `started` says what the run has started so far, `tsc_hz` is the rate of the TSC. `remote` are
    the traces of other hosts, on which the DUT polls; it runs `elsewhere` where this host does not
    have it.
    """

    trace: KernelTrace | TraceUnavailable | None = None
    loops: tuple[PollingLoop, ...] = ()
    started: Callable[[], StartedByRun] = StartedByRun
    tsc_hz: float = 0.0
    remote: tuple[RemoteTrace, ...] = ()
    elsewhere: bool = False
    _latest: _LatestFit = field(default_factory=_LatestFit)

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

    def with_hosts(self, traces: Sequence[RemoteTrace], *, elsewhere: bool) -> Disturbances:
        """With the traces of other hosts, of those on which the DUT polls.

        That is known of the hosts whose CPUs under test are named; of a DUT that runs `elsewhere`
        any of them may be one.
        """
        if not self.loops:
            return self
        remote = tuple(each for each in traces if each.cpus or elsewhere)
        loops = tuple(loop for each in remote for loop in loops_of_host(each))
        return replace(self, loops=(*self.loops, *loops), remote=remote, elsewhere=elsewhere)

    def own_threads(self, events: Sequence[KernelEvent]) -> frozenset[int]:
        """Of the tasks that had a CPU here, Plimsoll's own. Raises MachineError."""
        readers = self.trace.readers if isinstance(self.trace, KernelTrace) else ()
        return self.started().own_threads(tasks_seen(events)).union(readers)

    def close(self) -> None:
        """Remove the trace; may be repeated. Raises MachineError."""
        if isinstance(self.trace, KernelTrace):
            self.trace.close()

    @property
    def notes(self) -> tuple[str, ...]:
        """What is not traced and why, for people; nothing where all is, or nothing polls."""
        said = [unwatched_sentence(each) for each in self.unwatched]
        if isinstance(self.trace, TraceUnavailable):
            said.append(
                "no kernel events are recorded, so causes of stalls, spikes and losses are known "
                f"by counters alone: {self.trace.reason} ({self.trace.remedy})"
            )
        return tuple(said)

    @property
    def unwatched(self) -> tuple[UnwatchedDut, ...]:
        """Where absences of the DUT are not watched, as it is known now."""
        if self.elsewhere and not self.remote:
            return (NO_HOST_NAMED,)
        return tuple(
            UnwatchedDut(host=each.host, reason=why.reason, remedy=why.remedy)
            for each in self.remote
            if (why := each.unavailable) is not None
        )

    @contextmanager
    def recorded(self) -> Iterator[None]:
        """Record events for the length of a `with`. Raises MachineError."""
        for each in self.remote:
            each.start()
        if isinstance(self.trace, KernelTrace):
            self.trace.start()
        try:
            yield
        finally:
            if isinstance(self.trace, KernelTrace):
                self.trace.stop()
            for each in self.remote:
                each.stop()

    def latest_fit(self, readings: Sequence[ClockReading] = ()) -> ClockFit | None:
        """What ties the tester's clocks together: by these readings, else by earlier ones."""
        if (fit := clock_fit(readings)) is not None:
            self._latest.fit = fit
        return self._latest.fit

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
    """The incidents of one trial and the kernels' events around them, page by page.

    `names` are the streams' by number. A `paged` trial reads the traces every 30 s, and keeps
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

    def __post_init__(self) -> None:
        self._local = LocalPages(self.bed.trace, self.bed.tsc_hz)
        self._remote = [RemotePages(each, self.bed.tsc_hz) for each in self.bed.remote]

    def interval(self, interval: Interval) -> None:
        """Take in what the next interval lists. Raises MachineError."""
        if not self.bed.loops:
            return
        self._page += incidents_of(
            interval, self.names, self.bed.tsc_hz, refused_is_lost=self.refused_is_lost
        )
        if self.paged and interval.end_s - self._page_begin_s >= _PAGE_S:
            self._page_begin_s = interval.end_s
            for each in self.bed.remote:
                each.look()
            self._turn_page(None)

    @gc_disabled()
    def explained(
        self,
        number: int,
        outcome: Outcome,
        counters_of: CountersOf,
        noise_tasks: Mapping[int, str] = MappingProxyType({}),
    ) -> CausesFound | None:
        """What caused them, once the trial has ended; None where nothing polls.

        `noise_tasks` are the threads of the experiment's neighbours, by whose they are.

        Raises MachineError when the trace cannot be read.
        """
        if not self.bed.loops:
            return None
        clock = outcome.report.clock
        fit, span = clock_fit(clock), _span(clock)
        self.bed.latest_fit(clock)
        self._turn_page(fit)
        events = self._local.events
        return causes_of_trial(
            TrialFacts(
                number=number,
                tsc_hz=self.bed.tsc_hz,
                incidents=tuple(self._incidents),
                loops=self.bed.loops,
                trace=self._state(span, fit),
                events=events,
                counters=() if fit is None else counters_of(None, fit),
                coverage=self._local.coverage(span, fit),
                clock=fit,
                load=path_load(outcome),
                cgroups=task_cgroups(events),
                own_threads=self.bed.own_threads(events),
                noise_tasks=noise_tasks,
                ticks=HostTicks.of_this_host(),
                others=tuple(each.observations(fit, span, counters_of) for each in self._remote),
                stalls=self._stalls,
                stalls_measured=bool(outcome.report.workers),
                longest=longest_latencies(outcome.report, self.names),
                streams=_losses_of(outcome),
                loss_events=_loss_events(outcome),
            )
        )

    @gc_disabled()
    def _turn_page(self, fit: ClockFit | None) -> None:
        """`fit` ties the trial's own clocks together, once it has ended."""
        found: Sequence[Incident] = largest(self._page, _EXPLAINED_OF_A_KIND)
        stalls = [each for each in self._page if each.kind == "stall"]
        self._page = []
        rate = self._local.events_per_s() + sum(each.events_per_s() for each in self.bed.remote)
        found = likely_within_budget(found, rate, self.bed.tsc_hz, self.events_of_page)
        kept = self._local.read(found, fit, self.events_of_page)
        for each in self._remote:
            each.read(kept, fit or self.bed.latest_fit(), self.events_of_page)
        self._incidents += kept
        self._stalls += met_by(stalls, trace_windows(kept, self.bed.tsc_hz))

    def _state(self, span: tuple[int, int], fit: ClockFit | None) -> TraceState:
        here = self._local.state(span, fit)
        there = [cpu for each in self._remote for cpu in each.traced(fit, span)]
        unwatched = [why for each in self._remote for why in each.unwatched(fit)]
        return here.model_copy(
            update={
                "cpus": (*here.cpus, *there),
                "remote": tuple(each.state(fit) for each in self._remote),
                "unwatched": tuple(unwatched) if self._remote else self.bed.unwatched,
            }
        )


def _losses_of(outcome: Outcome) -> dict[str, StreamLosses]:
    """By stream, also what came back otherwise than it was sent."""
    found: dict[str, StreamLosses] = {}
    for port in {plan.rx_port for plan in outcome.plan.streams}:
        plans = [plan for plan in outcome.plan.streams if plan.rx_port == port]
        losses = [_as_counted(outcome, plan) for plan in plans]
        truncated = sum(each.truncated for each in outcome.report.ports if each.port == port)
        short = shared_truncated(losses, truncated)
        found |= {plan.name: each for plan, each in zip(plans, short, strict=True)}
    return found


def _as_counted(outcome: Outcome, plan: StreamPlan) -> StreamLosses:
    counts = outcome.counts(plan.stream)
    return StreamLosses(max(0, outcome.lost(plan.stream)), counts.corrupt, counts.misdirected)


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


def _span(clock: Sequence[ClockReading]) -> tuple[int, int]:
    """From the first reading of the clocks to the last; nothing where they were not read."""
    return (clock[0].tsc, clock[-1].tsc) if clock else (0, 0)
