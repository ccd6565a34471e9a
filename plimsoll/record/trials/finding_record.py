"""What one rule found in a trial."""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal

from pydantic import Field

from plimsoll.record.files.record_model import RecordModel

FindingOutcome = Literal["ok", "fail", "invalid"]


# Beside Finding, which may also spoil its trial: the record's is invalid by then.
class FindingRecord(RecordModel):
    """One rule applied to one subject: measured value, limit, and a sentence that says it."""

    rule: str = Field(description="The criterion or the tester's own rule.")
    subject: str = Field(description="What it was applied to: a stream, a port, a CPU, the trial.")
    value: float | None = Field(
        description="What was measured, in `unit`; null where it could not be."
    )
    limit: float | None = Field(description="The bound, in `unit`; null where the rule has none.")
    unit: str = Field(description="The unit of value and limit; a ratio is a share (1 is all).")
    outcome: FindingOutcome = Field(
        description="ok, fail, or invalid (inconclusive because of the tester)."
    )
    text: str = Field(description="The same as a sentence.")
    undecided: bool = Field(
        default=False,
        description="Whether it is invalid because stalls of the tester leave open by how much the "
        "DUT alone kept or broke the limit.",
    )

    def is_of(self, kinds: Collection[str]) -> bool:
        """Whether it judges by a criterion of one of these kinds.

        A criterion's rule is its kind, or its kind and what it is about: latency-p99.
        """
        return any(f"{self.rule}-".startswith(f"{kind}-") for kind in kinds)
