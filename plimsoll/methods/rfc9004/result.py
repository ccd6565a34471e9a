"""The result of an RFC 9004 run: back-to-back bursts and the buffer that they tell of.

Its JSON Schema is published as rfc9004-result.schema.json. Rates and frames are
per direction.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from plimsoll.methods.rfc2544.result import BackToBackRow, MeasuredRow, ThroughputRow
from plimsoll.record.methods.method import Method, RunAnswer, RunOutcome
from plimsoll.record.results.method_result import MethodResult
from plimsoll.record.trials.trial_record import Verdict, whole_verdict
from plimsoll.text.units import format_ns

# The journal's event that a row is known: `row`. A run tells it as it goes on.
ROW = "rfc9004-row"
_NS_PER_S = 1e9


class BufferRow(MeasuredRow):
    """One frame size.

    Bursts near the limit are not valid: the test has to be repeated with longer ones.
    """

    throughput: ThroughputRow = Field(description="The throughput of these frames.")
    bursts: BackToBackRow | None = Field(
        description="Their longest bursts without loss; null where not tested."
    )
    implied_s: float | None = Field(
        description="Average burst ÷ maximum frame rate, in s; null without bursts."
    )
    corrected_s: float | None = Field(
        description="That without what the DUT forwarded in that time, in s."
    )
    valid: bool = Field(description="Whether no burst came near the limit.")
    reason: str | None = Field(
        description="Why these frames were not tested, in words; null where they were."
    )


class Rfc9004Result(MethodResult):
    """Back-to-back bursts, and the buffer that they tell of."""

    method: Literal["rfc9004"] = Field(
        default="rfc9004", description="What was run, by the name of its command."
    )
    traffic: str = Field(description="Protocol and format of the streams, in words.")
    media: str = Field(description="What carries the frames: the kind of lab and its ports.")
    directions: int = Field(description="How many directions carried load.")
    repetitions: int = Field(description="How often each measurement was repeated.")
    rows: tuple[BufferRow, ...] = Field(description="One row for each kind of frames.")

    @property
    def verdict(self) -> Verdict:
        """As of its rows; invalid, too, where no row says anything of the DUT's buffers."""
        verdict = whole_verdict(row.verdict for row in self.rows)
        known = any(row.valid for row in self.rows)
        return verdict if known or verdict != "none" else "invalid"


def _outcome(result: Rfc9004Result) -> RunOutcome:
    valid = [row for row in result.rows if row.valid and row.corrected_s is not None]
    first = next(iter(valid), None)
    if first is None or first.corrected_s is None:
        none = RunAnswer("no valid buffer time", "buffer time", None, "s")
        return RunOutcome(none, result.verdict)
    frames = first.throughput.subject.frames
    text = f"buffer {format_ns(first.corrected_s * _NS_PER_S)}, {frames} B"
    return RunOutcome(RunAnswer(text, "buffer time", first.corrected_s, "s"), result.verdict)


METHOD = Method(
    "rfc9004",
    command="test rfc9004",
    result=Rfc9004Result,
    schema="rfc9004-result",
    outcome=_outcome,
)
