"""What was seen of polling loops and of the kernel under them: what all explanations rest on."""

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
class Observations:
    """Of a stretch of time.

    `events` are by time, in ticks of the time stamp counter, and lie in the windows of
    `trace_windows(incidents, tsc_hz)`; others are not looked at. `coverage` says where the
    trace is complete, `load` what is known of the DUT's queues, `cgroups` the cgroup of
    each process by its id, `own_threads` those of Plimsoll's own processes, by id,
    `noise_tasks` those of the experiment's neighbours, by whose they are. `ticks` is how the
    kernel keeps time there; None where that is not known. `stalls` are stalls
    that the tester's loops measured, beyond those among the incidents; where they measure none
    (`stalls_measured`), the kernel's events alone say when they were away.
    """

    tsc_hz: float
    incidents: Sequence[Incident]
    loops: Sequence[PollingLoop]
    events: Sequence[KernelEvent] = ()
    counters: Sequence[CounterMove] = ()
    coverage: TraceCoverage = NO_TRACE
    load: PathLoad = UNKNOWN_LOAD
    cgroups: Mapping[int, str] = field(default_factory=dict)
    own_threads: Collection[int] = ()
    noise_tasks: Mapping[int, str] = field(default_factory=dict)
    ticks: HostTicks | None = None
    stalls: Sequence[Incident] = ()
    stalls_measured: bool = True
