"""What `plimsoll osnoise` found: how long CPUs were away from a loop that only looks at the clock.

Its JSON Schema is published as noise-result.schema.json.
"""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import ConfigDict, Field

from plimsoll.record.causes.causes_record import ExplainedIncident, RankedCause
from plimsoll.record.files.record_model import RecordModel
from plimsoll.record.run.environment import BootLine


class _Part(RecordModel):
    # Readers of the document may rely on every field, those with a default too.
    model_config = ConfigDict(json_schema_serialization_defaults_required=True)


class GapQuantile(_Part):
    """A quantile of the gaps between two looks at the clock."""

    quantile: float = Field(gt=0, lt=1, description="Between 0 and 1.")
    ns: int = Field(ge=0, description="So many of the gaps are no longer, to 0.78 %.")


class GapBucket(_Part):
    """How many gaps were of a length."""

    from_ns: int = Field(ge=0, description="The bucket's shortest gap, in ns, to 0.78 %.")
    below_ns: int | None = Field(
        description="The next bucket's shortest gap, in ns; null for the last."
    )
    count: int = Field(ge=0, description="Gaps in it.")


class CpuNoise(_Part):
    """What one CPU's loop saw."""

    cpu: int = Field(ge=0, description="The CPU.")
    measured_ns: int = Field(ge=0, description="How long it looked, in ns.")
    looks: int = Field(ge=0, description="Looks at the clock.")
    min_ns: int | None = Field(
        description="The shortest gap, in ns: what one turn of the loop takes. Null if "
        "there are none."
    )
    max_ns: int | None = Field(description="The longest gap, in ns, exact. Null if there are none.")
    quantiles: tuple[GapQuantile, ...] = Field(description="Of all gaps.")
    buckets: tuple[GapBucket, ...] = Field(
        description="Numbers of all gaps by length, in steps of 1, 2 and 5."
    )
    stalls: int = Field(ge=0, description="Gaps of the threshold and more.")
    stalled_ns: int = Field(ge=0, description="Length of all stalls together, in ns.")
    stalled_share: float = Field(ge=0, le=1, description="Their share of the time measured.")


class NoiseCause(RankedCause):
    """One cause of stalls on one CPU, over those stalls that were looked into."""

    time_share: float | None = Field(
        description="For how much of the time measured it had the CPU, 0 to 1; null where no "
        "length is known."
    )


class NoiseTrace(_Part):
    """What is known of the kernel's events."""

    clock: Literal["x86-tsc", "mono_raw"] | None = Field(
        default=None, description="The trace's clock; null where there was no trace."
    )
    events: int = Field(default=0, ge=0, description="Events that were read.")
    lost_events: int = Field(default=0, ge=0, description="Events for which there was no room.")
    names: tuple[str, ...] = Field(default=(), description="Events that were recorded, by name.")
    incomplete_stretches: int = Field(
        default=0, ge=0, description="Stretches in which events of a measured CPU were lost."
    )
    unavailable: str | None = Field(
        default=None, description="Why there was no trace; null where there was one."
    )


class NoiseResult(_Part):
    """How long CPUs were away from a loop that only looks at the clock, and what had them."""

    format: Literal["plimsoll-noise"] = Field(
        default="plimsoll-noise", description="What this document is."
    )
    version: Literal[1] = Field(default=1, description="The version of its schema.")
    begun_at: datetime = Field(description="When it began.")
    host: str | None = Field(description="The host's name.")
    kernel: str | None = Field(description="Its kernel.")
    cpu_model: str | None = Field(description="Its CPUs.")
    cmdline: BootLine | None = Field(
        description="The kernel's command line, <hidden> for what may be secret."
    )
    versions: dict[str, str | None] = Field(
        description="Versions of Plimsoll and of what it rests on."
    )
    tsc_hz: float = Field(gt=0, description="Ticks of the time stamp counter in a second.")
    duration_s: float = Field(gt=0, description="How long was measured, in s.")
    stretches: int = Field(
        ge=1, description="The number of pieces, between which the kernel's events were read."
    )
    threshold_ns: int = Field(gt=0, description="Gaps of this length and more, in ns, are stalls.")
    max_ns: int | None = Field(
        description="The longest gap that passes, in ns; null where any does."
    )
    passed: bool | None = Field(
        description="Whether no gap was longer than the limit; null if there is no limit."
    )
    cpus: tuple[CpuNoise, ...] = Field(description="The CPUs that were measured.")
    listed_stalls: int = Field(
        ge=0, description="Stalls that were looked into: the longest 64 of each interval and CPU."
    )
    listed_ns: int = Field(ge=0, description="Their length together, in ns.")
    causes: tuple[NoiseCause, ...] = Field(
        description="What had the CPUs during these, that which had them longest first."
    )
    worst: tuple[ExplainedIncident, ...] = Field(description="The longest stalls, longest first.")
    trace: NoiseTrace = Field(description="What the kernel's trace of that time has.")
    own_share: float | None = Field(
        description="Share of the CPUs' time that Plimsoll's other processes took, as far as "
        "they may run there; null if unknown."
    )
