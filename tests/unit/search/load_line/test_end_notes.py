"""What the end says of the load that it reports."""

from __future__ import annotations

from plimsoll.search.load_line.end_notes import end_notes
from plimsoll.search.load_line.limit import Limit

LIMIT = Limit(950_000.0, "stalls", "stalls of the DUT", "Set by stalls of up to 4 ms.")


def test_what_limits_the_load_and_what_causes_it() -> None:
    assert end_notes(LIMIT, 948_000.0, 948_000.0) == (
        "Limited by stalls of the DUT.",
        "Set by stalls of up to 4 ms.",
    )


def test_a_higher_load_that_passed_by_luck_is_named_with_the_one_that_is_reported() -> None:
    first, *rest = end_notes(LIMIT, 948_000.0, 1_000_000.0)
    assert first.startswith("1 Mpps passed its validation as well, by luck")
    assert first.endswith("so 948 kpps is reported.")
    assert rest == ["Limited by stalls of the DUT.", "Set by stalls of up to 4 ms."]


def test_a_load_that_passed_above_the_forecast_contradicts_it() -> None:
    (note,) = end_notes(LIMIT, 1_000_000.0, 1_000_000.0)
    assert "contradicts this forecast: stalls of the DUT" in note


def test_without_a_forecast_there_is_nothing_to_say() -> None:
    assert end_notes(None, 1_000_000.0, 1_000_000.0) == ()
