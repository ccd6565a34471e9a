"""The result of `plimsoll cross-check`: one profile, sent by several generators in turn.

Its JSON Schema is published as cross-check-result.schema.json.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from plimsoll.record.files.record_model import RecordModel
from plimsoll.record.methods.method import Method, RunAnswer, RunOutcome
from plimsoll.record.results.method_result import MethodResult
from plimsoll.record.trials.trial_record import Verdict

# At a load that is kept to, or as fast as each generator goes.
CheckStage = Literal["paced", "unpaced"]
# The journal's event that a trial of a generator is known: `trial`.
CROSS_CHECK_TRIAL = "cross-check-trial"


class GeneratorTrial(RecordModel):
    """One trial of one generator: its own counts, and the DUT's of the same frames."""

    generator: str = Field(description="Its name in the run.")
    stage: CheckStage = Field(description="At a load that is kept to, or as fast as it goes.")
    turn: int = Field(description="Which of the rounds, from 1.")
    trial: int = Field(description="The number of the trial in the run.")
    verdict: Verdict = Field(description="Invalid if the tester's own limits were broken.")
    reason: str | None = Field(description="Why it is invalid.")
    sending_s: float = Field(description="How long it sent, in s, as the generator reports it.")
    due: float | None = Field(description="Frames due in that time; null where it is unpaced.")
    sent: int = Field(description="Sent frames as the generator counted them, in all directions.")
    received: int = Field(
        description="Received frames as the generator counted them, each frame once."
    )
    dut_received: int | None = Field(
        description="Received frames as the DUT counted them; null if it has no count."
    )
    dut_sent: int | None = Field(description="By the DUT's count.")
    probes: int = Field(description="Latency samples.")
    min_ns: int | None = Field(description="The lowest latency of the probes, in ns.")
    p50_ns: int | None = Field(description="The median in ns, of the slowest direction.")
    p99_ns: int | None = Field(description="The 99th percentile in ns, of the slowest direction.")


class CheckedValue(RecordModel):
    """One figure of one generator over its valid trials."""

    median: float = Field(description="The middle one of its trials.")
    lowest: float = Field(description="The least of its trials.")
    highest: float = Field(description="The most of its trials.")
    trials: int = Field(description="How many trials were valid.")


class CheckedFigure(RecordModel):
    """One figure for every generator, whether they differ, and what says which one is wrong.

    They differ where the range of a generator's trials overlaps no part of another's.
    """

    stage: CheckStage = Field(description="The stage whose trials it is from.")
    name: str = Field(description="The figure's name: sent, loss, p99 latency and so on.")
    unit: str = Field(description="The unit of its values.")
    values: dict[str, CheckedValue] = Field(description="The values, by generator.")
    differs: bool = Field(description="Whether ranges do not overlap.")
    evidence: tuple[str, ...] = Field(description="What the evidence says, in sentences.")


class CrossCheckResult(MethodResult):
    """What several generators made of one profile."""

    method: Literal["cross-check"] = Field(
        default="cross-check", description="What was run, by the name of its command."
    )
    media: str = Field(description="What carries the frames: the kind of lab and its ports.")
    load_pps: float | None = Field(
        description="Load of the paced trials, in frames per second per direction; null "
        "if no trial was paced."
    )
    rounds: int = Field(
        description="Number of rounds, in each of which every generator has its turn."
    )
    generators: tuple[str, ...] = Field(description="Their names, in the order given.")
    turns: tuple[GeneratorTrial, ...] = Field(description="Every trial, in the order of running.")
    figures: tuple[CheckedFigure, ...] = Field(description="Every figure that was compared.")

    @property
    def verdict(self) -> Verdict:
        """Invalid where a generator has no valid trial in a stage that it took part in."""
        sent = {(each.generator, each.stage) for each in self.turns}
        valid = {(each.generator, each.stage) for each in self.turns if each.verdict == "pass"}
        return "pass" if sent and sent == valid else "invalid"


def _outcome(result: CrossCheckResult) -> RunOutcome:
    differing = [each for each in result.figures if each.differs]
    text = ", ".join(f"{each.name} ({each.stage})" for each in differing)
    # That ranges overlap is no proof that generators do not differ.
    none = "the ranges of all figures overlap" if result.figures else "no figure was compared"
    said = f"{' and '.join(result.generators)} differ in {text}" if text else none
    answer = RunAnswer(said, "figures that differ", float(len(differing)), "")
    return RunOutcome(answer, result.verdict)


METHOD = Method(
    "cross-check",
    command="cross-check",
    result=CrossCheckResult,
    schema="cross-check-result",
    outcome=_outcome,
)
