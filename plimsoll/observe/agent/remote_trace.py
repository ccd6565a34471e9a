"""The kernel's trace of another host, as its agent records it for a run on this one."""

from __future__ import annotations

import time
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from plimsoll.host.processes.polling_loops import FoundLoop
from plimsoll.host.processes.ticks import HostTicks
from plimsoll.observe.agent.host_agent import HostAgent
from plimsoll.observe.agent.remote_clock import HostClock, RemoteClock, RoundTrip
from plimsoll.observe.agent.trace_replies import (
    AgentEvent,
    AgentLoss,
    ClockRead,
    TraceEvents,
    TraceOpened,
    TraceRate,
    TraceRead,
    TraceStarted,
)
from plimsoll.observe.kernel_trace.event import KernelEvent
from plimsoll.observe.kernel_trace.trace_program import Window, merged
from plimsoll.observe.kernel_trace.trace_unavailable import TraceUnavailable
from plimsoll.record.trials.clock_fit import ClockFit

T = TypeVar("T")
# To a host in the next rack one takes 0.2 ms. Whatever delays some leaves others narrow.
_MOST_TRIPS, _LEAST_TRIPS = 64, 8
_OCCASION_S = 0.2
_UNTIED = "see that nothing sets its clock or stops the machine while trials run"


class AskAgent(Protocol):
    """Has an agent do something; what it answered, or why there is no trace any more."""

    def __call__(self, request: Callable[[HostAgent], T], /) -> T | TraceUnavailable:
        """Never raises for what the agent did."""


@dataclass(frozen=True, slots=True)
class RemoteEvents:
    """What was read of windows. Times are of the host's raw clock, in ns.

    `left_out` were more than is taken. `lost`, `cgroups` and `own_threads` are as in TraceRead.
    """

    events: Sequence[KernelEvent]
    left_out: int
    lost: Sequence[AgentLoss]
    cgroups: Mapping[int, str]
    own_threads: Sequence[int]


class RemoteTrace:
    """That of the CPUs under test, `cpus`, of one host, and of the `loops` that poll there.

    It never fails: what it cannot do is in `unavailable`, and says why the loops are not watched.
    """

    def __init__(self, host: str, cpus: Sequence[int], ask: AskAgent) -> None:
        """Find the loops there, and have the trace made."""
        self.host = host
        self.cpus = tuple(cpus)
        self.loops: tuple[FoundLoop, ...] = ()
        self.ticks: HostTicks | None = None
        # Of the events that are recorded.
        self.names: tuple[str, ...] = ()
        self.unavailable: TraceUnavailable | None = None
        self._ask = ask
        self._occasions: list[list[RoundTrip]] = []
        opened = self._done(lambda agent: agent.request({"request": "trace-open"}, TraceOpened))
        if opened is not None:
            self._take(opened)

    def start(self) -> None:
        """Look at the host's clock, and record from now on."""
        self._occasions = []
        self.look()
        if self.unavailable is None:
            self._done(lambda agent: agent.request({"request": "trace-start"}, TraceStarted))

    def stop(self) -> None:
        """Record no more, and look at the host's clock again."""
        if self.unavailable is None:
            self._done(lambda agent: agent.request({"request": "trace-stop"}, TraceRate))
        self.look()

    def look(self) -> None:
        """One more occasion on which both clocks are known, for some tenths of a second at most."""
        if self.loops:
            trips = self._ask(_round_trips)
            if isinstance(trips, TraceUnavailable):
                self.unavailable = self.unavailable or trips
            else:
                self._occasions.append(trips)

    def events_per_s(self) -> float:
        """Of its CPUs under test since the start; 0 where nothing is recorded."""
        if self.unavailable is not None:
            return 0.0
        rate = self._done(lambda agent: agent.request({"request": "trace-rate"}, TraceRate))
        return 0.0 if rate is None else rate.events_per_s

    def read(self, windows: Sequence[Window], limit: int) -> RemoteEvents | None:
        """The events in any of the windows, `limit` at most, by time; all others are forgotten.

        Windows are [begin, end] by the host's raw clock, in ns. None where nothing is recorded.
        """
        if self.unavailable is not None:
            return None
        return self._done(lambda agent: _read(agent, merged(windows), limit))

    def clock(self, tester: ClockFit | None) -> HostClock | TraceUnavailable:
        """The host's clocks on the TSC, since the start; why not, where that is not known."""
        if tester is None:
            return TraceUnavailable(
                "the tester's clocks were not read together", "use a generator that reads them"
            )
        try:
            return HostClock(RemoteClock.of(self._occasions), tester)
        except ValueError as error:
            return self.unavailable or TraceUnavailable(str(error), _UNTIED)

    def _take(self, opened: TraceOpened) -> None:
        self.loops = tuple(each.found for each in opened.loops if each.cpu in self.cpus)
        self.ticks = opened.ticks.ticks
        self.names = opened.names
        if opened.unavailable is not None:
            self.unavailable = TraceUnavailable(opened.unavailable, opened.remedy or "")

    def _done(self, request: Callable[[HostAgent], T]) -> T | None:
        """The answer; None, and never again, where there is none."""
        answer = self._ask(request)
        if isinstance(answer, TraceUnavailable):
            self.unavailable = answer
            return None
        return answer


def _round_trips(agent: HostAgent) -> list[RoundTrip]:
    """Many, one after the other. Raises AgentFailed."""
    until_s = time.monotonic() + _OCCASION_S
    trips: list[RoundTrip] = []
    while len(trips) < _MOST_TRIPS and (len(trips) < _LEAST_TRIPS or time.monotonic() < until_s):
        before_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
        read = agent.request({"request": "clock"}, ClockRead)
        after_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
        trips.append(RoundTrip(before_ns, read.raw_ns, read.unix_ns, after_ns))
    return trips


def _read(agent: HostAgent, windows: Sequence[Window], limit: int) -> RemoteEvents:
    """Raises AgentFailed, also for events that were not requested."""
    kept: list[AgentEvent] = []
    request = {"request": "trace-read", "windows": windows, "limit": limit}
    answer: object = agent.request(request, TraceEvents, TraceRead)
    while isinstance(answer, TraceEvents):
        kept += answer.events
        if len(kept) > limit:
            raise agent.failure(f"sent more than {limit:,} events")
        answer = agent.reply(TraceEvents, TraceRead)
    assert isinstance(answer, TraceRead)  # noqa: S101 - as requested
    begins = [begin for begin, _ in windows]
    for each in kept:
        place = bisect_right(begins, each.ns) - 1
        if place < 0 or each.ns > windows[place][1]:
            raise agent.failure("sent events of a time that was not requested")
    events = sorted((each.event for each in kept), key=lambda event: event.tsc)
    return RemoteEvents(events, answer.left_out, answer.lost, answer.cgroups, answer.own_threads)
