"""On any trials, for any goal, what RFC 9971 defines is what its authors' library says."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.search.mlrsearch.classification import (
    TrialResult,
    classify,
    conditional_throughput,
    relevant_bounds,
)
from plimsoll.search.mlrsearch.goal import Goal
from tests.unit.search.mlrsearch.goals import goal
from tests.unit.search.mlrsearch.oracle import OFFERED, Trial, load_of, opinion

# Sums and shares of these have no rounding errors, which two programs may make differently.
DURATIONS = st.integers(1, 32).map(lambda quarters: quarters / 4)
EXCEED_RATIOS = st.sampled_from([0.0, 0.25, 0.5, 0.75])
LOSSES = st.sampled_from([0, 0, 0, 1, 4, 5, 6, 20, 500, OFFERED])
LOSS_RATIOS = st.sampled_from([0.0, 0.001, 0.005, 0.5])

CLASS_BY_ESTIMATES = {
    (True, True): "lower",
    (False, False): "upper",
    (True, False): "undecided",
}


@st.composite
def goals(draw: st.DrawFn) -> Goal:
    """A final duration with a sum that is no shorter, as the library asks."""
    final_s = draw(DURATIONS)
    return goal(
        final_s=final_s,
        sum_s=final_s + draw(st.integers(0, 80)) / 4,
        exceed=draw(EXCEED_RATIOS),
    )


def trials_of(steps: int) -> st.SearchStrategy[list[Trial]]:
    """Of some loads, the more often at each, the fewer they are."""
    one = st.builds(Trial, st.integers(0, steps - 1), DURATIONS, LOSSES)
    return st.lists(one, min_size=1, max_size=40)


def by_load(trials: list[Trial], allowed: float) -> dict[float, list[TrialResult]]:
    """The same trials as this search keeps them."""
    found: dict[float, list[TrialResult]] = {}
    for each in trials:
        ratio = each.lost / OFFERED
        result = TrialResult(each.duration_s, ratio > allowed, ratio)
        found.setdefault(load_of(each.step), []).append(result)
    return found


@given(goals(), LOSS_RATIOS, trials_of(1) | trials_of(3) | trials_of(8))
def test_classes_bounds_and_conditional_throughput(
    asked: Goal, allowed: float, trials: list[Trial]
) -> None:
    expected = opinion(asked, allowed, trials)
    ours = by_load(trials, allowed)
    classes = {load: classify(asked, at_load) for load, at_load in ours.items()}
    assert classes == {
        load_of(step): CLASS_BY_ESTIMATES[both] for step, both in expected.estimates.items()
    }
    bounds = relevant_bounds(classes)
    assert (bounds.lower_pps, bounds.upper_pps) == (expected.lower_pps, expected.upper_pps)
    if (lower := bounds.lower_pps) is not None:
        throughput = conditional_throughput(asked, lower, ours[lower])
        assert throughput == pytest.approx(expected.conditional_pps)
