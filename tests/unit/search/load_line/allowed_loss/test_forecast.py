"""The highest load that keeps to the loss allowed, where it can be worked out."""

from __future__ import annotations

import math

import pytest

from plimsoll.search.load_line.allowed_loss.forecast import (
    AllowedLossForecast,
    BufferShare,
    Directions,
    Terms,
)
from plimsoll.search.load_line.allowed_loss.spectrum import Absences, LikelyTail, Spectrum
from plimsoll.search.load_line.stalls.load_growth import NO_GROWTH, LoadGrowth

HOURS_S = 10_800.0
# So often seen that their rate is known.
ALWAYS = 1e9
ONE = Directions((1.0,), together=True)


def _forecast(
    absences: tuple[Absences, ...],
    *,
    buffers: tuple[BufferShare, ...] = (BufferShare(1000.0, 1.0),),
    growth: LoadGrowth = NO_GROWTH,
    directions: Directions = ONE,
    events: float = ALWAYS,
) -> AllowedLossForecast:
    spectrum = Spectrum((), (), (LikelyTail(1.0, absences),), events)
    return AllowedLossForecast(spectrum, growth, buffers, 1e9, directions)


def _highest(found: AllowedLossForecast, limit: float, pieces: float = 1.0) -> float:
    return found.highest_pps(Terms(limit, HOURS_S / pieces, pieces, 0.95), 1e3, 1e8)


def _count_of(expected: float, confidence: float) -> int:
    """The fewest events of which no more come with this probability, by Poisson."""
    count, odds, sum_ = 0, math.exp(-expected), math.exp(-expected)
    while sum_ < confidence:
        count += 1
        odds *= expected / count
        sum_ += odds
    return count


@pytest.mark.parametrize("limit", [1e-6, 2e-5, 8e-5])
def test_absences_of_one_length_lose_what_their_number_does(limit: float) -> None:
    """n of 5 ms lose n * (load * 5 ms - 1000); n is the 95 % quantile of their number."""
    per_s = 1.0 / 30.0
    count = _count_of(per_s * HOURS_S, 0.95)
    load_pps = 1000.0 / (5e-3 - limit * HOURS_S / count)
    found = _highest(_forecast((Absences(per_s, 5e-3),)), limit)
    assert found == pytest.approx(load_pps, rel=0.006)


def test_where_nothing_may_be_lost_it_is_the_buffer_by_the_longest() -> None:
    found = _forecast((Absences(0.1, 2e-3), Absences(0.02, 5e-3)))
    assert _highest(found, 0.0) == pytest.approx(1000.0 / 5e-3, rel=0.006)


def test_one_that_comes_in_fewer_than_one_of_twenty_validations_may_lose_all() -> None:
    rare = Absences(0.02 / HOURS_S, 50e-3)
    found = _forecast((Absences(0.1, 5e-3), rare))
    assert _highest(found, 0.0) == pytest.approx(1000.0 / 5e-3, rel=0.006)


def test_each_direction_has_the_limit_for_itself() -> None:
    """Each of two has half of the absences; where one loop serves both, all of them."""
    absences = (Absences(1.0 / 30.0, 5e-3),)
    apart = _forecast(absences, directions=Directions((0.5, 0.5), together=False))
    count = _count_of(HOURS_S / 60.0, math.sqrt(0.95))
    assert _highest(apart, 2e-5) == pytest.approx(
        1000.0 / (5e-3 - 2e-5 * HOURS_S / count), rel=0.006
    )
    together = _forecast(absences, directions=Directions((1.0, 1.0), together=True))
    assert _highest(together, 2e-5) == pytest.approx(_highest(_forecast(absences), 2e-5))


def test_what_the_dut_forwards_meanwhile_is_not_lost() -> None:
    """400 kpps are left for 5 ms: what is beyond them fills the buffer."""
    growth = LoadGrowth(0.0, 800e3, 400e3)
    # At the reference a frame waits for half of that.
    found = _forecast((Absences(1.0 / 30.0, 2.5e-3),), growth=growth)
    count = _count_of(HOURS_S / 30.0, 0.95)
    limit = 2e-5
    # n * ((load - left) * 5 ms - 1000) = limit * load * T
    load_pps = (1000.0 + 400e3 * 5e-3) / (5e-3 - limit * HOURS_S / count)
    assert _highest(found, limit) == pytest.approx(load_pps, rel=0.006)


def test_a_buffer_that_is_small_for_a_share_of_the_time_loses_then() -> None:
    absences = (Absences(1.0 / 30.0, 5e-3),)
    buffers = (BufferShare(500.0, 0.25), BufferShare(1000.0, 0.75))
    count = _count_of(0.25 * HOURS_S / 30.0, 0.95)
    limit = 2e-5
    found = _highest(_forecast(absences, buffers=buffers), limit)
    assert found == pytest.approx(500.0 / (5e-3 - limit * HOURS_S / count), rel=0.006)


def test_each_window_has_the_limit_for_itself() -> None:
    """Of 36 windows of 300 s each is to pass: 10 absences in the mean, in one window 20 or more."""
    absences = (Absences(1.0 / 30.0, 5e-3),)
    count = _count_of(10.0, 0.95 ** (1.0 / 36.0))
    limit = 2e-5
    found = _highest(_forecast(absences), limit, pieces=36.0)
    assert found == pytest.approx(1000.0 / (5e-3 - limit * 300.0 / count), rel=0.006)
    assert found < _highest(_forecast(absences), limit)


def test_what_was_seen_less_often_is_believed_less() -> None:
    absences = (Absences(1.0 / 30.0, 5e-3),)
    by_events = [
        _highest(_forecast(absences, events=events), 2e-4) for events in (5.0, 50.0, ALWAYS)
    ]
    assert by_events == sorted(by_events)
    assert by_events[0] < 0.99 * by_events[-1]
