"""Where the next trial goes, by hand."""

from __future__ import annotations

import pytest

from plimsoll.search.load_line.bracket import Barred, Bracket


def _bracket(minimum_pps: float = 1000, maximum_pps: float = 200_000) -> Bracket:
    return Bracket(minimum_pps, maximum_pps, 0.01)


def test_it_begins_at_the_maximum() -> None:
    assert _bracket().aim(0.0) == 200_000


def test_one_overloaded_trial_says_where_the_capacity_is() -> None:
    """Half a width below it."""
    bracket = _bracket()
    bracket.bar(Barred(200_000, 100_000, 1))
    assert bracket.aim(0.0) == pytest.approx(100_000 * 0.995)


def test_two_overloaded_trials_say_it_though_overload_slows_the_dut() -> None:
    """Losses of 150 and 30 kpps at 200 and 120: a line of slope 1.5 that meets nought at 100."""
    bracket = _bracket()
    bracket.bar(Barred(200_000, 50_000, 1))
    bracket.bar(Barred(120_000, 90_000, 2))
    assert bracket.root_pps(0.0) == pytest.approx(100_000)


def test_a_goal_that_tolerates_loss_looks_above_the_capacity() -> None:
    """At 125 kpps a fifth of the load is lost."""
    bracket = _bracket()
    bracket.bar(Barred(200_000, 100_000, 1))
    assert bracket.root_pps(0.2) == pytest.approx(125_000)


def test_what_is_carried_just_below_is_followed_by_a_load_just_above() -> None:
    bracket = _bracket()
    bracket.bar(Barred(200_000, 100_000, 1))
    bracket.carry(99_500, 2)
    aim = bracket.aim(0.0)
    assert 100_000 < aim < 99_500 * 1.01
    bracket.bar(Barred(aim, 100_000, 3))
    assert bracket.is_narrow


def test_without_a_sign_of_the_capacity_it_halves() -> None:
    bracket = _bracket(minimum_pps=100_000)
    bracket.bar(Barred(200_000, None, 1))
    assert bracket.aim(0.0) == 150_000


def test_a_load_that_is_carried_after_all_takes_back_what_failed_below() -> None:
    bracket = _bracket()
    bracket.bar(Barred(200_000, 100_000, 1))
    bracket.bar(Barred(101_000, 100_000, 2))
    bracket.carry(120_000, 3)
    upper = bracket.upper
    assert upper is not None
    assert upper.load_pps == 200_000


def test_failures_in_the_wake_of_an_overload_can_be_forgotten() -> None:
    bracket = _bracket()
    bracket.bar(Barred(200_000, 100_000, 1))
    bracket.bar(Barred(150_000, 100_000, 2, in_wake=True))
    bracket.forget_wakes()
    upper = bracket.upper
    assert upper is not None
    assert upper.load_pps == 200_000


def test_a_share_that_is_lost_at_any_load_is_not_followed_step_by_step() -> None:
    """1 % lost at each load: a line followed down to 1 kpps would take some 500 trials."""
    bracket = _bracket()
    for number in range(1, 30):
        load_pps = bracket.aim(0.0)
        bracket.bar(Barred(load_pps, load_pps * 0.99, number))
        if bracket.is_narrow:
            break
    assert bracket.is_narrow
    assert bracket.upper is not None
    assert bracket.upper.load_pps == 1000
    assert number <= 25
