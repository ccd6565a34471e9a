"""Trials second by second, for tests: what each second offered, and what came of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from plimsoll.dut.lab import DrainedBy
from plimsoll.generator.interface import Interval, StreamCounts, TrialPlan
from plimsoll.traffic.plan import StreamPlan
from plimsoll.trial.outcome.outcome import Outcome
from tests.unit.trial.trial_builder import outcome, series, stream_counts, worker_counts

RATE_PPS = 1000
# One load stream alone.
ONE_STREAM = TrialPlan(
    mark=1,
    streams=(StreamPlan(0, "load/0-1", "load", 0, 1, (bytes(60),), RATE_PPS),),
    duration_s=10,
    drain_s=1,
)


def second(
    index: int,
    *,
    sent: int = RATE_PPS,
    lost: int = 0,
    stall_ns: int = 0,
    length_s: float = 1.0,
    begin_s: float | None = None,
    drain: bool = False,
    **changes: Any,
) -> Interval:
    """One stream's interval; `changes` are its counts'."""
    begins_s = index * length_s if begin_s is None else begin_s
    return Interval(
        index=index,
        phase="drain" if drain else "send",
        begin_s=begins_s,
        end_s=begins_s + length_s,
        end_unix_ns=0,
        streams=(stream_counts(0, sent, lost, **changes),),
        ports=(),
        workers=(worker_counts(*([stall_ns] if stall_ns else [])),),
    )


def trial_of(
    seconds: Sequence[Interval],
    *,
    plan: TrialPlan = ONE_STREAM,
    drained_by: DrainedBy = "wire",
    **changes: Any,
) -> Outcome:
    """The trial that these seconds add up to; `changes` are the total counts'."""
    parts = [each.streams[0] for each in seconds]
    sent = sum(each.sent for each in parts)
    totals: StreamCounts = stream_counts(
        0,
        sent,
        refused=sum(each.refused for each in parts),
        received=sum(each.received for each in parts),
        missing=sum(each.missing for each in parts),
        duplicate=sum(each.duplicate for each in parts),
    )
    judged = outcome(
        streams=[replace(totals, **changes)],
        plan=plan,
        drained_by=drained_by,
        sending_s=float(sum(each.end_s - each.begin_s for each in seconds if each.phase == "send")),
    )
    return replace(judged, series=series(seconds, plan, drained_by))
