"""Another host's clock, simulated: rate, drift, and ways that are longer in one direction."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.generator.interface import ClockReading
from plimsoll.observe.agent.remote_trace import HostClock, RemoteClock, RoundTrip
from plimsoll.record.trials.clock_fit import ClockFit

S = 1_000_000_000
MS = 1_000_000
UNIX_AHEAD = 1_700_000_000 * S


@dataclass(frozen=True)
class Clock:
    """It shows `offset_ns` at our 0, and goes on by `ppb` in 10^9 more than ours."""

    offset_ns: int
    ppb: int

    def at(self, here_ns: int) -> int:
        return self.offset_ns + here_ns + here_ns * self.ppb // S


clocks = st.builds(Clock, st.integers(0, 10**15), st.integers(-500_000, 500_000))
# There and back, each as long as it likes.
ways = st.tuples(st.integers(1_000, 5 * MS), st.integers(1_000, 5 * MS))
occasions = st.lists(st.lists(ways, min_size=1, max_size=8), min_size=2, max_size=6)


def trip(clock: Callable[[int], int], before_ns: int, there: int, back: int) -> RoundTrip:
    read_ns = clock(before_ns + there)
    return RoundTrip(before_ns, read_ns, read_ns + UNIX_AHEAD, before_ns + there + back)


def trips(
    clock: Callable[[int], int], begin_ns: int, lengths: list[tuple[int, int]]
) -> list[RoundTrip]:
    found, now_ns = [], begin_ns
    for there, back in lengths:
        found.append(trip(clock, now_ns, there, back))
        now_ns = found[-1].after_ns
    return found


@given(clocks, occasions, st.fractions(0, 1))
def test_the_truth_is_within_the_stated_error(
    clock: Clock, ways: list[list[tuple[int, int]]], share: Fraction
) -> None:
    """However different the ways are: only that the clocks run evenly is assumed."""
    looks = [trips(clock.at, number * 30 * S, each) for number, each in enumerate(ways)]
    remote = RemoteClock.of(looks)
    first, last = remote.anchors[0].middle_ns, remote.anchors[-1].middle_ns
    here_ns = first + round((last - first) * share)
    assert abs(remote.here_ns(clock.at(here_ns)) - here_ns) <= remote.error_ns
    assert abs(remote.there_ns(here_ns) - clock.at(here_ns)) <= remote.error_ns * 1.001


@given(clocks, st.integers(1_000, MS))
def test_with_equal_ways_the_error_is_half_of_the_narrowest_round_trip(
    clock: Clock, way: int
) -> None:
    lengths = [(3 * way, 5 * way), (way, way), (way, 9 * way)]
    remote = RemoteClock.of([trips(clock.at, at * S, lengths) for at in (0, 10, 20)])
    # Besides what is rounded in the simulated clock itself.
    assert way <= remote.error_ns <= way + 8
    assert abs(remote.here_ns(clock.at(7 * S)) - 7 * S) <= 8


def test_drift_is_a_part_of_the_error_and_is_followed() -> None:
    """A clock whose rate changes by 2 ppm within a minute: a line through its ends is 15 us off."""

    def drifting(here_ns: int) -> int:
        return 5 * S + here_ns + here_ns * here_ns // (60 * S) // 1_000_000

    remote = RemoteClock.of([trips(drifting, at * S, [(50, 50)]) for at in range(0, 61, 10)])
    errors = [abs(remote.here_ns(drifting(at * S)) - at * S) for at in range(1, 60)]
    assert max(errors) <= remote.error_ns
    assert 1_000 < remote.error_ns < 3_000


def test_the_narrowest_of_an_occasion_is_kept() -> None:
    clock = Clock(77 * S, 20_000)
    wide, narrow = [(4 * MS, 1 * MS)] * 5, [(20_000, 30_000)]
    remote = RemoteClock.of([trips(clock.at, at * S, wide + narrow + wide) for at in (0, 60)])
    assert [each.width_ns for each in remote.anchors] == [50_000, 50_000]
    assert remote.error_ns < 25_010


@pytest.mark.parametrize(
    ("looks", "problem"),
    [
        ([], "not read at two times"),
        ([trips(Clock(0, 0).at, 0, [(10, 10)])], "not read at two times"),
        ([trips(Clock(0, 0).at, 0, [(10, 10)]), []], "not read at two times"),
        ([trips(Clock(0, 0).at, at, [(10, 10)]) for at in (S, 0)], "did not go on"),
        ([trips(Clock(o, 0).at, at, [(10, 10)]) for o, at in ((S, 0), (0, S))], "did not go on"),
        # Stopped for 3 s of 30: a virtual machine that was saved and went on later.
        (
            [trips(Clock(o, 0).at, at, [(10, 10)]) for o, at in ((9 * S, 0), (6 * S, 30 * S))],
            "went on by 27.0",
        ),
    ],
)
def test_clocks_that_cannot_be_tied_together_are_refused(
    looks: list[list[RoundTrip]], problem: str
) -> None:
    with pytest.raises(ValueError, match=problem):
        RemoteClock.of(looks)


def test_times_of_the_host_are_carried_over_to_the_tsc() -> None:
    """Of a TSC of 2 GHz that was at 10^12 when our raw clock was at 0."""
    clock = Clock(123 * S, 0)
    fit = ClockFit.of([ClockReading(10**12 + 2 * at, at, at + 7, 10) for at in (0, 30 * S)])
    host = HostClock(RemoteClock.of([trips(clock.at, at * S, [(50, 50)]) for at in (0, 30)]), fit)
    tsc = 10**12 + 2 * 11 * S
    assert host.tsc_of(clock.at(11 * S)) == pytest.approx(tsc, abs=4)
    assert host.there_ns(tsc) == pytest.approx(clock.at(11 * S), abs=2)
    # Counters are recorded by its wall clock, which need not be ours.
    assert host.tsc(clock.at(11 * S) + UNIX_AHEAD) == pytest.approx(tsc, abs=4)
    assert host.error_ns >= 50 + fit.error_ns
