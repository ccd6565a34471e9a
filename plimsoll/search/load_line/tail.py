"""How long the longest stall of hours will be, from the longest of minutes.

Lengths beyond a high threshold follow a generalised Pareto distribution, whatever the
lengths themselves follow (Pickands 1975; Balkema and de Haan 1974), and come as a Poisson
process. Its scale and shape are estimated by probability-weighted moments (Hosking and
Wallis 1987), drawn to an exponential tail as long as there are few lengths to tell by.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from plimsoll.search.load_line.stalls import stalls_of
from plimsoll.search.load_line.tried import Tried

# Of the lengths at least half as long as the longest, the upper half are the tail.
_OF_LONGEST = 0.5
# The weights, in lengths, of what is believed before any was seen: an exponential tail,
# whose mean excess is a twentieth of the longest.
_SHAPE_WEIGHT = 10
_BUMP = 0.0
_SCALE_WEIGHT = 2
_SCALE_BELIEVED = 0.05
# A shape of -1 is an even spread up to an end; beyond 0.5 there is no variance.
_LEAST_SHAPE, _MOST_SHAPE = -1.0, 0.5


@dataclass(frozen=True, slots=True)
class Tail:
    """Lengths beyond `threshold_s` come `per_s` times a second; `longest_s` was seen.

    Their excess has a generalised Pareto distribution of this scale and shape (ξ: 0 is
    exponential, negative has an end).
    """

    threshold_s: float
    longest_s: float
    per_s: float
    scale_s: float
    shape: float
    seen: int
    watched_s: float

    def length_s(self, duration_s: float, chance: float) -> float:
        """The length that with this chance none exceeds in `duration_s`."""
        beyond = -math.log(chance) / (self.per_s * duration_s)
        if beyond >= 1.0:
            return self.threshold_s
        if abs(self.shape) < 1e-6:
            return self.threshold_s - self.scale_s * math.log(beyond)
        return self.threshold_s + self.scale_s / self.shape * (math.pow(beyond, -self.shape) - 1.0)

    def chance(self, length_s: float, duration_s: float) -> float:
        """The chance that no stall in `duration_s` is longer."""
        return math.exp(-self.per_s * duration_s * self._share_beyond(length_s))

    def _share_beyond(self, length_s: float) -> float:
        excess = length_s - self.threshold_s
        if excess <= 0.0:
            return 1.0
        if self.scale_s <= 0.0:
            return 0.0
        if abs(self.shape) < 1e-6:
            return math.exp(-excess / self.scale_s)
        inner = 1.0 + self.shape * excess / self.scale_s
        return math.pow(inner, -1.0 / self.shape) if inner > 0.0 else 0.0


def tail_of(trials: Sequence[Tried]) -> Tail | None:
    """The tail of the stalls in these trials, none of them overloaded; None without any."""
    watched = [tried for tried in trials if tried.evidence.peaks and tried.interval_s]
    lengths = [[stall.length_s for stall in stalls_of(tried)] for tried in watched]
    longest_s = max((max(each) for each in lengths), default=0.0)
    if longest_s <= 0.0:
        return None
    complete_s = max(
        _OF_LONGEST * longest_s,
        # Below the shortest that a trial kept, of more that it had, nothing is known.
        *(
            min(each)
            for each, tried in zip(lengths, watched, strict=True)
            if len(each) < tried.evidence.intervals
        ),
        0.0,
    )
    long = sorted(at for each in lengths for at in each if at >= min(complete_s, longest_s))
    threshold_s = long[len(long) // 2]
    excesses = [at - threshold_s for at in long[len(long) // 2 :]]
    scale_s, shape = _scale_and_shape(excesses, longest_s)
    return Tail(
        threshold_s=threshold_s,
        longest_s=longest_s,
        per_s=_rate(watched, lengths, threshold_s),
        scale_s=scale_s,
        shape=shape,
        seen=len(excesses),
        watched_s=sum(tried.evidence.sending_s for tried in watched),
    )


def _rate(
    watched: Sequence[Tried], lengths: Sequence[Sequence[float]], threshold_s: float
) -> float:
    """Of a Poisson process that leaves as many intervals without an event."""
    events, seconds = 0.0, 0.0
    for tried, each in zip(watched, lengths, strict=True):
        intervals = tried.evidence.intervals
        touched = min(sum(at >= threshold_s for at in each), intervals - 0.5)
        events -= intervals * math.log1p(-touched / intervals)
        seconds += tried.evidence.sending_s
    return events / seconds


def _scale_and_shape(excesses: Sequence[float], longest_s: float) -> tuple[float, float]:
    count = len(excesses)
    mean = sum(excesses) / count
    shape = _shape(sorted(excesses), mean) * count / (count + _SHAPE_WEIGHT) + _BUMP/math.sqrt(count)
    shape = min(max(shape, _LEAST_SHAPE), _MOST_SHAPE)
    believed = _SCALE_WEIGHT * _SCALE_BELIEVED * longest_s
    mean = (believed + sum(excesses)) / (_SCALE_WEIGHT + count)
    # The mean of a generalised Pareto distribution is scale ÷ (1 - shape).
    return mean * (1.0 - shape), shape


def _shape(ascending: Sequence[float], mean: float) -> float:
    """ξ = 2 - mean ÷ (mean - 2·a), where a is the mean of each excess times the share above it."""
    count = len(ascending)
    if count < 3:
        return 0.0
    above = sum(
        excess * (count - rank) / (count - 1) for rank, excess in enumerate(ascending, start=1)
    )
    spread = mean - 2.0 * above / count
    return 2.0 - mean / spread if spread > 0.0 else 0.0
