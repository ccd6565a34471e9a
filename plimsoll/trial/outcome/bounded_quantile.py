"""A quantile of a stream's latency, known to lie between two ends, held against a limit.

A stall of the tester bounds a sample and does not delete it (latency_ends.py). A limit is broken
where the low ends of the samples break it, and kept where their high ends keep it. In between the
tester cannot tell, unless the kernel's events prove that the DUT held frames for longer.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Self

from plimsoll.generator.latency_ends import LatencyEnds
from plimsoll.record.trials.finding_record import FindingOutcome
from plimsoll.text.units import format_ns
from plimsoll.traffic.plan import StreamPlan
from plimsoll.trial.outcome.outcome import Outcome
from plimsoll.trial.outcome.quantiles import QUANTILES, QuantileName, quantile_ns, samples_needed

# Of polling loops whose stalls are named.
_NAMED = 3


@dataclass(frozen=True, slots=True)
class LimitCheck:
    """Whether the limit was kept, the latency that says so, and what to add in words."""

    outcome: FindingOutcome
    value_ns: int
    more: str = ""

    @property
    def undecided(self) -> bool:
        """Whether the limit lies between both ends."""
        return self.outcome == "invalid"


@dataclass(frozen=True, slots=True)
class BoundedQuantile:
    """One quantile of one stream's latency; `low_ns` and `high_ns` are the same without stalls."""

    outcome: Outcome
    plan: StreamPlan
    name: QuantileName
    ends: LatencyEnds
    low_ns: int
    high_ns: int

    @classmethod
    def of(cls, outcome: Outcome, plan: StreamPlan, name: QuantileName) -> Self | None:
        """That of a stream of the trial; None without samples."""
        ends = LatencyEnds.of(outcome.counts(plan.stream))
        low_ns, high_ns = quantile_ns(ends.low, name), quantile_ns(ends.high, name)
        if low_ns is None or high_ns is None:
            return None
        return cls(outcome, plan, name, ends, low_ns, high_ns)

    def words(self, beyond_ns: int = 0) -> str:
        """Both ends where they differ, less `beyond_ns`."""
        low, high = (format_ns(max(0, each - beyond_ns)) for each in (self.low_ns, self.high_ns))
        return high if low == high else f"between {low} and {high}"

    def against(self, limit_ns: float) -> LimitCheck:
        """Whether it keeps to the limit."""
        if self.low_ns > limit_ns:
            return LimitCheck("fail", self.low_ns)
        if self.high_ns <= limit_ns:
            return LimitCheck("ok", self.high_ns)
        return self._proven(limit_ns) or LimitCheck("invalid", self.high_ns, self._stalls())

    def _proven(self, limit_ns: float) -> LimitCheck | None:
        """A failure where the kernel's events show that the DUT was away for so long."""
        held = [
            each
            for each in self.outcome.longest
            if each.stream == self.plan.name
            and each.across_stall
            and each.held_by_dut_ns > limit_ns
        ]
        exact = self.outcome.counts(self.plan.stream).latency
        above = exact.above(limit_ns) + sum(each.frames for each in held)
        if not held or not self._breaks(max(above, self.ends.low.above(limit_ns))):
            return None
        held_ns = max(each.held_by_dut_ns for each in held)
        said = f"by the kernel's events the DUT was away for {format_ns(held_ns)} of one sample"
        return LimitCheck("fail", held_ns, said)

    def _breaks(self, above: int) -> bool:
        """Whether so many samples above a limit put the quantile above it, whatever others are."""
        samples = self.ends.samples
        rank = max(1, math.ceil(QUANTILES[self.name] * samples))
        return samples >= samples_needed(self.name) and samples - above < rank

    def _stalls(self) -> str:
        """Which stalls leave it open."""
        delayed = self.outcome.counts(self.plan.stream).latency_across_stalls.count
        stalled = sorted(
            (each for each in self.outcome.report.workers if each.stalls),
            key=lambda each: -each.worst_stall_ns,
        )
        named = ", ".join(
            f"CPU {each.cpu}: {each.stalls:,}, up to {format_ns(each.worst_stall_ns)}"
            for each in stalled[:_NAMED]
        )
        return (
            f"stalls of the tester{f' ({named})' if named else ''} may have delayed "
            f"{delayed:,} of them, so it is not known whether the DUT kept the limit"
        )
