"""Frames that a stream was never sent because its polling loop had been taken away.

On CPUs that the tester shares, its loop is away now and then, and what came due in that time
is skipped. How much of that there may be is bounded by the loop's own time away
(TesterLimits.max_stalled_share); a validation's closer look at the offered rate leaves it
out, and says so, lest it find nothing but the same absences again.
"""

from __future__ import annotations

from collections.abc import Sequence

from plimsoll.generator.histogram import Histogram, bucket_bounds_ns
from plimsoll.generator.interface import WorkerCounts
from plimsoll.traffic.plan import StreamPlan
from plimsoll.trial.outcome.outcome import Outcome


def absent_frames(plan: StreamPlan, outcome: Outcome) -> int:
    """Of the frames skipped as too late, at most those that came due in time away.

    A loop that returns sends what came due in the last `catch_up_us` and skips the rest, so
    of each absence only what is longer explains a skipped frame. None is explained to probes,
    whose lateness has a rule of its own.
    """
    if plan.role != "load" or plan.rate_pps is None:
        return 0
    patience_ns = max(outcome.plan.catch_up_us, outcome.plan.stall_us) * 1e3
    loops = _sending(outcome.report.workers)
    away_ns = max((_beyond_ns(loop.gaps, patience_ns) for loop in loops), default=0.0)
    return min(outcome.counts(plan.stream).skipped, int(plan.rate_pps * away_ns / 1e9))


def _sending(workers: Sequence[WorkerCounts]) -> Sequence[WorkerCounts]:
    """The loops that send, where it is known of any: one that only receives delays no frame."""
    senders = [worker for worker in workers if worker.cycles.send.frames]
    return senders or workers


def _beyond_ns(gaps: Histogram, patience_ns: float) -> float:
    """What all gaps together last beyond `patience_ns` each, by the lowest value of each bucket."""
    lengths = ((bucket_bounds_ns(index)[0], count) for index, count in gaps.buckets)
    return sum((low_ns - patience_ns) * count for low_ns, count in lengths if low_ns > patience_ns)
