"""How the observer of one host fared in a trial: what it read, what it cost, where it ended."""

from __future__ import annotations

from pydantic import Field

from plimsoll.record.files.record_model import RecordModel


class ObserverEnd(RecordModel):
    """An observer was lost: in which period (null: before the first), and why."""

    period: str | None
    why: str


class HostReadings(RecordModel):
    """One host in one trial; `hostname` is that of environment.json.

    It was read `readings` times, the last as the trial ended. `skipped` readings fell out
    because the observer was kept from its CPU when they were due. `cpu_s` is the CPU time that
    all of it took, in s. `lost` says of each observer that read at first and no more when the
    trial ended why: its series end in between.

    With `ended` the observing process itself was lost, in this trial or before it. All figures
    of the host end there, and what it can no longer tell is null.
    """

    hostname: str
    readings: int | None = Field(ge=0)
    skipped: int | None = Field(ge=0)
    cpu_s: float | None = Field(ge=0)
    lost: dict[str, str] = Field(default_factory=dict)
    ended: ObserverEnd | None = None
