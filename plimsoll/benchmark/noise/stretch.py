"""One stretch of a noise measurement: loops that look at the clock, and what was seen."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from plimsoll.attribution.events.trace_reading import TraceCoverage, on_tsc
from plimsoll.attribution.explanation.counters import PROC_STAT_UNIT_NS, CounterMove
from plimsoll.attribution.explanation.explain import explain
from plimsoll.attribution.explanation.observations import Observations
from plimsoll.attribution.incidents.incident import Explanation, Incident, stall_subject
from plimsoll.attribution.incidents.loops import PollingLoop
from plimsoll.attribution.incidents.spans import AFTER_S, BEFORE_S
from plimsoll.generator.interface import Generator, Interval, Stall, TrialPlan, TrialReport
from plimsoll.host.ledger.own_processes import StartedByRun
from plimsoll.host.processes.affinity import housekeeping_cpus, leaves_no_cpu
from plimsoll.host.processes.ticks import HostTicks
from plimsoll.observe.kernel_trace.kernel_trace import KernelTrace
from plimsoll.observe.kernel_trace.trace_program import KernelEvent, task_cgroups, tasks_seen
from plimsoll.observe.reading.observer import NotObservable
from plimsoll.observe.sysfs.smi import SmiCount
from plimsoll.record.trials.clock_fit import ClockFit

_STAT = Path("/proc/stat")
_MSR = "/dev/cpu/{cpu}/msr"
# Of a line of /proc/stat: cpuN user nice system idle iowait irq softirq steal (proc(5)).
_STEAL = 8
_SMIS = 1 << 32


@dataclass(frozen=True, slots=True)
class CounterReading:
    """When it was read (wall clock), ticks stolen of each CPU, and SMIs where they are known."""

    unix_ns: int
    stolen: Mapping[int, int]
    smis: int | None


def stolen_ticks(stat: str, cpus: Collection[int]) -> dict[int, int]:
    """Ticks (USER_HZ) that a hypervisor ran something else on these CPUs, from /proc/stat."""
    found = {}
    for line in stat.splitlines():
        words = line.split()
        if len(words) > _STEAL and words[0].startswith("cpu") and words[0][3:].isdigit():
            found[int(words[0][3:])] = int(words[_STEAL])
    return {cpu: ticks for cpu, ticks in found.items() if cpu in cpus}


def smi_count(cpus: Collection[int]) -> SmiCount | None:
    """The count of SMIs, read on a CPU that is not among `cpus`; None where it cannot be.

    Reading it interrupts the CPU it is read of.
    """
    if leaves_no_cpu(cpus):
        return None
    try:
        return SmiCount(Path(_MSR.format(cpu=min(housekeeping_cpus(cpus)))))
    except NotObservable:
        return None


class NoiseCounters:
    """Readings in the order in which they were taken, and what moved between them."""

    def __init__(self, cpus: Collection[int], smis: SmiCount | None) -> None:
        self._cpus = cpus
        self._smis = smis
        self.readings: list[CounterReading] = []

    def read(self, unix_ns: int) -> None:
        """Take one now, which is `unix_ns`."""
        stolen = stolen_ticks(_STAT.read_text(), self._cpus)
        smis = None if self._smis is None else self._smis.read()
        self.readings.append(CounterReading(unix_ns, stolen, smis))

    def moves(self, clock: ClockFit) -> tuple[CounterMove, ...]:
        """What moved, in ticks of the time stamp counter."""
        return tuple(
            move
            for before, after in pairwise(self.readings)
            for move in _moves(before, after, clock)
        )


def _moves(before: CounterReading, after: CounterReading, clock: ClockFit) -> Iterator[CounterMove]:
    begin, end = clock.tsc(before.unix_ns), clock.tsc(after.unix_ns)
    for cpu, ticks in after.stolen.items():
        stolen_ns = (ticks - before.stolen.get(cpu, ticks)) * PROC_STAT_UNIT_NS
        if stolen_ns > 0:
            name = f"steal of CPU {cpu}"
            yield CounterMove(
                "hypervisor-steal", name, cpu, begin, end, stolen_ns, PROC_STAT_UNIT_NS
            )
    if before.smis is not None and after.smis is not None:
        smis = (after.smis - before.smis) % _SMIS
        if smis:
            yield CounterMove("hardware", "SMIs", None, begin, end, events=smis)


_NS_PER_S = 1e9
# All that the engine can list of a worker and interval.
_LISTED = 64
# With CPUs to spare the main thread of the engine wakes ten times a second on one of those, and
# hands over once a second; with none, as seldom as every second, and at the end.
_INTERVAL_S = 0.1
_CROWDED_INTERVAL_S = 1.0
_PAGE_S = 1.0


@dataclass(frozen=True, slots=True)
class NoiseStretch:
    """What one stretch showed. `explanations` are of the stalls that the engine listed.

    `trace_complete` is false where events of a measured CPU were lost.
    """

    report: TrialReport
    explanations: tuple[Explanation, ...]
    events: int = 0
    lost_events: int = 0
    trace_complete: bool = True


@dataclass
class StretchRun:
    """Runs stretches with one generator. `loops` are its polling loops.

    `own_pids` are those of whose CPU time the generator keeps count, `started` says what the
    measurement has started.
    """

    generator: Generator
    loops: Sequence[PollingLoop]
    tsc_hz: float
    threshold_ns: int
    crowded: bool
    trace: KernelTrace | None
    counters: NoiseCounters
    own_pids: tuple[int, ...] = ()
    started: Callable[[], StartedByRun] = StartedByRun
    _stalls: list[Incident] = field(default_factory=list)

    def run(self, mark: int, duration_s: float) -> NoiseStretch:
        """Measure for `duration_s`, then explain. Nothing of ours runs on the CPUs in that time."""
        self._stalls = []
        self.counters.readings.clear()
        if self.trace is not None:
            self.trace.start()
        self.counters.read(time.time_ns())
        report = self.generator.trial(self._plan(mark, duration_s), self._watch)
        self.counters.read(time.time_ns())
        if self.trace is not None:
            self.trace.stop()
        return self._explained(report)

    def _plan(self, mark: int, duration_s: float) -> TrialPlan:
        return TrialPlan(
            mark=mark,
            streams=(),
            duration_s=duration_s,
            drain_s=0.0,
            interval_s=_CROWDED_INTERVAL_S if self.crowded else _INTERVAL_S,
            stall_us=self.threshold_ns / 1e3,
            gap_us=0.0,
            longest=_LISTED,
            # A second more, so that the end hands them over and not the clock.
            hold_s=duration_s + 1.0 if self.crowded else _PAGE_S,
            cpu_time_of=self.own_pids,
        )

    def _watch(self, interval: Interval) -> bool:
        for worker in interval.workers:
            self._stalls += [_incident(worker.cpu, stall, self.tsc_hz) for stall in worker.longest]
        now_ns = time.time_ns()
        # A page has several intervals; of all that come at once the first one is enough.
        if not self.crowded and now_ns - self.counters.readings[-1].unix_ns > _NS_PER_S / 2:
            self.counters.read(now_ns)
        return False

    def _explained(self, report: TrialReport) -> NoiseStretch:
        clock = ClockFit.of(report.clock)
        events = self._events(report, clock)
        explanations = explain(
            Observations(
                tsc_hz=self.tsc_hz,
                incidents=self._stalls,
                loops=self.loops,
                events=events,
                counters=self.counters.moves(clock),
                coverage=self._coverage(report, clock),
                cgroups=task_cgroups(events),
                own_threads=self._own_threads(events),
                ticks=HostTicks.of_this_host(),
            )
        )
        lost = () if self.trace is None else self.trace.lost_events
        return NoiseStretch(
            report,
            explanations,
            events=len(events),
            lost_events=sum(each.events for each in lost),
            trace_complete=all(each.elsewhere for each in lost),
        )

    def _own_threads(self, events: Sequence[KernelEvent]) -> frozenset[int]:
        readers = () if self.trace is None else self.trace.readers
        return self.started().own_threads(tasks_seen(events)).union(readers)

    def _events(self, report: TrialReport, clock: ClockFit) -> list[KernelEvent]:
        if self.trace is None:
            return []
        begin = report.clock[0].tsc - round(BEFORE_S * self.tsc_hz)
        end = report.clock[-1].tsc + round(AFTER_S * self.tsc_hz)
        if self.trace.clock == "mono_raw":
            return on_tsc(self.trace.read([(clock.raw_ns(begin), clock.raw_ns(end))]), clock)
        return self.trace.read([(begin, end)])

    def _coverage(self, report: TrialReport, clock: ClockFit) -> TraceCoverage:
        """From the trial's begin to its end, or from where on nothing was lost."""
        if self.trace is None:
            return TraceCoverage()
        begin, end = report.clock[0].tsc, report.clock[-1].tsc
        complete: dict[int, tuple[int, int]] = {loop.cpu: (begin, end) for loop in self.loops}
        for lost in self.trace.lost_events:
            if lost.elsewhere:
                continue
            since = lost.complete_from_tsc
            complete.pop(lost.cpu, None)
            if since is not None:
                since = clock.raw.tsc(since) if self.trace.clock == "mono_raw" else since
                complete[lost.cpu] = (max(begin, since), end)
        return TraceCoverage(complete)


def _incident(cpu: int, stall: Stall, tsc_hz: float) -> Incident:
    begin = stall.tsc - round(stall.length_ns * tsc_hz / _NS_PER_S)
    return Incident("stall", stall_subject(cpu), begin, stall.tsc, 0, stall.length_ns)
