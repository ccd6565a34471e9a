"""How the observer of one host fared in a trial: what it read, what it cost, where it ended."""

from __future__ import annotations

from pydantic import Field

from plimsoll.record.files.record_model import RecordModel


class ObserverEnd(RecordModel):
    """An observer was lost: in which period (null: before the first), and why."""

    period: str | None = Field(
        description="The period in which it was lost; null before the first."
    )
    why: str = Field(description="Why, in words.")


class HostReadings(RecordModel):
    """How one host was observed in one trial.

    Where the observing process was lost, in this trial or before it, all figures of the host
    end there, and what it can no longer tell is null.
    """

    hostname: str = Field(description="The host, as environment.json and its metrics call it.")
    readings: int | None = Field(ge=0, description="How often it was read in the trial.")
    skipped: int | None = Field(
        ge=0, description="Readings left out because the observer did not get its CPU in time."
    )
    cpu_s: float | None = Field(
        ge=0, description="CPU time that observing took on that host, in s."
    )
    lost: dict[str, str] = Field(
        default_factory=dict, description="By observer that stopped during the trial: the reason."
    )
    ended: ObserverEnd | None = Field(
        default=None,
        description="Where the observing process was lost: when and why; null otherwise.",
    )
