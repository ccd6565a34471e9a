"""What a DUT has to say of one trial: how many frames passed each hop, and what it remarks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable


@dataclass(frozen=True, slots=True)
class Hop:
    """A point that frames of one direction pass, and how many did in a trial.

    `direction` is the index of the path; the hops of a direction are in the order in which
    frames pass them. `place` is for people: "port0 of the switch, in".
    """

    direction: int
    place: str
    frames: int


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
class DutSight:
    """Both, over one trial alone."""

    hops: tuple[Hop, ...] = ()
    remarks: tuple[Remark, ...] = ()


NOTHING_SEEN = DutSight()
# Ends the sight that was begun: what was seen since. Raises LabDied and MachineError.
SightEnd = Callable[[], DutSight]


@runtime_checkable
class SeesTrials(Protocol):
    """A lab whose DUT counts more than what its ports do. It is read before and after a trial."""

    def begin_sight(self) -> SightEnd:
        """Begin to count, while nothing is sent. Raises LabDied and MachineError."""


def begin_sight(lab: object) -> SightEnd:
    """Of a lab that sees trials; else nothing is seen."""
    return lab.begin_sight() if isinstance(lab, SeesTrials) else lambda: NOTHING_SEEN


def grown(before: tuple[Hop, ...], after: tuple[Hop, ...]) -> tuple[Hop, ...]:
    """The hops' frames of the time between two readings of the same counters."""
    return tuple(
        Hop(new.direction, new.place, new.frames - old.frames)
        for old, new in zip(before, after, strict=True)
    )
