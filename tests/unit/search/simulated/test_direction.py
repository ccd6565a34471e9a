"""The queue of one direction, against figures by hand and against frame by frame."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.search.simulated.direction import Passage, Service, SimulatedDirection


@dataclass
class Scripted:
    """Serves at given capacities for given times, the last one for ever."""

    buffer_frames: float
    script: list[tuple[float, float]]
    resumes_pps: float = 1e6

    def begin_trial(self, now_s: float) -> None:
        """Nothing changes."""

    def service(self, now_s: float, load_pps: float, queue_frames: float) -> Service:
        for until_s, capacity_pps in self.script:
            if now_s < until_s:
                return Service(until_s, capacity_pps, capacity_pps or self.resumes_pps, 0.0)
        capacity_pps = self.script[-1][1]
        return Service(math.inf, capacity_pps, capacity_pps or self.resumes_pps, 0.0)


def passed(direction: SimulatedDirection, begin_s: float, end_s: float, load_pps: float) -> Passage:
    passage = Passage()
    direction.pass_on(begin_s, end_s, load_pps, passage)
    return passage


def test_a_load_below_the_capacity_finds_no_queue() -> None:
    direction = SimulatedDirection(Scripted(100, [(math.inf, 1e6)]))
    passage = passed(direction, 0.0, 3600.0, 999_999)
    assert (passage.overflow, passage.delays, direction.queue_frames) == (0.0, [], 0.0)


def test_an_overload_fills_the_buffer_and_then_loses_its_excess() -> None:
    direction = SimulatedDirection(Scripted(1000, [(math.inf, 1e6)]))
    passage = passed(direction, 0.0, 1.0, 1.1e6)
    # 100,000 frames a second too many: the buffer is full after 10 ms.
    assert passage.overflow == pytest.approx(99_000)
    assert direction.queue_frames == 1000
    filling, full = passage.delays
    assert filling == pytest.approx((11_000, 0.0, 1e-3, 0.01))
    assert full == pytest.approx((990_000, 1e-3, 1e-3, 0.99))
    drained = passed(direction, 1.0, 2.0, 0.0)
    assert (drained.overflow, drained.delays, direction.queue_frames) == (0.0, [], 0.0)


def test_a_stall_delays_what_fits_and_loses_the_rest() -> None:
    # Away from 1 s for 2 ms; back at 1 Mpps.
    direction = SimulatedDirection(Scripted(1500, [(1.0, 1e6), (1.002, 0.0), (math.inf, 1e6)]))
    passage = passed(direction, 0.0, 2.0, 0.8e6)
    # 1,600 frames come meanwhile; the buffer has room for 1,500 of them.
    assert passage.overflow == pytest.approx(100)
    waiting, draining = passage.delays
    # The first waits for the whole stall, the last that fits for 1,500 frames and 0.125 ms.
    assert waiting == pytest.approx((1500, 2e-3, 1.5e-3 + 0.125e-3, 1.875e-3))
    # 1,500 frames drain by 0.2 Mpps in 7.5 ms, in which 6,000 come.
    assert draining == pytest.approx((6000, 1.5e-3, 0.0, 7.5e-3))


class Slow(Scripted):
    """Serves at full speed again whenever a slow span has ended."""

    def service(self, now_s: float, load_pps: float, queue_frames: float) -> Service:
        """As in the script."""
        return super().service(now_s, load_pps, queue_frames)._replace(resumes_pps=1e6)


def test_what_waits_when_a_slow_span_ends_is_served_at_full_speed() -> None:
    """At 0.9 M a second, 5 ms at 0.5 M queue 2000 frames: 2 ms at 1 M, and 4 ms at 0.5 M.

    What comes in the first 5/1.8 ms is served at 0.5 M, the last of it after 20/9 ms.
    """
    direction = SimulatedDirection(Slow(10_000, [(5e-3, 0.5e6), (math.inf, 1e6)]))
    before, after = passed(direction, 0.0, 5e-3, 0.9e6).delays
    assert before == pytest.approx((2500, 0.0, 20e-3 / 9, 5e-3 / 1.8))
    assert after == pytest.approx((2000, 20e-3 / 9, 2e-3, 4e-3 / 1.8))
    # Half-way there were 1000 to serve: 2 ms at 0.5 M.
    direction = SimulatedDirection(Slow(10_000, [(5e-3, 0.5e6), (math.inf, 1e6)]))
    (half,) = passed(direction, 0.0, 2.5e-3, 0.9e6).delays
    assert half.last_s == pytest.approx(2e-3)


@pytest.mark.parametrize("slow_pps", [0.1e6, 0.3e6, 0.6e6])
@pytest.mark.parametrize("slow_s", [1e-3, 3e-3, 10e-3, 50e-3])
@pytest.mark.parametrize("load_pps", [0.7e6, 0.95e6, 1.1e6])
def test_the_longest_wait_is_that_of_frames_served_one_by_one(
    slow_pps: float, slow_s: float, load_pps: float
) -> None:
    """A slow span, from an empty queue of 1500 frames; the DUT then serves 1 M a second."""
    direction = SimulatedDirection(Slow(1500, [(slow_s, slow_pps), (math.inf, 1e6)]))
    delays = passed(direction, 0.0, 0.1, load_pps).delays
    longest_s = max(max(each.first_s, each.last_s) for each in delays)
    assert longest_s == pytest.approx(_longest_wait_s(slow_pps, slow_s, load_pps), rel=0.01)


def _longest_wait_s(slow_pps: float, slow_s: float, load_pps: float) -> float:
    """Each frame leaves when all before it have, and it was served itself."""

    def left_at_s(work: float) -> float:
        slow = slow_pps * slow_s
        return work / slow_pps if work < slow else slow_s + (work - slow) / 1e6

    leave_s: deque[float] = deque()
    done = longest_s = 0.0
    for number in range(int(0.1 * load_pps)):
        now_s = number / load_pps
        while leave_s and leave_s[0] <= now_s:
            leave_s.popleft()
        if len(leave_s) >= 1500:
            continue
        served = min(now_s, slow_s) * slow_pps + max(0.0, now_s - slow_s) * 1e6
        done = max(done, served) + 1.0
        leave_s.append(left_at_s(done))
        longest_s = max(longest_s, leave_s[-1] - now_s)
    return longest_s


def test_a_full_buffer_takes_nothing_while_the_dut_is_away() -> None:
    direction = SimulatedDirection(Scripted(10, [(1.0, 0.0), (math.inf, 1e6)]))
    passage = passed(direction, 0.0, 1.0, 1000.0)
    assert passage.overflow == pytest.approx(990)
    assert sum(delay.frames for delay in passage.delays) == pytest.approx(10)


capacities = st.lists(
    st.tuples(st.floats(0.05, 2.0), st.sampled_from([0.0, 200.0, 500.0, 1000.0])),
    min_size=1,
    max_size=5,
)


@given(
    lengths=capacities,
    loads=st.lists(st.floats(0.0, 1500.0), min_size=1, max_size=4),
    buffer=st.integers(1, 200),
)
def test_it_agrees_with_a_queue_that_is_stepped_through_in_small_slices(
    lengths: list[tuple[float, float]], loads: list[float], buffer: int
) -> None:
    script, at_s = [], 0.0
    for length_s, capacity_pps in lengths:
        at_s += length_s
        script.append((at_s, capacity_pps))
    direction = SimulatedDirection(Scripted(buffer, script, 500.0))
    overflow = sum(
        passed(direction, float(second), second + 1.0, load_pps).overflow
        for second, load_pps in enumerate(loads)
    )
    queue, lost, slice_s = 0.0, 0.0, 1e-4
    for step in range(int(len(loads) / slice_s)):
        now_s = (step + 0.5) * slice_s
        capacity_pps = next((c for until_s, c in script if now_s < until_s), script[-1][1])
        queue = max(0.0, queue + (loads[int(now_s)] - capacity_pps) * slice_s)
        lost += max(0.0, queue - buffer)
        queue = min(queue, buffer)
    # A slice is at most 0.15 frames long, and may be counted wrongly where something changes.
    assert direction.queue_frames == pytest.approx(queue, abs=2.0)
    assert overflow == pytest.approx(lost, abs=4.0)


@given(
    load_pps=st.floats(0, 1e7),
    capacity_pps=st.floats(1, 1e7),
    buffer=st.integers(1, 10**6),
    length_s=st.floats(1e-6, 1e5),
)
def test_frames_are_conserved(
    load_pps: float, capacity_pps: float, buffer: int, length_s: float
) -> None:
    direction = SimulatedDirection(Scripted(buffer, [(math.inf, capacity_pps)]))
    passage = passed(direction, 0.0, length_s, load_pps)
    offered = load_pps * length_s
    assert 0.0 <= direction.queue_frames <= buffer
    assert 0.0 <= passage.overflow <= offered
    served = offered - passage.overflow - direction.queue_frames
    assert served <= capacity_pps * length_s * (1 + 1e-9) + 1e-6
    for delay in passage.delays:
        assert delay.frames > 0
        assert min(delay.first_s, delay.last_s) >= 0.0
        assert max(delay.first_s, delay.last_s) <= buffer / capacity_pps * (1 + 1e-9)
