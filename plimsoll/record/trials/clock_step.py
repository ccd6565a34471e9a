"""A wall clock that was set while a trial was going on."""

from __future__ import annotations

from pydantic import Field

from plimsoll.record.files.record_model import RecordModel


class ClockStep(RecordModel):
    """One step of the wall clock during a trial, which the trial's times do not follow."""

    at_s: float = Field(
        description="By when the clock had been set, in s since the trial's first frame."
    )
    by_s: float = Field(
        description="By how much the clock was set, in s: negative where it was set back."
    )

    @property
    def sentence(self) -> str:
        """It in words."""
        way = "set back" if self.by_s < 0 else "set forward"
        return f"the wall clock was {way} by {abs(self.by_s):.3f} s at {self.at_s:.1f} s"
