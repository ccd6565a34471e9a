"""Trials made by hand, to read evidence from."""

from __future__ import annotations

from plimsoll.search.evidence.trial_evidence import LatencyPeak, LossSample, TrialEvidence
from plimsoll.search.load_line.tried import Tried
from plimsoll.search.strategy.ask import ONLY_GOAL, Ask, Phase, Told

MIN_NS = 10_000


def tried(
    load_pps: float,
    seconds: float,
    *,
    peaks_ns: dict[int, int] | None = None,
    losses: dict[int, int] | None = None,
    intervals: int | None = None,
    p50_ns: int = MIN_NS,
    p99_ns: int = MIN_NS,
    growth: float | None = None,
    phase: Phase = "watch",
) -> Tried:
    """A trial of one direction in intervals of a second, unless there are `intervals`.

    `peaks_ns` are by interval, above the least latency; `losses` are frames by interval.
    """
    count = round(seconds) if intervals is None else intervals
    each_s = seconds / count
    lost = sum((losses or {}).values())
    offered = round(load_pps * seconds)
    evidence = TrialEvidence(
        sending_s=seconds,
        intervals=count,
        offered=offered,
        lost=lost,
        loss_ratio=lost / offered,
        forwarded_pps=(offered - lost) / seconds,
        first_loss_s=min(losses) * each_s if losses else None,
        lossy_intervals=len(losses or {}),
        losses=tuple(
            LossSample(begin_s=at * each_s, end_s=(at + 1) * each_s, frames=frames)
            for at, frames in (losses or {}).items()
        ),
        min_ns=MIN_NS,
        p50_ns=p50_ns,
        p99_ns=p99_ns,
        max_ns=MIN_NS + max((peaks_ns or {}).values(), default=0),
        latency_growth=growth,
        peaks=tuple(
            LatencyPeak(at_s=at * each_s, max_ns=MIN_NS + above)
            for at, above in (peaks_ns or {}).items()
        ),
    )
    verdict = "fail" if lost else "pass"
    rules = ("loss-ratio",) if lost else ()
    return Tried(
        Ask(phase, load_pps, seconds), Told({ONLY_GOAL: verdict}, evidence, {ONLY_GOAL: rules})
    )
