"""The result of quiet and noisy runs by turns: both sides, and by how much they differ."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from plimsoll.methods.matrix.result import IterationResult, SampleResult
from plimsoll.record.files.record_model import RecordModel
from plimsoll.record.methods.method import PER_DIRECTION, Method, RunAnswer, RunOutcome
from plimsoll.record.results.conclusion import Conclusion, FigureJudgement
from plimsoll.record.trials.trial_record import Verdict, whole_verdict
from plimsoll.text.units import format_number, format_ratio


class NoiseDifference(RecordModel):
    """One figure of both sides, a value of each run, and what noise does to it."""

    figure: str = Field(
        description="What is compared: load line, p99 or p99.9 of a probe, by its name."
    )
    unit: str = Field(description="Of all values of the row: pps or ns.")
    better: Literal["higher", "lower"] = Field(
        description="Whether higher or lower values are the better ones."
    )
    quiet: tuple[float, ...] = Field(
        description="The figure of each run without the noise, in `unit`."
    )
    noisy: tuple[float, ...] = Field(
        description="The figure of each run with the noise, in `unit`."
    )
    estimate: float | None = Field(
        description="By how much the noisy side is higher (Hodges and Lehmann), in `unit`; null "
        "without runs on both sides."
    )
    least: float | None = Field(
        description="Lower end of the estimate's exact 95 % interval, in `unit`; null with too few "
        "runs."
    )
    most: float | None = Field(
        description="Upper end of the estimate's exact 95 % interval, in `unit`; null with too few "
        "runs."
    )
    relative: float | None = Field(
        description="The estimate as a share of the quiet side's median; null without either."
    )
    judgement: FigureJudgement = Field(
        description="What the interval says: better, worse, no difference seen, or cannot tell."
    )
    conclusion: Conclusion | None = Field(
        default=None,
        description="Better, worse, the same, or cannot tell, which headlines go by; null in "
        "records of older versions.",
    )


class NoisyResult(RecordModel):
    """Two iterations, the first without the experiment's noise; each sample is a run of its own."""

    method: Literal["noisy"] = Field(
        default="noisy", description="What was run, by the name of its command."
    )
    run_id: str = Field(description="The run directory's name.")
    name: str = Field(description="The name in the file that was run.")
    iterations: tuple[IterationResult, ...] = Field(
        description="The quiet side, then the noisy one."
    )
    differences: tuple[NoiseDifference, ...] = Field(
        description="Load line first; empty where a side has no run that came to its end."
    )
    causes: dict[str, str] = Field(
        description="By side (quiet, noisy) what had the polled CPUs, by the kernel's events."
    )
    unknown: str | None = Field(description="Why there are no differences; null where there are.")
    versions: dict[str, str | None] = Field(
        description="Versions by component (plimsoll, engine, DPDK, Python); null of one not used."
    )

    @property
    def samples(self) -> tuple[SampleResult, ...]:
        """Those of both sides."""
        return tuple(each for iteration in self.iterations for each in iteration.samples)

    @property
    def verdict(self) -> Verdict:
        """Pass where every run found a load line, else as the weightiest of those that did not."""
        if all(each.load_line_pps is not None for each in self.samples):
            return "pass"
        verdict = whole_verdict(each.verdict for each in self.samples)
        return "fail" if verdict == "fail" else "invalid"

    @property
    def error_code(self) -> int | None:
        """That of the first run that ended with an error; None without one."""
        return next((s.error_code for s in self.samples if s.error_code is not None), None)


def _said(of: NoiseDifference) -> str:
    """What is concluded, with its size; in older records, whether anything was seen."""
    found = of.conclusion
    if found is None:
        known = of.judgement if of.judgement in ("better", "worse") else "cannot tell"
        return (
            known if of.relative is None else f"{known} ({format_number(of.relative * 100, 3)} %)"
        )
    text = f"same within {format_ratio(found.within)}" if found.kind == "same" else found.kind
    return text if found.share is None else f"{text} ({format_number(found.share * 100, 3)} %)"


def _outcome(result: NoisyResult) -> RunOutcome:
    first = next(iter(result.differences), None)
    if first is None:
        none = RunAnswer("no comparison", "noise", None, PER_DIRECTION)
        return RunOutcome(none, result.verdict)
    text = f"{first.figure} next to noise: {_said(first)}"
    return RunOutcome(RunAnswer(text, "noise", None, PER_DIRECTION), result.verdict)


METHOD = Method(
    "noisy",
    command="noisy",
    result=NoisyResult,
    schema="noisy-result",
    outcome=_outcome,
    by_criteria=True,
    of_many_runs=True,
)
