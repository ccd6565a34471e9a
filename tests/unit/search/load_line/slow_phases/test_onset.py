"""What sets slow phases off, by how long loads were without one."""

from __future__ import annotations

import math

import pytest

from plimsoll.search.load_line.slow_phases.onset import Onset, Waited

HOURS = 10_800.0
LEFT, LOW, HIGH = 900_000.0, 950_000.0, 1_000_000.0


def _onset(*seen: Waited) -> Onset:
    return Onset(seen, LEFT, HOURS)


def _came(load_pps: float, seconds: float) -> Waited:
    return Waited(load_pps, seconds, slowed=True)


def _clean(load_pps: float, seconds: float) -> Waited:
    return Waited(load_pps, seconds, slowed=False)


def test_a_watch_shorter_than_phases_take_to_come_clears_no_load() -> None:
    """One flap after 38 minutes; 22 minutes without one at a lower load say next to nothing."""
    onset = _onset(_came(HIGH, 2268.0), _clean(LOW, 1350.0))
    assert not onset.spares(LOW, 0.95)
    assert onset.chance(LOW, 1) < 0.5


def test_a_load_is_spared_where_phases_come_soon_above_it_and_never_at_it() -> None:
    """Heat: within five minutes above, not in three watches of 20 minutes below."""
    seen = (_came(HIGH, 300.0), _came(980_000.0, 280.0), *(_clean(LOW, 1200.0),) * 3)
    assert _onset(*seen).spares(LOW, 0.95)


def test_what_comes_at_the_same_age_at_any_load_spares_none() -> None:
    """A step after 43 minutes under load, three times; watches of 22 minutes never see it."""
    seen = (_came(HIGH, 2592.0), _came(980_000.0, 2592.0), _came(LOW, 2600.0))
    onset = _onset(*seen, _clean(920_000.0, 1350.0), _clean(920_000.0, 1350.0))
    assert onset.chance(920_000.0, 1) < 0.1
    assert onset.odds_at_random < 0.1


def test_scattered_times_at_any_load_are_chance() -> None:
    times = (100.0, 4000.0, 900.0, 2500.0, 300.0, 7000.0)
    loads = (HIGH, 905_000.0, 960_000.0, 990_000.0, 920_000.0, 940_000.0)
    onset = _onset(*(_came(*each) for each in zip(loads, times, strict=True)))
    assert onset.odds_at_random > 0.9


def test_by_chance_alone_the_odds_are_those_of_a_rate_that_was_drawn_so_often() -> None:
    """Twelve phases in two validations, at any load: none in one by about (2/3)^12."""
    waits = [_came(LOW + 3000.0 * at, HOURS / 6.0 * (0.2 + 0.145 * at)) for at in range(12)]
    onset = _onset(*waits)
    waited = math.fsum(each.seconds for each in waits) / HOURS
    expected = (waited / (waited + 1.0)) ** 12
    assert onset.chance(HIGH * 1.1, 1) == pytest.approx(expected, rel=0.5)


def test_watches_too_short_to_see_phases_come_again_are_not_worth_it() -> None:
    assert not _onset(_came(HIGH, 4000.0)).could_spare(LOW, 1350.0, 3, 0.95)
    assert _onset(_came(HIGH, 300.0)).could_spare(LOW, 1200.0, 3, 0.95)


def test_where_no_phase_began_in_a_trial_no_watch_could_tell() -> None:
    onset = Onset((Waited(1e6, 60.0, slowed=False),), 8e5, 10_800.0)
    assert not onset.could_spare(9e5, 1350.0, 3, 0.95)
