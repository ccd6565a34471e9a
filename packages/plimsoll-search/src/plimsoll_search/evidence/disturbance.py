"""What took a DUT's polling loop away during a trial, by cause: a part of the trial's evidence."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from .evidence_model import EvidenceModel

# Of the absences of one cause, so many of the first are kept: enough for a period to show.
FIRST_KEPT = 32
# And so many of the longest of the rest: as many as a trial's evidence has latency peaks, so
# that none of these is without its cause for want of room.
LONGEST_KEPT = 64


class DutAbsence(EvidenceModel):
    """One time in which a polling loop of the DUT did not have its CPU."""

    at_s: float = Field(description="When the loop lost its CPU, in s since the first frame.")
    length_ns: int = Field(ge=0, description="How long the cause had the CPU, in ns.")
    confidence: Literal["exact", "partial"] = Field(
        description="exact: intervals that the kernel saw cover at least 80 % of what frames "
        "suffered. partial: they cover less, or only the queue that they left explains it."
    )


class Disturbance(EvidenceModel):
    """One cause that took a CPU from a polling loop of the DUT, and when it did so."""

    kind: str = Field(description="As in a trial's causes: task, workqueue, interrupt, ...")
    name: str = Field(
        description="What it was, without the numbers of interchangeable workers: kworker."
    )
    cpu: int | None = Field(description="The CPU that it took.")
    host: str | None = Field(
        default=None, description="The host whose CPU it is; null for the tester's own."
    )
    count: int = Field(ge=1, description="How many absences it caused that frames suffered from.")
    absences: tuple[DutAbsence, ...] = Field(
        description="By time, at most 96 of them: the first 32 and the 64 longest of the rest."
    )

    @property
    def consecutive_s(self) -> tuple[float, ...]:
        """When those absences began between which none is left out, in s."""
        kept_all = len(self.absences) == self.count
        known = self.absences if kept_all else self.absences[:FIRST_KEPT]
        return tuple(absence.at_s for absence in known)
