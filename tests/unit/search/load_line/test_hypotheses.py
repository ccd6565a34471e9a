"""Which explanation wins, on incidents that are drawn from a known cause."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.search.load_line.hypotheses import LossIncident
from plimsoll.search.load_line.weigh import weigh

BUFFER = 4096.0


def _stall(load_pps: float, length_s: float, directions: int = 1) -> LossIncident:
    """What does not fit of the frames that come while the DUT is away."""
    lost = directions * (load_pps * length_s - BUFFER)
    return LossIncident(0.0, 1.0, load_pps, lost, length_s, 0.01)


def _slow(load_pps: float, left_pps: float, seconds: float) -> LossIncident:
    """A queue that stays full for so long; its last frame waits for all of it."""
    lost = (load_pps - left_pps) * seconds
    return LossIncident(0.0, max(1.0, seconds), load_pps, lost, BUFFER / left_pps, 0.05)


@given(
    st.floats(5e5, 1e6),
    st.lists(st.floats(1.1, 5.0), min_size=1, max_size=30),
    st.sampled_from([1, 2]),
)
def test_stalls_are_taken_for_stalls(
    load_pps: float, fillings: list[float], directions: int
) -> None:
    incidents = [_stall(load_pps, each * BUFFER / load_pps, directions) for each in fillings]
    weighed = weigh(incidents, BUFFER)
    assert {weighed.explanation(each) for each in incidents} == {"stall"}


@given(st.floats(0.5, 0.9), st.lists(st.floats(1.0, 20.0), min_size=1, max_size=30))
def test_slow_phases_are_taken_for_slow_phases(left: float, lasting_s: list[float]) -> None:
    incidents = [_slow(1e6, left * 1e6, each) for each in lasting_s]
    weighed = weigh(incidents, BUFFER)
    assert {weighed.explanation(each) for each in incidents} == {"slow-phase"}


@given(st.lists(st.integers(1, 100), min_size=1, max_size=30))
def test_losses_without_a_wait_are_sporadic(lost: list[int]) -> None:
    incidents = [LossIncident(0.0, 1.0, 1e6, float(each), 50e-6, 0.1) for each in lost]
    weighed = weigh(incidents, BUFFER)
    assert {weighed.explanation(each) for each in incidents} == {"sporadic"}


def test_both_causes_of_a_dut_that_has_two_are_found() -> None:
    chance = random.Random(5)  # noqa: S311
    stalls = [_stall(1e6, chance.uniform(5e-3, 12e-3)) for _ in range(10)]
    phases = [_slow(1e6, 0.7e6, chance.uniform(2, 20)) for _ in range(10)]
    weighed = weigh([*stalls, *phases], BUFFER)
    assert {weighed.explanation(each) for each in stalls} == {"stall"}
    assert {weighed.explanation(each) for each in phases} == {"slow-phase"}


@given(
    st.lists(st.tuples(st.floats(1, 1e7), st.floats(0, 0.1), st.floats(1e4, 2e6)), max_size=20),
    st.floats(0, 1e5),
)
def test_whatever_was_seen_the_odds_are_odds(
    seen: list[tuple[float, float, float]], full_queue: float
) -> None:
    incidents = [LossIncident(0.0, 1.0, load, lost, peak, 0.1) for lost, peak, load in seen]
    weighed = weigh(incidents, full_queue)
    assert sum(weighed.shares.values()) == pytest.approx(1.0)
    for incident in incidents:
        assert sum(weighed.odds(incident).values()) == pytest.approx(1.0)


def test_a_buffer_that_is_smaller_at_times_is_known_by_what_stalls_found_room_for() -> None:
    """Of 4096 frames 1000 are left now and then; the lossy stall is the longest but a few."""
    chance = random.Random(7)  # noqa: S311
    incidents = [
        LossIncident(0.0, 54.0, 4e5, 4e5 * length_s - 1000.0, length_s, 0.05, rank=0.1)
        for length_s in (chance.uniform(2.6e-3, 6e-3) for _ in range(5))
    ]
    weighed = weigh(incidents, BUFFER)
    assert {weighed.explanation(each) for each in incidents} == {"small-buffer"}


def test_one_loss_with_a_long_peak_is_not_yet_a_smaller_buffer() -> None:
    one = LossIncident(0.0, 1.0, 4e5, 200.0, 3e-3, 0.05, rank=0.2)
    assert weigh([one], BUFFER).explanation(one) == "sporadic"


def test_losses_that_do_not_agree_on_a_buffer_are_sporadic() -> None:
    chance = random.Random(8)  # noqa: S311
    incidents = [
        LossIncident(
            0.0, 1.0, 4e5, chance.uniform(1.0, 50.0), chance.uniform(1e-3, 9e-3), 0.1, rank=0.5
        )
        for _ in range(20)
    ]
    weighed = weigh(incidents, BUFFER)
    assert {weighed.explanation(each) for each in incidents} == {"sporadic"}
