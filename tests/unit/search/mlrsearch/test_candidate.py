"""Which load is tried next, after a few trials made by hand.

Widths are 10 %: the grid goes from 10 kpps up by 1 / 0.9, and 43.7 steps to 1 Mpps.
"""

import math

import pytest

from plimsoll.search.mlrsearch.candidate import Hint, LoadGrid, next_load, split
from plimsoll.search.mlrsearch.classification import TrialLog
from plimsoll.search.mlrsearch.goal import Goal, LoadSpan
from plimsoll.search.mlrsearch.opening import Opening
from plimsoll.search.strategy.ask import Ask, JudgedVerdict, Told
from tests.unit.search.duts import evidence
from tests.unit.search.mlrsearch.goals import goal

SHORT = goal(final_s=1, sum_s=1, exceed=0, width=0.1)
SPAN = LoadSpan(1e4, 1e6)
GRID = LoadGrid.for_goals(1e4, [SHORT])

# Seconds, load in pps, verdict, loss ratio.
Trial = tuple[float, float, JudgedVerdict, float]


def at(place: int) -> float:
    """A load of the grid, in pps."""
    return GRID.load(place)


def _add(log: TrialLog, name: str, trial: Trial) -> None:
    duration_s, load_pps, verdict, lost = trial
    asked = Ask("search", load_pps, duration_s, goal=name)
    log.add(asked, Told({name: verdict}, evidence(asked, lost), {}))


def _next(
    *trials: Trial, stage: Goal = SHORT, hint: Hint | None = None, span: LoadSpan = SPAN
) -> float | None:
    log = TrialLog([stage.name])
    for trial in trials:
        _add(log, stage.name, trial)
    return next_load(stage, hint or Hint(), log, span, GRID)


def _opened(*answers: tuple[JudgedVerdict, float]) -> tuple[Opening, float | None]:
    """After so many of the first trials, and what comes next."""
    opening, log = Opening([SHORT], GRID), TrialLog([SHORT.name])
    for verdict, lost in answers:
        load_pps = opening.next_load(log, SPAN)
        assert load_pps is not None
        _add(log, SHORT.name, (1, load_pps, verdict, lost))
    return opening, opening.next_load(log, SPAN)


def test_loads_of_the_grid_are_a_width_apart() -> None:
    assert GRID.load(7) == pytest.approx(1e4 / 0.9**7)
    assert GRID.load(0) == GRID.load(-3) == 1e4


def test_the_maximum_comes_first() -> None:
    assert _opened()[1] == 1e6
    assert _next() == 1e6


def test_what_an_overloaded_dut_forwarded_comes_next_on_the_grid() -> None:
    # 300 kpps are 32.28 steps up.
    assert _opened(("fail", 0.7))[1] == pytest.approx(at(32))


def test_then_one_width_above_what_held() -> None:
    opening, load_pps = _opened(("fail", 0.7), ("pass", 0.0))
    assert load_pps == pytest.approx(at(33))
    assert opening.hint == Hint(opening.loads[1], opening.loads[2])


def test_or_what_was_forwarded_where_it_did_not_hold() -> None:
    assert _opened(("fail", 0.7), ("fail", 0.5))[1] == pytest.approx(at(25))


def test_a_little_loss_asks_for_one_width_less() -> None:
    assert _opened(("fail", 0.01))[1] == pytest.approx(at(42))


def test_three_loads_are_enough_to_begin_with() -> None:
    opening, load_pps = _opened(("fail", 0.7), ("pass", 0.0), ("fail", 0.1))
    assert load_pps is None
    assert opening.hint == Hint(pytest.approx(at(32)), pytest.approx(at(33)))


def test_a_maximum_that_holds_is_all_there_is_to_know() -> None:
    opening, load_pps = _opened(("pass", 0.0))
    assert (load_pps, opening.hint) == (None, Hint(1e6, 1e6))


def test_a_dut_that_forwards_nothing_sends_the_search_to_the_minimum() -> None:
    assert _opened(("fail", 1.0))[1] == 1e4


def test_a_failure_without_loss_says_nothing_and_asks_for_the_middle() -> None:
    opening, load_pps = _opened(("fail", 0.0))
    assert (load_pps, opening.hint) == (None, Hint())
    assert _next((1, 1e6, "fail", 0)) == pytest.approx(at(21))


def test_the_middle_of_the_bounds_before_is_tried_first_then_the_one_that_is_missing() -> None:
    hint = Hint(at(20), at(22))
    assert _next(hint=hint) == pytest.approx(at(21))
    assert _next((1, at(21), "fail", 0.1), hint=hint) == at(20)
    assert _next((1, at(21), "pass", 0), hint=hint) == at(22)


def test_bounds_that_are_further_apart_are_tried_themselves() -> None:
    assert _next(hint=Hint(at(20), at(24))) == at(20)
    assert _next((1, at(20), "pass", 0), hint=Hint(at(20), at(24))) == at(24)


def test_from_a_bound_that_does_not_hold_steps_double() -> None:
    hint = Hint(at(20), at(21))
    failed: list[Trial] = [(1, at(20), "fail", 0.01)]
    assert _next(*failed, hint=hint) == pytest.approx(at(18))
    failed.append((1, at(18), "fail", 0.01))
    assert _next(*failed, hint=hint) == pytest.approx(at(14))
    # Eight steps further down is less than a width above the minimum.
    failed.append((1, at(8), "fail", 0.01))
    assert _next(*failed, hint=hint) == 1e4


def test_upwards_as_well_until_halving_is_nearer() -> None:
    hint = Hint(at(20), at(21))
    held: list[Trial] = [(1, at(20), "pass", 0), (1, at(21), "pass", 0)]
    assert _next(*held, hint=hint) == pytest.approx(at(23))
    held.append((1, at(23), "pass", 0))
    assert _next(*held, hint=hint) == pytest.approx(at(27))
    assert _next(*held, (1, at(33), "fail", 0.1), hint=hint) == pytest.approx(at(27))
    assert _next(*held, (1, at(25), "fail", 0.1), hint=hint) == pytest.approx(at(24))


def test_the_maximum_ends_the_way_up() -> None:
    assert _next((1, at(42), "pass", 0), hint=Hint(at(41), at(42))) == 1e6
    assert _next((1, 1e6, "pass", 0)) is None


def test_the_minimum_ends_the_way_down() -> None:
    assert _next((1, at(1), "fail", 0.01)) == 1e4
    assert _next((1, 1e4, "fail", 0.01)) is None


def test_bounds_a_width_apart_are_enough() -> None:
    assert _next((1, 1e6, "fail", 0.1), (1, 0.9e6, "pass", 0)) is None


def test_what_cannot_be_tested_bounds_like_a_failure() -> None:
    barred = SPAN.barred_at(1e6)
    assert _next(span=barred) == pytest.approx(at(21))
    assert _next((1, 0.95e6, "pass", 0), span=barred) is None
    assert _next(span=SPAN.barred_at(1e4)) is None


@pytest.mark.parametrize(
    ("length", "width", "below"), [(2, 1, 1), (3, 1, 1), (4, 1, 2), (5, 1, 2), (12, 2, 4)]
)
def test_one_part_is_a_power_of_two_and_the_lower_the_smaller(
    length: int, width: int, below: int
) -> None:
    assert split(length, width) == below


def test_a_fraction_above_the_grid_is_left_in_the_upper_part() -> None:
    assert split(1.7, 1) == 1
    assert split(3.5, 2) == 1


def test_wider_goals_meet_finer_ones_on_the_same_grid() -> None:
    wide = goal("wide", width=0.03)
    grid = LoadGrid.for_goals(1e4, [wide, goal("fine", width=0.01)])
    assert (grid.width(wide), math.floor(math.log(0.97) / math.log(0.99))) == (3, 3)
    assert grid.place(grid.load(37)) == 37
    assert grid.load(37.9) == grid.load(37)
