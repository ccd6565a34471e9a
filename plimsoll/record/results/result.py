"""The result of a run: result.json, and what `plimsoll run --json` prints.

Its JSON Schema is published as docs/schemas/result.schema.json.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from plimsoll.record.calibrations.calibration import TesterCalibration
from plimsoll.record.results.goal_end import GoalEnd, LimitedBy
from plimsoll.record.results.tester_diagnosis import TesterCeiling, TesterDiagnosis
from plimsoll.record.run.result_file import read_run_result
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.record.trials.stream_record import StreamRecord
from plimsoll.record.trials.trial_evidence import OfferedInterval
from plimsoll.record.trials.trial_record import TrialRecord, Verdict
from plimsoll.text.wire import l1_bits, l2_bits

# Zero events in T: their rate lies below 3/T with 95 % confidence.
_ZERO_EVENTS_BOUND = 3.0


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class LoadLine(_Part):
    """The highest load that passed a search trial and the validation.

    `pps_per_direction` is the load that its proof *offered* (RFC 2285), which the heaviest
    direction carries: the intended load times the part of what was due that the load stream
    which fell shortest was offered. All other rates are sums of what was offered of that load:
    of the load streams, and of probes that are taken from one. Directions may differ, and
    probes sent in addition to the load are not counted. `total_pps` is over all directions. The bit
    rates are those of the direction that has most, `l1` with preamble and gap, `l2` without FCS.
    `percent_of_line_rate` is that of `l1`; null where the lab has no line rate.
    """

    pps_per_direction: float
    intended_pps_per_direction: float | None = Field(
        default=None,
        description="The load that the search requested (RFC 2285's intended load), in pps per "
        "direction. Null in results of earlier versions, whose pps_per_direction this is.",
    )
    total_pps: float
    directions: int
    frame_sizes: tuple[int, ...]
    l1_bps_per_direction: float
    l2_bps_per_direction: float
    percent_of_line_rate: float | None

    @classmethod
    def of(cls, trial: TrialRecord, line_rate_bps: float | None) -> Self:
        """The load line that this validation trial proved.

        Raises ValueError when the trial has no load stream with a rate.
        """
        load = [s for s in trial.streams if s.role == "load" and s.planned_pps is not None]
        if not load:
            raise ValueError("a load line needs load streams")
        names = {stream.name for stream in load}
        carried = [*load, *(s for s in trial.streams if s.taken_from in names)]
        l1_bps = max(_per_path(trial, carried, l1_bits))
        offered_pps = trial.offered_pps
        return cls(
            pps_per_direction=trial.load_pps if offered_pps is None else offered_pps,
            intended_pps_per_direction=trial.load_pps,
            total_pps=math.fsum(_offered_pps(trial, stream) for stream in carried),
            directions=len({stream.path for stream in load}),
            frame_sizes=tuple(sorted({each.size for s in load for each in s.frame_sizes})),
            l1_bps_per_direction=l1_bps,
            l2_bps_per_direction=max(_per_path(trial, carried, l2_bits)),
            percent_of_line_rate=100 * l1_bps / line_rate_bps if line_rate_bps else None,
        )

    @property
    def intended_pps(self) -> float:
        """The intended load per direction, which is what trials are known by."""
        intended_pps = self.intended_pps_per_direction
        return self.pps_per_direction if intended_pps is None else intended_pps


class Validation(_Part):
    """The trial that proved the load line, or the last validation where none did.

    `phase` is "search" where no validation was requested. `duration_s` is how long it
    sent, `load_pps` per direction the intended load.
    """

    phase: Literal["validation", "search"] = "validation"
    verdict: Verdict
    trial: int
    duration_s: float
    load_pps: float
    offered_pps: float | None = Field(
        default=None,
        description="The load that was offered, in pps per direction; null in results of earlier "
        "versions.",
    )
    least_offered: OfferedInterval | None = Field(
        default=None, description="The interval in which the tester fell shortest of its plan."
    )


class GoalResult(_Part):
    """What was found for one goal of the search.

    `load_line` is null where no load met it, and `reason` then says why; `proof` is the
    number of the trial that proved it. `limited_by` says what kept it from being higher:
    the DUT failed above it, the platform took its CPU away, the tester could not test above
    it, or it is the maximum that was searched. `conditional_pps` is RFC 9971's conditional
    throughput per direction, null for strategies without one; `irregular` tells of what the
    RFC calls an irregular result, or of a lower load that failed beneath a higher one that
    passed. `notes` say what limits the load and how that is known.
    `loss_events_per_hour_below` bounds, with 95 % confidence, the rate of events that
    lose frames at the load line: three in the time of a proof that saw none (null where
    it saw some).
    """

    name: str
    criteria: tuple[dict[str, JsonValue], ...]
    load_line: LoadLine | None
    proof: int | None
    limited_by: LimitedBy | None
    reason: str | None
    conditional_pps: float | None
    irregular: bool
    notes: tuple[str, ...]
    loss_events_per_hour_below: float | None


class PlatformLimit(_Part):
    """What the platform costs: frames were lost while the DUT's CPU was taken away from it."""

    forwarded_pps: float = Field(
        description="The highest rate per direction that came back in any trial, in pps."
    )
    trial: int = Field(description="The trial of the lowest load that failed.")
    platform_share: float = Field(
        description="Of that trial's listed lost frames, those lost for want of the DUT's CPU."
    )
    sentence: str = Field(description="What limits the load line and by which causes.")


class TrialCounts(_Part):
    """How many trials ended how, and in which phase; calibration and warm-up included."""

    total: int
    by_verdict: dict[str, int]
    by_phase: dict[str, int]


class InvalidReason(_Part):
    """One way in which the tester spoiled trials, and how many trials it spoiled."""

    rule: str
    trials: int
    example: str


class DutAgreement(_Part):
    """Whether the DUT's own counters agree with the engine's to the frame, over all trials."""

    trials_compared: int
    trials_agreeing: int
    differences: tuple[str, ...]


class Result(_Part):
    """What a run found. `reason` says why there is no load line; it is null when there is one.

    `goals` has what was found for each goal of the search. The first is the run's:
    `load_line`, `limited_by`, `reason` and `criteria` are its own. `streams` are the
    totals and latency quantiles of the trial that proved the load line; empty without one.
    `ceiling` is what the tester could offer, null where that was the search's maximum or was
    not measured. `diagnosis` says why the tester could not test; null where it could.
    `platform` says what took the DUT's CPU where that is what limits the load line, `unwatched`
    in sentences where its absences were not watched, so that they may be why.
    """

    method: Literal["load-line"] = "load-line"
    run_id: str
    name: str
    load_line: LoadLine | None
    limited_by: LimitedBy | None
    reason: str | None
    criteria: tuple[dict[str, JsonValue], ...]
    validation: Validation | None
    trials: TrialCounts
    invalid_reasons: tuple[InvalidReason, ...]
    streams: tuple[StreamRecord, ...]
    dut_agreement: DutAgreement | None
    calibration: TesterCalibration | None
    versions: dict[str, str | None]
    goals: tuple[GoalResult, ...] = ()
    ceiling: TesterCeiling | None = None
    diagnosis: TesterDiagnosis | None = None
    platform: PlatformLimit | None = None
    unwatched: tuple[str, ...] = ()

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
    """No event in T: with 95 % confidence fewer than 3/T (Poisson, -ln 0.05 = 3.0)."""
    if proof is None or proof.sending_s <= 0 or any(stream.lost for stream in proof.streams):
        return None
    return _ZERO_EVENTS_BOUND / (proof.sending_s / 3600)


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


def _offered_pps(trial: TrialRecord, stream: StreamRecord) -> float:
    return stream.offered / trial.sending_s if trial.sending_s > 0 else 0.0


def _per_path(
    trial: TrialRecord, streams: Sequence[StreamRecord], bits: Callable[[float], float]
) -> list[float]:
    """Bits per second that these streams were offered in each direction."""
    rates: dict[tuple[int, int], list[float]] = {}
    for stream in streams:
        bps = _offered_pps(trial, stream) * bits(stream.mean_frame_size)
        rates.setdefault(stream.path, []).append(bps)
    return [math.fsum(path) for path in rates.values()]
