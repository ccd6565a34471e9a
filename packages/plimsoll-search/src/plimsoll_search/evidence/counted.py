"""Evidence of what a generator counted: frames sent and lost, interval by interval."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from heapq import nlargest
from typing import NamedTuple

from .theil_sen import theil_sen
from .trial_evidence import LatencyPeak, LossSample, TrialEvidence

_FIRST_LOSSES = 128
_LARGEST_LOSSES = 128
_PEAKS = 64


class CountedInterval(NamedTuple):
    """Frames that were sent and lost from `begin_s` to `end_s` of a trial, of each direction.

    `p50_ns` and `max_ns` are the median and the worst latency of what came back in it, of the
    direction with the longest; None where latency is not measured.
    """

    begin_s: float
    end_s: float
    offered: tuple[int, ...]
    lost: tuple[int, ...]
    p50_ns: int | None = None
    max_ns: int | None = None


class Latencies(NamedTuple):
    """Of a whole trial; None where latency is not measured."""

    min_ns: int | None = None
    p50_ns: int | None = None
    p99_ns: int | None = None
    max_ns: int | None = None


NOT_MEASURED = Latencies()


def evidence_of_intervals(
    intervals: Sequence[CountedInterval], latencies: Latencies = NOT_MEASURED
) -> TrialEvidence:
    """The evidence of a trial whose intervals, at least one, follow each other from 0 s on.

    Strategies reckon with ten intervals or more, of a second at most. A trial in which the
    generator fell behind is invalid, whatever was lost.
    """
    sending_s = intervals[-1].end_s
    offered = [sum(frames) for frames in zip(*(each.offered for each in intervals), strict=True)]
    lost = [sum(frames) for frames in zip(*(each.lost for each in intervals), strict=True)]
    losses = [
        LossSample(begin_s=each.begin_s, end_s=each.end_s, frames=sum(each.lost))
        for each in intervals
        if any(each.lost)
    ]
    directions = list(zip(offered, lost, strict=True))
    medians = [(each.begin_s, each.p50_ns) for each in intervals if each.p50_ns is not None]
    peaks = ((each.max_ns, each.begin_s) for each in intervals if each.max_ns is not None)
    return TrialEvidence(
        sending_s=sending_s,
        intervals=len(intervals),
        offered=sum(offered),
        lost=sum(lost),
        loss_ratio=max(gone / sent if sent else 0.0 for sent, gone in directions),
        forwarded_pps=min(sent - gone for sent, gone in directions) / sending_s,
        first_loss_s=losses[0].begin_s if losses else None,
        lossy_intervals=len(losses),
        losses=most_telling(losses),
        min_ns=latencies.min_ns,
        p50_ns=latencies.p50_ns,
        p99_ns=latencies.p99_ns,
        max_ns=latencies.max_ns,
        latency_growth=theil_sen(medians),
        peaks=largest_peaks(peaks),
    )


def most_telling(losses: Sequence[LossSample]) -> tuple[LossSample, ...]:
    """Of losses by time the first and, of the rest, the largest, by time."""
    first, rest = losses[:_FIRST_LOSSES], losses[_FIRST_LOSSES:]
    largest = nlargest(_LARGEST_LOSSES, rest, key=lambda loss: loss.frames)
    return (*first, *sorted(largest, key=lambda loss: loss.begin_s))


def largest_peaks(worst: Iterable[tuple[int, float]]) -> tuple[LatencyPeak, ...]:
    """Of the intervals, each by its worst latency in ns and its begin in s, the worst by time."""
    largest = sorted(nlargest(_PEAKS, worst), key=lambda peak: peak[1])
    return tuple(LatencyPeak(at_s=begin_s, max_ns=max_ns) for max_ns, begin_s in largest)
