"""Whose the lost frames of a trial are, as its record keeps it."""

from __future__ import annotations

from pydantic import Field

from plimsoll.record.files.record_model import RecordModel


class LossBlameRecord(RecordModel):
    """Frames of the trial's largest loss events by cause; causes/<trial>.json has each event."""

    tester: float = Field(
        ge=0,
        description="Frames lost while a loop of the tester was seen to be away, or a process of "
        "Plimsoll's own had the DUT's CPU.",
    )
    platform: float = Field(
        ge=0, description="Frames lost while the DUT's CPU was seen to be taken by anything else."
    )
    unseen: float = Field(
        ge=0,
        description="Frames lost while no loop was seen to be away: beyond what the DUT forwards, "
        "or of a cause that left no trace.",
    )
    sentence: str = Field(description="The causes of the losses in one sentence.")
