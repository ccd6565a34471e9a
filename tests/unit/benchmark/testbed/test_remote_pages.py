"""Pages of another host's trace: what is requested of it, and what becomes of its times."""

from dataclasses import dataclass, field
from typing import cast

import pytest

from plimsoll.attribution.explanation.counters import CounterMove, WallClock
from plimsoll.attribution.incidents.incident import Incident
from plimsoll.attribution.incidents.spans import AFTER_S, BEFORE_S
from plimsoll.benchmark.testbed.trace_pages import RemotePages
from plimsoll.generator.interface import ClockReading
from plimsoll.host.processes.ticks import HostTicks
from plimsoll.observe.agent.remote_trace import (
    HostClock,
    RemoteClock,
    RemoteEvents,
    RemoteTrace,
    RoundTrip,
)
from plimsoll.observe.agent.replies import AgentLoss
from plimsoll.observe.kernel_trace.trace_program import KernelEvent, TraceUnavailable
from plimsoll.record.trials.clock_fit import ClockFit

# A TSC of 2 GHz; that host's raw clock is 70 s ahead of ours, and its wall clock 90 s of that.
HZ = 2e9
MS = 1_000_000
AHEAD_NS = 70_000 * MS
UNIX_AHEAD_NS = 90_000 * MS
FIT = ClockFit.of([ClockReading(2 * at, at, at, 0) for at in (0, 60_000 * MS)])
SPAN = (0, 2 * 60_000 * MS)
ERROR_NS = 100_000
REFUSED = TraceUnavailable("no permission", "run as root")


def there(here_ns: int) -> int:
    return here_ns + AHEAD_NS


def trip(at_ns: int) -> RoundTrip:
    read_ns = there(at_ns)
    return RoundTrip(at_ns - ERROR_NS, read_ns, read_ns + UNIX_AHEAD_NS, at_ns + ERROR_NS)


CLOCK = HostClock(RemoteClock.of([[trip(0)], [trip(60_000 * MS)]]), FIT)
TICKS = HostTicks(0.004)
NO_EVENTS = RemoteEvents((), 0, (), {}, ())


@dataclass
class Trace:
    """A RemoteTrace that hands over what it is given, one answer for each request."""

    answers: list[RemoteEvents] = field(default_factory=list)
    unavailable: TraceUnavailable | None = None
    host: str = "dut.lab"
    cpus: tuple[int, ...] = (1, 2)
    ticks: HostTicks = TICKS
    names: tuple[str, ...] = ("sched_switch",)
    windows: list[list[tuple[int, int]]] = field(default_factory=list)

    def clock(self, fit: ClockFit | None) -> HostClock | TraceUnavailable:
        return CLOCK if fit is not None else TraceUnavailable("not read together", "read them")

    def read(self, windows: list[tuple[int, int]], limit: int) -> RemoteEvents | None:
        self.windows.append(windows)
        return self.answers.pop(0) if self.unavailable is None else None


def pages(*answers: RemoteEvents, unavailable: TraceUnavailable | None = None) -> RemotePages:
    return RemotePages(cast(RemoteTrace, Trace(list(answers), unavailable)), HZ)


def no_counters(host: str | None, clock: WallClock) -> tuple[CounterMove, ...]:
    return ()


def latency(at_ns: int, length_ns: int) -> Incident:
    """Its times are of our raw clock."""
    return Incident("latency", "load", 2 * at_ns, 2 * (at_ns + length_ns), 1, length_ns)


def trace_of(found: RemotePages) -> Trace:
    return cast(Trace, found.trace)


def test_windows_are_by_that_hosts_clock_and_wide_enough_for_its_error() -> None:
    found = pages(NO_EVENTS)
    found.read([latency(500 * MS, 4 * MS)], FIT, 1000)
    (((begin, end),),) = trace_of(found).windows
    assert begin <= there(500 * MS) - BEFORE_S * 1e9 - 4 * MS - ERROR_NS
    assert end >= there(504 * MS) + AFTER_S * 1e9 + ERROR_NS
    assert end - begin < 50 * MS


def test_times_are_carried_over_once_the_trial_has_ended() -> None:
    events = [KernelEvent(there(at * MS), 1, "sched_switch", {"next_pid": 5}) for at in (501, 502)]
    loss = AgentLoss(cpu=1, events=7, complete_from_ns=there(100 * MS))
    found = pages(RemoteEvents(events, 0, [loss], {5: "/pod"}, [9]))
    found.read([latency(500 * MS, 4 * MS)], FIT, 1000)
    seen = found.observations(FIT, SPAN, no_counters)
    assert seen.host == "dut.lab"
    assert [event.tsc for event in seen.events] == pytest.approx([1002 * MS, 1004 * MS], abs=10)
    assert seen.clock_error == pytest.approx(2 * ERROR_NS, abs=20)
    assert (seen.cgroups, seen.own_threads, seen.ticks) == ({5: "/pod"}, {9}, HostTicks(0.004))
    assert seen.coverage.complete[2] == SPAN
    since, until = seen.coverage.complete[1]
    assert (since, until) == (pytest.approx(200 * MS, abs=10), SPAN[1])
    traced = {each.cpu: each for each in found.traced(FIT, SPAN)}
    assert (traced[1].host, traced[1].lost_events, traced[2].lost_events) == ("dut.lab", 7, 0)
    state = found.state(FIT)
    assert (state.clock, state.events) == ("mono_raw", 2)
    assert state.clock_error_ns == pytest.approx(ERROR_NS, abs=10)
    assert list(found.unwatched(FIT)) == []


def test_a_page_waits_until_our_own_clocks_are_tied_together() -> None:
    found = pages(NO_EVENTS)
    found.read([latency(500 * MS, MS)], None, 1000)
    assert trace_of(found).windows == []
    found.read([latency(9_000 * MS, MS)], FIT, 1000)
    assert [len(windows) for windows in trace_of(found).windows] == [2]


def test_counters_are_recorded_by_its_own_wall_clock() -> None:
    requested: list[tuple[str | None, int]] = []

    def counters_of(host: str | None, clock: WallClock) -> tuple[CounterMove, ...]:
        requested.append((host, clock.tsc(there(30_000 * MS) + UNIX_AHEAD_NS)))
        return (CounterMove("hardware", "SMIs", None, 0, 1, host=host),)

    # Also of a host that may not trace.
    found = pages(unavailable=REFUSED)
    assert [each.host for each in found.observations(FIT, SPAN, counters_of).counters] == [
        "dut.lab"
    ]
    assert requested == [("dut.lab", pytest.approx(60_000 * MS, abs=10))]


def test_where_it_may_not_trace_nothing_is_covered_and_it_is_said() -> None:
    found = pages(unavailable=REFUSED)
    found.read([latency(500 * MS, MS)], FIT, 1000)
    assert found.observations(FIT, SPAN, no_counters).coverage.complete == {}
    assert list(found.traced(FIT, SPAN)) == []
    (why,) = found.unwatched(FIT)
    assert (why.host, why.reason, why.remedy) == ("dut.lab", REFUSED.reason, REFUSED.remedy)
    assert found.state(FIT).clock is None


def test_events_that_were_left_out_leave_nothing_complete() -> None:
    found = pages(RemoteEvents((), 3, (), {}, ()))
    found.read([latency(500 * MS, MS)], FIT, 1000)
    assert found.observations(FIT, SPAN, no_counters).coverage.complete == {}
    assert "more kernel events" in next(found.unwatched(FIT)).reason


def test_clocks_that_were_never_tied_together_say_so() -> None:
    found = pages()
    found.read([latency(500 * MS, MS)], None, 1000)
    seen = found.observations(None, SPAN, no_counters)
    assert (seen.events, seen.coverage.complete) == ((), {})
    assert next(found.unwatched(None)).reason == "not read together"
