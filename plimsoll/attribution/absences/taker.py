"""What had a polling loop's CPU."""

from __future__ import annotations

from dataclasses import dataclass

from plimsoll.attribution.incidents.cause import CauseKind


@dataclass(frozen=True, slots=True)
class Taker:
    """What had the CPU. Two that are equal are the same thing at different times."""

    kind: CauseKind
    name: str
    pid: int | None = None
