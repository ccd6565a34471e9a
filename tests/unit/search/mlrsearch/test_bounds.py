"""Relevant bounds."""

from plimsoll.search.mlrsearch.classification import RelevantBounds, relevant_bounds


def test_a_load_that_held_above_one_that_failed_is_not_believed() -> None:
    classes = {1.0: "lower", 2.0: "upper", 3.0: "lower", 4.0: "undecided", 5.0: "lower"}
    assert relevant_bounds(classes) == RelevantBounds(1.0, 2.0, inversions=(3.0, 5.0))


def test_the_lowest_failure_and_the_highest_load_below_it_count() -> None:
    classes = {6.0: "upper", 1.0: "lower", 4.0: "upper", 3.0: "lower", 3.5: "undecided"}
    assert relevant_bounds(classes) == RelevantBounds(3.0, 4.0)


def test_without_an_upper_bound_the_highest_that_held_is_the_effective_one() -> None:
    assert relevant_bounds({1.0: "lower", 2.0: "lower"}) == RelevantBounds(2.0, None)


def test_nothing_held() -> None:
    assert relevant_bounds({1.0: "upper"}) == RelevantBounds(None, 1.0)
    assert relevant_bounds({}) == RelevantBounds(None, None)
