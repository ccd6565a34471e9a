"""Which cause a stall had: the absence of the DUT's loop that frames saw as that stall."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ...evidence.trial_evidence import Disturbance, DutAbsence, HostCpu, TrialEvidence, of_host

_NS_PER_S = 1e9
# The first frame of a stall waits for as long as the loop is away, and then for what was in the
# queue before: neither is more than twice the other.
_ALIKE = 2.0
# Intervals end when the engine gets to it, a little later than asked; as a share of theirs.
_LATE = 0.05


@dataclass(frozen=True, slots=True)
class StallCause:
    """What took the DUT's CPU, as attribution names it; equal ones are the same cause."""

    kind: str
    name: str
    cpu: int | None
    host: str | None = None

    @classmethod
    def of(cls, disturbance: Disturbance) -> StallCause:
        """The cause of these absences."""
        return cls(disturbance.kind, disturbance.name, disturbance.cpu, disturbance.host)

    @property
    def text(self) -> str:
        """For people."""
        if self.cpu is None:
            return f"{self.name}{of_host(self.host)}"
        return f"{self.name} on {HostCpu(self.host, self.cpu)}"

    @property
    def key(self) -> tuple[str, str, str, int]:
        """Orders causes, the same way every time."""
        return (self.kind, self.name, self.host or "", -1 if self.cpu is None else self.cpu)


def cause_of_peak(
    evidence: TrialEvidence, at_s: float, interval_s: float, length_s: float
) -> StallCause | None:
    """Of the absences that end about then and last about as long, the cause of the likest.

    The peak of `length_s` is that of the interval from `at_s` on. None where there is none.
    """
    if length_s <= 0.0:
        return None
    likely = [
        (abs(absence.length_ns / _NS_PER_S - length_s), StallCause.of(disturbance))
        for disturbance in evidence.disturbances
        for absence in _about(disturbance, at_s, interval_s, length_s)
    ]
    return min(likely, key=lambda each: (each[0], each[1].key))[1] if likely else None


def _about(
    disturbance: Disturbance, at_s: float, interval_s: float, length_s: float
) -> Iterator[DutAbsence]:
    for absence in disturbance.absences:
        away_s = absence.length_ns / _NS_PER_S
        # A frame is counted when it comes back, up to its latency after the absence.
        begun = absence.at_s < at_s + interval_s * (1.0 + _LATE)
        in_time = begun and absence.at_s + away_s > at_s - length_s
        if in_time and length_s / _ALIKE <= away_s <= length_s * _ALIKE:
            yield absence
