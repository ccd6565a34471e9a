"""What the result of any standard test begins with, and how it is written."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import Field

from plimsoll.record.files.record_model import RecordModel
from plimsoll.record.results.trial_counts import InvalidReason, TrialCounts

# The journal's event that says where a run falls short of its standard: `shortfalls`.
SHORTFALLS = "shortfalls"


class Shortfall(RecordModel):
    """Where a run falls short of its standard: in what, its value, and the standard's."""

    what: str = Field(description="Which duration or count.")
    used: str = Field(description="What the run used, with its unit.")
    standard: str = Field(description="What the standard wants, with its unit.")
    section: str = Field(description="The standard's section.")


class MethodResult(RecordModel):
    """What a run of a method found; a subclass adds its own part."""

    method: str
    run_id: str = Field(description="The run directory's name.")
    name: str = Field(description="The experiment's name.")
    quick: bool = Field(description="Whether the shortened preset (--quick) was used.")
    shortfalls: tuple[Shortfall, ...] = Field(
        description="Where durations and counts are below those of the standard."
    )
    notes: tuple[str, ...] = Field(description="Remarks on how to read the numbers.")
    trials: TrialCounts = Field(
        description="How many trials the run had, by how they ended and by phase."
    )
    invalid_reasons: tuple[InvalidReason, ...] = Field(
        description="What made trials invalid, the most frequent first."
    )
    versions: dict[str, str | None] = Field(
        description="Versions by component (plimsoll, engine, DPDK, Python); null of one not used."
    )


def shortfall_sentence(shortfalls: Sequence[Shortfall], standard: str) -> str | None:
    """For people: in which points a run falls short of `standard`; None where in none."""
    if not shortfalls:
        return None
    listed = "; ".join(f"{each.what} {each.used} instead of {each.standard}" for each in shortfalls)
    return f"Shorter than {standard} asks for: {listed}."
