"""What the samples that a stall of the tester touched make of a bound on latency.

They are left out of every quantile, as a stall of the tester may have made them longer than
the DUT did. What they were without it is not known: anything up to what was measured. So a
bound is kept only where it would be kept if all of them counted as measured; it is broken
where the samples that nothing touched, and those that the DUT certainly held for longer than
the bound, break it; in between the tester cannot tell.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from plimsoll.generator.histogram import merge
from plimsoll.record.trials.trial_record import FindingOutcome
from plimsoll.text.units import format_ns
from plimsoll.traffic.plan import StreamPlan
from plimsoll.trial.outcome.outcome import Outcome
from plimsoll.trial.outcome.quantiles import QUANTILES, QuantileName, quantile_ns, samples_needed


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What the left-out samples change, in words, and, of a failure, the latency proven."""

    outcome: FindingOutcome
    said: str
    proven_ns: int | None = None


def left_out(
    outcome: Outcome, plan: StreamPlan, quantile: QuantileName, limit_ns: float
) -> LeftOut | None:
    """What becomes of a bound that the other samples keep; None where it stays kept."""
    counts = outcome.counts(plan.stream)
    everything = merge((counts.latency, counts.latency_across_stalls))
    whole_ns = quantile_ns(everything, quantile)
    touched = counts.latency_across_stalls
    if not touched.count or whole_ns is None or whole_ns <= limit_ns:
        return None
    proven = [
        each
        for each in outcome.longest
        if each.stream == plan.name and each.across_stall and each.held_by_dut_ns > limit_ns
    ]
    above = counts.latency.above(limit_ns) + sum(each.frames for each in proven)
    said = (
        f"{touched.above(limit_ns):,} of {touched.count:,} samples that a stall of the tester "
        f"touched are above the bound, up to {format_ns(touched.max_ns or 0)}"
    )
    if proven and _breaks(above, everything.count, quantile):
        held_ns = max(each.held_by_dut_ns for each in proven)
        said += f", and by the kernel's events the DUT was away for {format_ns(held_ns)} of one"
        return LeftOut("fail", said, held_ns)
    return LeftOut("invalid", f"{said}; it cannot be attributed")


def _breaks(above: int, samples: int, quantile: QuantileName) -> bool:
    """Whether so many samples above a bound put the quantile above it, whatever the others are."""
    rank = max(1, math.ceil(QUANTILES[quantile] * samples))
    return samples >= samples_needed(quantile) and samples - above < rank
