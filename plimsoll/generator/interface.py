"""What a traffic generator is to the layers above: open, run trials, close."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, Protocol

from plimsoll.generator.histogram import Histogram
from plimsoll.traffic.plan import StreamPlan

EndedBy = Literal["duration", "stop", "link_down"]
Phase = Literal["send", "drain"]


@dataclass(frozen=True, slots=True)
class StreamCounts:
    """One stream over an interval or a whole trial. Fields as in the engine protocol."""

    stream: int
    sent: int
    refused: int
    skipped: int
    received: int
    missing: int
    out_of_order: int
    duplicate: int
    corrupt: int
    misdirected: int
    latency: Histogram
    latency_across_stalls: Histogram
    lateness: Histogram


@dataclass(frozen=True, slots=True)
class PortCounts:
    """One port over an interval or a whole trial."""

    port: int
    foreign: int
    stale: int
    rx_missed: int
    rx_errors: int
    rx_no_mbuf: int
    link_up: bool


@dataclass(frozen=True, slots=True)
class Stall:
    """A gap in a polling loop: its end since the trial's start in s, its length in ns."""

    at_s: float
    length_ns: int


@dataclass(frozen=True, slots=True)
class WorkerCounts:
    """One polling loop over an interval or a whole trial."""

    cpu: int
    polls: int
    idle_polls: int
    stalls: int
    stalled_ns: int
    worst_stall_ns: int
    longest: tuple[Stall, ...] = ()


@dataclass(frozen=True, slots=True)
class Interval:
    """What happened between `begin_s` and `end_s` of the trial."""

    index: int
    phase: Phase
    begin_s: float
    end_s: float
    end_unix_ns: int
    streams: tuple[StreamCounts, ...]
    ports: tuple[PortCounts, ...]
    workers: tuple[WorkerCounts, ...]


@dataclass(frozen=True, slots=True)
class TrialPlan:
    """One trial: what to send, for how long, and how closely to watch."""

    mark: int
    streams: tuple[StreamPlan, ...]
    duration_s: float
    drain_s: float
    interval_s: float = 1.0
    catch_up_us: float = 1000.0
    stall_us: float = 20.0


@dataclass(frozen=True, slots=True)
class TrialReport:
    """Totals of one trial, read after the drain, and its intervals in order."""

    ended_by: EndedBy
    sending_s: float
    begin_unix_ns: int
    streams: tuple[StreamCounts, ...]
    ports: tuple[PortCounts, ...]
    workers: tuple[WorkerCounts, ...]
    intervals: tuple[Interval, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class PortInfo:
    """One opened port, as the generator sees it."""

    port: int
    devargs: str
    driver: str
    mac: str
    link_up: bool
    link_mbps: int | None
    numa_node: int | None
    latency_clock: str


class Generator(Protocol):
    """Sends and measures. `watch` sees each interval and returns True to stop the trial."""

    @property
    def ports(self) -> tuple[PortInfo, ...]:
        """The open ports."""

    def trial(self, plan: TrialPlan, watch: Callable[[Interval], bool]) -> TrialReport:
        """Run one trial to its end."""

    def close(self) -> None:
        """End it."""
