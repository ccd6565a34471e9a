"""Whether stalls grow with the load, from stalls that do and stalls that do not."""

from __future__ import annotations

import pytest

from plimsoll.search.load_line.stalls.load_growth import LoadGrowth, load_growth
from plimsoll.search.load_line.tried import Tried
from tests.unit.search.load_line.trials import tried


def _watched(load_pps: float, seconds: int, power: float) -> Tried:
    """Every 20 s one of 3 to 5 ms at 1 Mpps, in turn."""
    lengths = (
        round((3.0 + at % 60 / 20) * 1e6 * (load_pps / 1e6) ** power) for at in range(seconds)
    )
    peaks = {at: length for at, length in enumerate(lengths) if at % 20 == 5}
    return tried(load_pps, seconds, peaks_ns=peaks)


@pytest.mark.parametrize("power", [1.0, 2.0])
def test_what_grows_is_seen_to(power: float) -> None:
    trials = [_watched(1e6, 300, power), _watched(5e5, 900, power)]
    assert load_growth(trials, 4096.0).power == pytest.approx(power, abs=0.4)


def test_what_does_not_grow_is_not() -> None:
    trials = [_watched(1e6, 300, 0.0), _watched(5e5, 900, 0.0)]
    assert load_growth(trials, 4096.0).power == 0.0


def test_one_load_says_nothing() -> None:
    assert load_growth([_watched(1e6, 300, 2.0)], 4096.0).power == 0.0


def test_a_stall_proportional_to_the_load_fills_the_buffer_at_the_root() -> None:
    """4 ms at 1 Mpps bring 4000 frames; at half the load it is 2 ms and 1000 frames."""
    growth = LoadGrowth(1.0, 1e6)
    assert growth.filling_pps(1000.0, 4e-3) == pytest.approx(5e5)
    assert growth.at_load_s(4e-3, 5e5) == pytest.approx(2e-3)
    assert growth.at_reference_s(2e-3, 5e5) == pytest.approx(4e-3)


def _served_meanwhile(load_pps: float, seconds: int, left_pps: float) -> Tried:
    """Every 20 s the DUT forwards only `left_pps` for 6 to 9 ms: the queue holds the rest."""
    waits = (1.0 - left_pps / load_pps) * 1e6
    peaks = {at: round((6.0 + at % 60 / 20) * waits) for at in range(5, seconds, 20) if waits > 0.0}
    return tried(load_pps, seconds, peaks_ns=peaks)


def test_what_is_forwarded_meanwhile_is_known_from_three_loads_with_stalls() -> None:
    trials = [_served_meanwhile(load_pps, 900, 4e5) for load_pps in (7e5, 4.5e5)]
    trials.append(_served_meanwhile(1e6, 60, 4e5))
    growth = load_growth(trials, 4096.0)
    assert growth.left_pps == pytest.approx(4e5, rel=0.1)
    assert growth.power == 0.0


def test_a_load_without_any_stall_is_below_what_is_forwarded_meanwhile() -> None:
    growth = load_growth(
        [_served_meanwhile(1e6, 600, 6e5), _served_meanwhile(5e5, 900, 6e5)], 4096.0
    )
    assert 5e5 <= growth.left_pps < 1e6
    assert not growth.reaches(5e5)


def test_what_is_left_adds_to_the_load_that_fills_the_buffer() -> None:
    """8 ms at 1 Mpps, of which 400 kpps are served: 4800 frames wait. At 700 kpps it is half."""
    growth = LoadGrowth(0.0, 1e6, 4e5)
    seen_s = 4.8e-3
    assert growth.filling_pps(4800.0, seen_s) == pytest.approx(1e6)
    assert growth.filling_pps(2400.0, seen_s) == pytest.approx(7e5)
    assert growth.at_load_s(seen_s, 7e5) * 7e5 == pytest.approx(2400.0)
    assert growth.at_load_s(seen_s, 3e5) == 0.0
