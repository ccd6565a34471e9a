"""An interval in which frames were lost: what hypotheses explain."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from operator import neg

from ..tried import Tried


@dataclass(frozen=True, slots=True)
class LossIncident:
    """`lost` frames of all directions, in an interval of `seconds` from `at_s` on.

    `peak_s` is by how much the worst latency in it was longer than the trial's shortest, at
    most; 0 where none is known. Intervals with losses came as often as if each interval of the
    trial had `crowding` of their causes in the mean, by Poisson. `rank` is the share of the
    trial's intervals that had such a peak or a longer one.
    """

    at_s: float
    seconds: float
    load_pps: float
    lost: float
    peak_s: float
    crowding: float
    rank: float = 1.0

    @property
    def came(self) -> float:
        """Frames that came to one direction while its unluckiest frame waited."""
        return self.load_pps * self.peak_s


def incidents_of(tried: Tried) -> Iterator[LossIncident]:
    """The intervals with losses that the evidence keeps, by time."""
    evidence = tried.evidence
    peaks_s = {peak.at_s: tried.above_least_s(peak.max_ns) for peak in evidence.peaks}
    # Of more intervals than that, the largest peaks are kept: no other is larger than those.
    kept_all = len(peaks_s) >= evidence.intervals
    unknown_s = 0.0 if kept_all else min(peaks_s.values(), default=0.0)
    share = min(evidence.lossy_intervals, evidence.intervals - 0.5) / max(1, evidence.intervals)
    crowding = -math.log1p(-max(0.0, share))
    by_length = sorted(peaks_s.values(), reverse=True)
    for loss in evidence.losses:
        seconds = loss.end_s - loss.begin_s
        peak_s = peaks_s.get(loss.begin_s, unknown_s)
        longer = bisect_right(by_length, -peak_s, key=neg)
        rank = min(1.0, max(1, longer) / max(1, evidence.intervals))
        if loss.begin_s not in peaks_s:
            rank = 1.0
        yield LossIncident(
            loss.begin_s, seconds, tried.load_pps, float(loss.frames), peak_s, crowding, rank
        )
