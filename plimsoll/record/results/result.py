"""The result of a run: result.json, and what `plimsoll run --json` prints.

Its JSON Schema is published as result.schema.json.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from plimsoll.record.calibrations.calibration import TesterCalibration
from plimsoll.record.files.record_model import RecordModel
from plimsoll.record.results.load_line import LoadLine, events_per_hour_below
from plimsoll.record.results.method_result import (
    InvalidReason,
    TrialCounts,
    counts_of,
    invalid_reasons,
)
from plimsoll.record.run.result_file import read_run_result
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.record.trials.stream_record import StreamRecord
from plimsoll.record.trials.trial_record import TrialRecord, Verdict
from plimsoll.search.evidence.trial_evidence import OfferedInterval
from plimsoll.search.strategy.goal_end import GoalEnd, LimitedBy


class TesterCeiling(BaseModel):
    """The most that the tester offered per direction on these ports, before the search."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    trial: int = Field(
        description="The number of the trial that offered the most, in the run's journal."
    )
    intended_pps: float = Field(
        description="The search's maximum per direction, in frames per second."
    )
    offered_pps: float = Field(
        description="The most that was offered per direction, in frames per second."
    )


class TesterDiagnosis(BaseModel):
    """What the invalid trials and the scheduler's figures say, the most important first."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    sentences: tuple[str, ...] = Field(
        description="What hindered the tester, the most important first."
    )
    remedy: str = Field(description="What to do about it.")


class Validation(RecordModel):
    """The trial that proved the load line, or the last validation if no trial proved one."""

    phase: Literal["validation", "search"] = Field(
        default="validation", description="validation; search where no validation was requested."
    )
    verdict: Verdict = Field(
        description="pass; fail: the DUT broke a criterion; invalid: inconclusive because of the "
        "tester; none: not judged."
    )
    trial: int = Field(description="The number of that trial in the run's journal.")
    duration_s: float = Field(description="How long it sent, in s.")
    load_pps: float = Field(
        description="Load per direction of that trial, in frames per second, as it was requested "
        "of the tester."
    )
    offered_pps: float | None = Field(
        default=None,
        description="The load that was offered, in pps per direction; null in results of earlier "
        "versions.",
    )
    least_offered: OfferedInterval | None = Field(
        default=None, description="The interval in which the tester fell shortest of its plan."
    )


class GoalResult(RecordModel):
    """The result of one goal of the search."""

    name: str = Field(description="The goal's name in the experiment.")
    criteria: tuple[dict[str, JsonValue], ...] = Field(
        description="The criteria that were applied, as the experiment has them, with all defaults."
    )
    load_line: LoadLine | None = Field(
        description="The highest load that met the criteria; null if no load did."
    )
    proof: int | None = Field(
        description="The number of the trial that proved the load line; null without a load line."
    )
    limited_by: LimitedBy | None = Field(
        description="What kept the load line from being higher: the DUT, the platform that took "
        "its CPU, the tester, or the maximum that was searched; null without one."
    )
    reason: str | None = Field(
        description="Why there is no load line, in words; null where there is one."
    )
    conditional_pps: float | None = Field(
        description="RFC 9971's conditional throughput per direction, in frames per second; null "
        "for strategies without one."
    )
    irregular: bool = Field(
        description="Whether the result is irregular in the sense of RFC 9971, or a lower load "
        "failed beneath a higher one that passed."
    )
    notes: tuple[str, ...] = Field(description="Remarks on how to read the numbers.")
    loss_events_per_hour_below: float | None = Field(
        description="Bound of the rate of loss events at the load line, per hour, with 95 % "
        "confidence; null where the proof saw some."
    )


class PlatformLimit(RecordModel):
    """What the platform costs: frames were lost while the DUT's CPU was taken away from it."""

    forwarded_pps: float = Field(
        description="The highest rate per direction that came back in any trial, in pps."
    )
    trial: int = Field(description="The trial of the lowest load that failed.")
    platform_share: float = Field(
        description="Of that trial's listed lost frames, those lost for want of the DUT's CPU."
    )
    sentence: str = Field(description="What limits the load line, and the causes.")


class DutAgreement(RecordModel):
    """Whether the DUT's own counters agree with the engine's to the frame, over all trials."""

    trials_compared: int = Field(
        description="Trials in which the DUT's counters could be compared."
    )
    trials_agreeing: int = Field(description="Those in which they agree to the frame.")
    differences: tuple[str, ...] = Field(description="What differs, in words.")


class Result(RecordModel):
    """What a run found; load line, limit, reason and criteria are those of its first goal."""

    method: Literal["load-line"] = Field(
        default="load-line", description="What was run: load-line, which is the command run."
    )
    run_id: str = Field(description="The run directory's name.")
    name: str = Field(description="The experiment's name.")
    load_line: LoadLine | None = Field(
        description="The highest load that met the criteria; null if no load did."
    )
    limited_by: LimitedBy | None = Field(
        description="What kept the load line from being higher: the DUT, the platform that took "
        "its CPU, the tester, or the maximum that was searched; null without one."
    )
    reason: str | None = Field(
        description="Why there is no load line, in words; null where there is one."
    )
    criteria: tuple[dict[str, JsonValue], ...] = Field(
        description="The criteria that were applied, as the experiment has them, with all defaults."
    )
    validation: Validation | None = Field(
        description="The trial that proved the load line, or the last that did not."
    )
    trials: TrialCounts = Field(
        description="How many trials the run had, by how they ended and by phase."
    )
    invalid_reasons: tuple[InvalidReason, ...] = Field(
        description="What made trials invalid, the most frequent first."
    )
    streams: tuple[StreamRecord, ...] = Field(
        description="Totals and latency of each stream in the trial that proved the load line; "
        "empty without one."
    )
    dut_agreement: DutAgreement | None = Field(
        description="Whether the DUT's counters agree with the tester's; null where it has none."
    )
    calibration: TesterCalibration | None = Field(
        description="What the tester adds by itself; null where it was not measured."
    )
    versions: dict[str, str | None] = Field(
        description="Versions by component (plimsoll, engine, DPDK, Python); null of one not used."
    )
    goals: tuple[GoalResult, ...] = Field(
        default=(), description="The result of each goal; the first is the run's."
    )
    ceiling: TesterCeiling | None = Field(
        default=None,
        description="What the tester could offer; null where that is the maximum, or unmeasured.",
    )
    diagnosis: TesterDiagnosis | None = Field(
        default=None, description="Why the tester could not test; null if it could."
    )
    platform: PlatformLimit | None = Field(
        default=None,
        description="What took the DUT's CPU, if that limits the load line; null otherwise.",
    )
    unwatched: tuple[str, ...] = Field(
        default=(),
        description="Where absences of the DUT were not watched, why, and what to do about it, in "
        "sentences.",
    )

    @classmethod
    def from_trials(
        cls,
        trials: Sequence[TrialRecord],
        *,
        run_id: str,
        name: str,
        ends: Sequence[GoalEnd],
        criteria: Mapping[str, Sequence[Mapping[str, JsonValue]]],
        line_rate_bps: float | None = None,
        dut_agreement: DutAgreement | None = None,
        calibration: TesterCalibration | None = None,
        versions: Mapping[str, str | None] | None = None,
        ceiling: TesterCeiling | None = None,
        diagnosis: TesterDiagnosis | None = None,
        platform: PlatformLimit | None = None,
        unwatched: tuple[str, ...] = (),
    ) -> Self:
        """The result of a search, of whose goals `ends` says how each ended, the run's first.

        Raises ValueError when no trial passed at a load line, or the one that did had no
        load stream.
        """
        goals = tuple(_goal_result(trials, end, criteria[end.goal], line_rate_bps) for end in ends)
        if platform is not None and goals[0].limited_by == "dut":
            goals = (goals[0].model_copy(update={"limited_by": "platform"}), *goals[1:])
        first = goals[0]
        proof = _numbered(trials, first.proof)
        return cls(
            run_id=run_id,
            name=name,
            load_line=first.load_line,
            limited_by=first.limited_by,
            reason=first.reason,
            criteria=first.criteria,
            validation=_validation(proof, trials),
            trials=counts_of(trials),
            invalid_reasons=invalid_reasons(trials),
            streams=() if proof is None else proof.streams,
            dut_agreement=dut_agreement,
            calibration=calibration,
            versions=dict(versions or {}),
            goals=goals,
            ceiling=ceiling,
            diagnosis=diagnosis,
            platform=platform,
            unwatched=unwatched,
        )

    @property
    def verdict(self) -> Verdict:
        """Pass with a load line; invalid where the tester is why there is none; else fail."""
        if self.load_line is not None:
            return "pass"
        inconclusive = self.diagnosis is not None or not self.trials.by_verdict.get("fail")
        return "invalid" if inconclusive else "fail"


def read_result(run: RunDirectory) -> Result | None:
    """The run's result; None when it has not come to one. Raises RecordError."""
    return read_run_result(run, Result)


def _goal_result(
    trials: Sequence[TrialRecord],
    end: GoalEnd,
    criteria: Sequence[Mapping[str, JsonValue]],
    line_rate_bps: float | None,
) -> GoalResult:
    proof = _proof(trials, end)
    return GoalResult(
        name=end.goal,
        criteria=tuple(dict(criterion) for criterion in criteria),
        load_line=None if proof is None else LoadLine.of(proof, line_rate_bps),
        proof=None if proof is None else proof.number,
        limited_by=None if proof is None else end.limited_by,
        reason=end.reason if proof is None else None,
        conditional_pps=end.conditional_pps,
        irregular=end.irregular,
        notes=end.notes,
        loss_events_per_hour_below=_events_bound(proof),
    )


def _proof(trials: Sequence[TrialRecord], end: GoalEnd) -> TrialRecord | None:
    """The last trial that proves the goal's load line, None without one."""
    if end.load_line_pps is None:
        return None
    for trial in reversed(trials):
        same_load = (trial.phase, trial.load_pps) == (end.proved_by, end.load_line_pps)
        if same_load and _passed(trial, end.goal):
            return trial
    raise ValueError(
        f"no {end.proved_by} passed at {end.load_line_pps} pps: that is not a load line"
    )


def _passed(trial: TrialRecord, goal: str) -> bool:
    judged = trial.goals.get(goal)
    return trial.verdict == "pass" if judged is None else judged.verdict == "pass"


def _events_bound(proof: TrialRecord | None) -> float | None:
    """Of events that lose frames, an hour; None where the proof saw some, or took no time."""
    if proof is None or proof.sending_s <= 0 or any(stream.lost for stream in proof.streams):
        return None
    return events_per_hour_below(proof.sending_s)


def _numbered(trials: Sequence[TrialRecord], number: int | None) -> TrialRecord | None:
    return next((trial for trial in trials if trial.number == number), None)


def _validation(proof: TrialRecord | None, trials: Sequence[TrialRecord]) -> Validation | None:
    validations = [trial for trial in trials if trial.phase == "validation"]
    trial = proof or (validations[-1] if validations else None)
    if trial is None:
        return None
    return Validation(
        phase="search" if trial.phase == "search" else "validation",
        verdict=trial.verdict,
        trial=trial.number,
        duration_s=trial.sending_s,
        load_pps=trial.load_pps,
        offered_pps=trial.offered_pps,
        least_offered=trial.evidence.least_offered if trial.evidence else None,
    )
