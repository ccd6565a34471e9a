"""What the result of any standard test begins with, and how it is written."""

from __future__ import annotations

from collections.abc import Sequence

from plimsoll.record.files.record_model import RecordModel
from plimsoll.record.results.result import InvalidReason, TrialCounts

# The journal's event that says where a run falls short of its standard: `shortfalls`.
SHORTFALLS = "shortfalls"


class Shortfall(RecordModel):
    """Where a run falls short of its standard: in what, its value, and the standard's."""

    what: str
    used: str
    standard: str
    section: str


class MethodResult(RecordModel):
    """What a run of `method` found; a subclass adds its own part.

    `quick` says that the quick preset was used, `shortfalls` where the run's durations
    and counts are below the standard's. `notes` are remarks on how to read the numbers.
    """

    method: str
    run_id: str
    name: str
    quick: bool
    shortfalls: tuple[Shortfall, ...]
    notes: tuple[str, ...]
    trials: TrialCounts
    invalid_reasons: tuple[InvalidReason, ...]
    versions: dict[str, str | None]


def shortfall_sentence(shortfalls: Sequence[Shortfall], standard: str) -> str | None:
    """For people: in which points a run falls short of `standard`; None where in none."""
    if not shortfalls:
        return None
    listed = "; ".join(f"{each.what} {each.used} instead of {each.standard}" for each in shortfalls)
    return f"Shorter than {standard} asks for: {listed}."
