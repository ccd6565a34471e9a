"""What the result of any standard test begins with, and how it is written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from pydantic import Field

from plimsoll.record.files.record_model import RecordModel
from plimsoll.record.trials.trial_record import TrialRecord


# How many of a run's trials ended how, and what spoiled those that are invalid.
class TrialCounts(RecordModel):
    """Number of trials by verdict and by phase, including calibration and warm-up."""

    total: int = Field(description="All trials, calibration and warm-up included.")
    by_verdict: dict[str, int] = Field(
        description="Number of trials that passed, failed and were invalid."
    )
    by_phase: dict[str, int] = Field(description="Number of trials of each phase.")


class InvalidReason(RecordModel):
    """One way in which the tester spoiled trials, and how many trials it spoiled."""

    rule: str = Field(description="The tester's rule.")
    trials: int = Field(description="Number of trials that it made invalid.")
    example: str = Field(description="Its text for one of these trials.")


def counts_of(trials: Sequence[TrialRecord]) -> TrialCounts:
    """How they ended, and in which phase."""
    verdicts = Counter({"pass": 0, "fail": 0, "invalid": 0})
    verdicts.update(trial.verdict for trial in trials if trial.verdict != "none")
    return TrialCounts(
        total=len(trials),
        by_verdict=dict(verdicts),
        by_phase=dict(Counter(trial.phase for trial in trials)),
    )


def invalid_reasons(trials: Sequence[TrialRecord]) -> tuple[InvalidReason, ...]:
    """Why trials were invalid, the most frequent rule first; a trial may count under several."""
    examples: dict[str, str] = {}
    spoiled: Counter[str] = Counter()
    for trial in (trial for trial in trials if trial.verdict == "invalid"):
        for finding in trial.reasons:
            examples.setdefault(finding.rule, finding.text)
        spoiled.update({finding.rule for finding in trial.reasons})
    return tuple(
        InvalidReason(rule=rule, trials=count, example=examples[rule])
        for rule, count in spoiled.most_common()
    )


# The journal's event that says where a run falls short of its standard: `shortfalls`.
SHORTFALLS = "shortfalls"


class Shortfall(RecordModel):
    """Where a run falls short of its standard: in what, its value, and the standard's."""

    what: str = Field(description="Which duration or count.")
    used: str = Field(description="What the run used, with its unit.")
    standard: str = Field(description="What the standard requires, with its unit.")
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
