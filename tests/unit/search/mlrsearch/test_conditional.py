"""Conditional throughput, by hand."""

import math

import pytest

from plimsoll.search.mlrsearch.classification import TrialResult, conditional_throughput
from tests.unit.search.mlrsearch.goals import goal, trials


def test_the_hard_limit_of_the_rfc() -> None:
    """A port that takes 100 Mfps, at 100.5025 Mfps, for a goal of 0.5 % loss."""
    load_pps = 100.5025e6
    measured = trials(11, 1, 1 - 100e6 / load_pps, 0.005)
    assert conditional_throughput(goal(), load_pps, measured) == pytest.approx(100e6)


def test_it_is_the_worst_of_the_low_loss_trials_when_no_more_were_needed() -> None:
    measured = [TrialResult(1, False, lost) for lost in (0, 0.001, 0.002)] * 3
    measured += [TrialResult(1, False, 0), TrialResult(1, False, 0.004)]
    assert conditional_throughput(goal(), 1000, measured) == pytest.approx(996)


def test_what_is_missing_counts_as_lost() -> None:
    assert conditional_throughput(goal(), 1000, trials(10, 1, 0, 0)) == 0
    assert conditional_throughput(goal(), 1000, []) == 0


def test_short_trials_do_not_count() -> None:
    asked = goal(final_s=60, sum_s=60, exceed=0)
    measured = [*trials(1, 60, 0.001, 0.005), *trials(5, 1, 0, 0.005)]
    assert conditional_throughput(asked, 1000, measured) == pytest.approx(999)


def test_a_trial_that_failed_by_latency_comes_after_those_that_passed() -> None:
    """Or the lossless one that was too slow would be the better half."""
    measured = [TrialResult(60, False, 0.002), TrialResult(60, True, 0.0)]
    assert conditional_throughput(goal(final_s=60, sum_s=120), 1000, measured) == 998


def test_lengths_whose_sum_is_rounded_are_still_the_whole() -> None:
    """Taken from their sum one by one, these leave 2e-16 s that no trial would be there for."""
    measured = [TrialResult(length_s, False, 0.01) for length_s in (0.5, 5.0, math.sqrt(2.5))]
    asked = goal(final_s=0.5, sum_s=0.5, exceed=0)
    assert conditional_throughput(asked, 1000, measured) == pytest.approx(990)
