"""What was seen of polling loops and of the kernels under them: what all explanations rest on."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from plimsoll.attribution.events.coverage import NO_TRACE, TraceCoverage
from plimsoll.attribution.explanation.counters import CounterMove
from plimsoll.attribution.explanation.path_load import UNKNOWN_LOAD, PathLoad
from plimsoll.attribution.incidents.incident import Incident
from plimsoll.attribution.incidents.loops import PollingLoop
from plimsoll.host.processes.ticks import HostTicks
from plimsoll.observe.kernel_trace.event import KernelEvent


@dataclass(frozen=True, slots=True, kw_only=True)
class HostObservations:
    """Of one host in a stretch of time; `host` is None for the tester's own.

    `events` are by time, in ticks of the tester's time stamp counter, and lie in the windows of
    `trace_windows(incidents, tsc_hz)`, on another host made wider by `clock_error`; others are
    not looked at. `clock_error` is by how many ticks all times of the host may be off together,
    0 on the tester's own; lengths are not. `coverage` says where the trace is complete,
    `cgroups` the cgroup of each process by its id, `own_threads` those of Plimsoll's own
    processes, by id, `noise_tasks` those of the experiment's neighbours, by whose they are.
    `ticks` is how the kernel keeps time there; None where that is not known.
    """

    host: str | None = None
    events: Sequence[KernelEvent] = ()
    counters: Sequence[CounterMove] = ()
    coverage: TraceCoverage = NO_TRACE
    cgroups: Mapping[int, str] = field(default_factory=dict)
    own_threads: Collection[int] = ()
    noise_tasks: Mapping[int, str] = field(default_factory=dict)
    ticks: HostTicks | None = None
    clock_error: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Observations(HostObservations):
    """Of the tester's own host, and in `others` of other hosts on which loops poll.

    `load` is what is known of the DUT's queues. `stalls` are stalls that the tester's loops
    measured, beyond those among the incidents; where they measure none (`stalls_measured`), the
    kernel's events alone say when they were away.
    """

    tsc_hz: float
    incidents: Sequence[Incident]
    loops: Sequence[PollingLoop]
    others: Sequence[HostObservations] = ()
    load: PathLoad = UNKNOWN_LOAD
    stalls: Sequence[Incident] = ()
    stalls_measured: bool = True

    @property
    def hosts(self) -> tuple[HostObservations, ...]:
        """Each of them, the tester's own first."""
        return self, *self.others

    def on(self, host: str | None) -> HostObservations:
        """Those of a host; of one of which nothing is known, nothing."""
        return next((each for each in self.hosts if each.host == host), HostObservations(host=host))

    def loops_on(self, host: str | None) -> tuple[PollingLoop, ...]:
        """The loops that poll there."""
        return tuple(loop for loop in self.loops if loop.host == host)

    @property
    def all_counters(self) -> Sequence[CounterMove]:
        """What moved, on any host."""
        if not self.others:
            return self.counters
        return tuple(move for each in self.hosts for move in each.counters)
