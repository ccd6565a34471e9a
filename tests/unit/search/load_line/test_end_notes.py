"""What the end says of the load that it reports."""

from __future__ import annotations

from plimsoll.search.load_line.end_notes import end_notes
from plimsoll.search.load_line.limit import Limit
from tests.worded.says import Says

LIMIT = Limit(950_000.0, "stalls", "stalls of the DUT", "Set by stalls of up to 4 ms.")


def test_what_limits_the_load_and_what_causes_it(says: Says) -> None:
    assert end_notes(LIMIT, 948_000.0, 948_000.0) == (
        says(),
        says("4"),
    )


def test_a_higher_load_that_passed_by_luck_is_named_with_the_one_that_is_reported(
    says: Says,
) -> None:
    first, *rest = end_notes(LIMIT, 948_000.0, 1_000_000.0)
    assert first == says("1", "948")
    assert rest == [says(), says("4")]


def test_a_load_that_passed_above_the_forecast_contradicts_it(says: Says) -> None:
    (note,) = end_notes(LIMIT, 1_000_000.0, 1_000_000.0)
    assert note == says()


def test_without_a_forecast_there_is_nothing_to_say() -> None:
    assert end_notes(None, 1_000_000.0, 1_000_000.0) == ()
