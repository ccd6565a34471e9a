"""Frames due at a capture's gaps, counted one by one and by what is under test."""

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from plimsoll.traffic.plan import CapturedGaps

GAPS = st.builds(
    lambda gaps, last: CapturedGaps((*gaps, last)),
    st.lists(st.sampled_from([0, 0, 1, 7, 1000, 999_999]), min_size=1, max_size=12),
    st.integers(1, 5000),
)


def due_s(gaps: CapturedGaps, rate_pps: int, count: int) -> list[Fraction]:
    """When each of the first frames is due, in s, gap by gap."""
    scale = Fraction(len(gaps.gaps_ns), rate_pps) / sum(gaps.gaps_ns)
    times, now = list[Fraction](), Fraction(0)
    for number in range(count):
        times.append(now)
        now += gaps.gaps_ns[number % len(gaps.gaps_ns)] * scale
    return times


def test_the_own_rate_is_that_of_the_mean_gap() -> None:
    gaps = CapturedGaps((100_000, 0, 700_000, 200_000, 250_000))
    assert gaps.round_ns == 1_250_000
    assert gaps.own_pps == 4000


def test_frames_before_a_moment_leave_out_those_at_it() -> None:
    gaps = CapturedGaps((100, 0, 700, 200, 250))
    # At 1 kpps the round of 1250 ns takes 5 ms: frames at 0, 0.4, 0.4, 3.2 and 4 ms.
    for seconds, frames in [(0, 0), (1e-4, 1), (4.1e-4, 3), (3.1e-3, 3), (3.3e-3, 4), (4.9e-3, 5)]:
        assert gaps.due_before(seconds, 1000.0) == frames
    assert gaps.due_before(5.1e-3, 1000.0) == 6
    assert gaps.due_before(3600 + 4.1e-4, 1000.0) == 3_600_000 + 3


@given(GAPS, st.integers(1, 10**6), st.integers(0, 60))
def test_frames_are_due_when_their_gaps_have_passed(
    gaps: CapturedGaps, rate_pps: int, number: int
) -> None:
    times = due_s(gaps, rate_pps, 200)
    moment = (times[number] + times[number + 1]) / 2
    if times[number] < moment:
        assert gaps.due_before(float(moment), rate_pps) == number + 1


@given(GAPS, st.integers(1, 10**6), st.integers(0, 40), st.integers(0, 40))
def test_no_span_has_more_frames_than_the_fullest(
    gaps: CapturedGaps, rate_pps: int, first: int, more: int
) -> None:
    times = due_s(gaps, rate_pps, 81)
    # A little longer than from one frame to another, so that both are in it however it is rounded.
    span = float(times[first + more] - times[first]) * (1 + 1e-9) + 1e-12
    assert gaps.most_within(span, rate_pps) >= more + 1


@given(GAPS, st.integers(1, 10**6), st.floats(0, 3))
def test_the_fullest_span_is_one_that_begins_with_a_frame(
    gaps: CapturedGaps, rate_pps: int, rounds: float
) -> None:
    seconds = rounds * len(gaps.gaps_ns) / rate_pps
    times = [float(each) for each in due_s(gaps, rate_pps, 80)]
    fullest = max(
        sum(begin <= each <= begin + seconds * (1 + 1e-9) + 1e-12 for each in times)
        for begin in times[: len(gaps.gaps_ns)]
    )
    assert gaps.most_within(seconds, rate_pps) <= fullest
