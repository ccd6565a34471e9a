"""What was seen of polling loops and of the kernels under them: what all explanations rest on."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from plimsoll.attribution.events.trace_reading import NO_TRACE, TraceCoverage
from plimsoll.attribution.explanation.counters import CounterMove
from plimsoll.attribution.incidents.incident import Incident
from plimsoll.attribution.incidents.loops import PollingLoop
from plimsoll.host.processes.ticks import HostTicks
from plimsoll.observe.kernel_trace.trace_program import KernelEvent

# Frames are sent by the burst, so that a queue may take in one less or lose one more.
_BURST = 32
# What was offered is a mean: shapers are a little faster at times, and clocks differ.
_ABOVE_THE_MEAN = 1.1


@dataclass(frozen=True, slots=True)
class StreamLoad:
    """Frames a second: of one stream, and of all streams that arrive at the same queue."""

    own_pps: float
    queue_pps: float


@dataclass(frozen=True, slots=True)
class PathLoad:
    """The load of each stream by name, and how many frames a queue holds; None if not known.

    `offered_pps` is that of a queue of a stream that is not among `streams`.
    """

    offered_pps: float | None = None
    queue_frames: int | None = None
    streams: Mapping[str, StreamLoad] = field(default_factory=dict)

    def overflow_s(self, stream: str) -> float | None:
        """How long the stream's queue, empty at first, takes to overflow while not emptied."""
        load = self.of(stream)
        if load is None or self.queue_frames is None:
            return None
        return self.queue_frames / load.queue_pps

    def explained(self, stream: str, away_s: float) -> float | None:
        """How many frames of the stream an absence can have lost at most; None if not known.

        Load times length less the buffer, of which the stream has its share.
        """
        load, overflow_s = self.of(stream), self.overflow_s(stream)
        if load is None or overflow_s is None:
            return None
        if away_s < overflow_s:
            return 0.0
        return load.own_pps * (away_s * _ABOVE_THE_MEAN - overflow_s) + _BURST

    def absence_s(self, stream: str, frames: float) -> float | None:
        """How long an absence must have lasted at least for so many frames to be lost.

        (Buffer + lost) / load, as far as means and bursts leave that sure; the inverse of
        `explained`.
        """
        load, overflow_s = self.of(stream), self.overflow_s(stream)
        if load is None or overflow_s is None:
            return None
        beyond_s = max(0.0, frames - _BURST) / load.own_pps
        return max(overflow_s, (overflow_s + beyond_s) / _ABOVE_THE_MEAN)

    def of(self, stream: str) -> StreamLoad | None:
        """What is known of one stream."""
        if (known := self.streams.get(stream)) is not None:
            return known if known.own_pps > 0 else None
        return StreamLoad(self.offered_pps, self.offered_pps) if self.offered_pps else None


UNKNOWN_LOAD = PathLoad()


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
