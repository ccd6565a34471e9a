"""Load classification beyond the worked example: sums, boundaries and what is not loss."""

from plimsoll.search.mlrsearch.classification import DurationSums, TrialResult, classify
from tests.unit.search.mlrsearch.goals import goal, trials

GOOD, BAD = TrialResult(1, False, 0), TrialResult(1, True, 0.5)


def test_no_trials_decide_nothing() -> None:
    assert classify(goal(), []) == "undecided"


def test_half_of_21_seconds_and_a_half_is_eleven_trials() -> None:
    """Of CSIT's 21 s, 10.5 may exceed."""
    assert classify(goal(), [GOOD] * 10) == "undecided"
    assert classify(goal(), [GOOD] * 11) == "lower"
    assert classify(goal(), [BAD] * 10) == "undecided"
    assert classify(goal(), [BAD] * 11) == "upper"
    assert classify(goal(), [GOOD] * 10 + [BAD] * 10) == "undecided"


def test_without_exceed_ratio_one_short_trial_is_enough_against_a_load() -> None:
    strict = goal(final_s=60, sum_s=60, exceed=0)
    assert classify(strict, [TrialResult(60, False, 0)] * 9 + [BAD]) == "upper"


def test_trials_longer_than_the_final_duration_are_full_length() -> None:
    assert classify(goal(final_s=1, sum_s=7), [TrialResult(20, True, 1e-6)]) == "upper"


def test_short_low_loss_trials_outweigh_short_high_loss_ones_and_prove_nothing() -> None:
    """With 20 % exceeding, a quarter of the good seconds; at most 12 of 60 s may be left."""
    asked = goal(final_s=60, sum_s=60, exceed=0.2)
    assert classify(asked, trials(400, 1, 0, 0)) == "undecided"
    assert classify(asked, trials(40, 1, 0, 0) + trials(22, 1, 1, 0)) == "undecided"
    assert classify(asked, trials(40, 1, 0, 0) + trials(23, 1, 1, 0)) == "upper"


def test_an_upper_bound_can_become_a_lower_one_by_another_goals_trials() -> None:
    measured = [BAD] * 11
    assert classify(goal(), measured) == "upper"
    assert classify(goal(), [*measured, TrialResult(60, False, 0)]) == "lower"


def test_sums() -> None:
    sums = DurationSums.of(
        [*trials(2, 60, 0, 0), *trials(1, 90, 1, 0), *trials(3, 5, 0, 0), *trials(4, 5, 1, 0)], 60
    )
    assert sums == DurationSums(full_low_s=120, full_high_s=90, short_low_s=15, short_high_s=20)


def test_rounding_leaves_no_load_undecided_that_misses_nothing() -> None:
    """A quarter of 0.8 s is bad, and may be; yet 0.8 - 0.6 is more than 0.2 in floating point."""
    measured = [TrialResult(0.1, high, 0.0) for high in [True] * 2 + [False] * 6]
    assert classify(goal(final_s=0.1, sum_s=0.8, exceed=0.25), measured) == "lower"
