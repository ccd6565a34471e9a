"""A trial that was run: what was asked, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from ..evidence.trial_evidence import TrialEvidence
from ..strategy.ask import Ask, Told
from .stalls.cause import StallCause, cause_of_peak

_NS_PER_S = 1e9


@dataclass(frozen=True)
class Tried:
    """One trial; loads are in pps per direction."""

    asked: Ask
    told: Told

    @property
    def load_pps(self) -> float:
        """What each direction was offered."""
        return self.asked.load_pps

    @property
    def evidence(self) -> TrialEvidence:
        """What it showed beside its verdicts."""
        return self.told.evidence

    def passed(self, goal: str) -> bool:
        """Whether it met a goal's criteria."""
        return self.told.verdicts.get(goal) == "pass"

    def failed(self, goal: str) -> bool:
        """Whether the DUT broke a goal's criteria."""
        return self.told.verdicts.get(goal) == "fail"

    @property
    def worst_direction_share(self) -> float:
        """The share of all lost frames that the worst direction lost; 1 where none was lost."""
        evidence = self.evidence
        offered_there = self.load_pps * evidence.sending_s
        if not evidence.lost:
            return 1.0
        return min(1.0, evidence.loss_ratio * offered_there / evidence.lost)

    @property
    def interval_s(self) -> float:
        """How long an interval of its series is."""
        evidence = self.evidence
        return evidence.sending_s / evidence.intervals if evidence.intervals else 0.0

    @cached_property
    def peak_causes(self) -> tuple[StallCause | None, ...]:
        """What took the DUT's CPU at each of the evidence's peaks, None where not known."""
        evidence = self.evidence
        return tuple(
            cause_of_peak(evidence, peak.at_s, self.interval_s, self.above_least_s(peak.max_ns))
            for peak in evidence.peaks
        )

    def above_least_s(self, latency_ns: float) -> float:
        """By how much a latency is longer than the shortest one of the trial."""
        return max(0.0, latency_ns - (self.evidence.min_ns or 0)) / _NS_PER_S
