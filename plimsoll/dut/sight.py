"""What a DUT has to say of one trial: how many frames passed each hop, and what it remarks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Protocol, runtime_checkable

from pydantic import Field

from plimsoll.dut.lab import DutPortCounters
from plimsoll.host.dpdk_telemetry import counter
from plimsoll.search.evidence.trial_evidence import recorded


@recorded
@dataclass(frozen=True, slots=True)
class Hop:
    """A point that frames pass inside the DUT, and how many did in this trial, by its counters."""

    direction: Annotated[int, Field(ge=0, description="Index of the path that the frames take.")]
    place: Annotated[
        str,
        Field(description="Which point, in words; in the order in which frames pass it."),
    ]
    frames: Annotated[int, Field(description="Frames that passed it in this trial.")]


# Beside a finding, which is also an outcome: a DUT judges nothing.
@dataclass(frozen=True, slots=True)
class Remark:
    """Something about the DUT that a reader of the trial should know; `value` is in `unit`."""

    rule: str
    subject: str
    value: float
    limit: float | None
    unit: str
    text: str


@dataclass(frozen=True, slots=True)
class DutObservation:
    """Both, over one trial alone."""

    hops: tuple[Hop, ...] = ()
    remarks: tuple[Remark, ...] = ()


NOTHING_SEEN = DutObservation()
# Ends the sight that was begun: what was seen since. Raises LabDied and MachineError.
SightEnd = Callable[[], DutObservation]


@runtime_checkable
class ObservesTrials(Protocol):
    """A lab whose DUT counts more than what its ports do. It is read before and after a trial."""

    def start_observation(self) -> SightEnd:
        """Begin to count, while nothing is sent. Raises LabDied and MachineError."""


def start_observation(lab: object) -> SightEnd:
    """Of a lab that sees trials; else nothing is seen."""
    return lab.start_observation() if isinstance(lab, ObservesTrials) else lambda: NOTHING_SEEN


def grown(before: tuple[Hop, ...], after: tuple[Hop, ...]) -> tuple[Hop, ...]:
    """The hops' frames of the time between two readings of the same counters."""
    return tuple(
        Hop(new.direction, new.place, new.frames - old.frames)
        for old, new in zip(before, after, strict=True)
    )


def ethdev_counters(port: int, stats: Mapping[str, object]) -> DutPortCounters:
    """Of one port since it was started. Raises TelemetryError where one is no count."""
    return DutPortCounters(
        port=port,
        rx_frames=counter(stats, "ipackets"),
        tx_frames=counter(stats, "opackets"),
        rx_missed=counter(stats, "imissed"),
        rx_errors=counter(stats, "ierrors"),
        tx_errors=counter(stats, "oerrors"),
        rx_no_mbuf=counter(stats, "rx_nombuf"),
    )
