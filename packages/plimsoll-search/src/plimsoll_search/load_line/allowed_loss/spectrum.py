"""How often the DUT is away for how long: all lengths, not only the longest.

What absences lose together does not depend on the longest alone. Beyond the threshold of the
forecast of stalls, lengths are those of its tails. Below it they are those that were seen, by
bins of about the same length. An interval shows only its longest stall: a shorter one is seen
only in an interval that had no longer one. So a length counts for the time in which it would
have been seen, which is that of the intervals whose own longest is no longer (as in a life table,
for maxima instead of minima).
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from ..stalls.load_growth import LoadGrowth
from ..stalls.stall_forecast import StallForecast
from ..stalls.stalls_seen import stalls_of
from ..stalls.tail import Likelihood, Tail
from ..tried import Tried

# Lengths shorter than this share of the threshold are the wait for other frames, or add nothing.
_SHORTEST = 0.02
# Lengths within this share of each other count as one.
_BIN = 0.02
# The tail, cut where so much of it is left.
_CUTS = (1.0, 0.85, 0.7, 0.55, 0.4, 0.28, 0.18, 0.1, 0.05, 0.02, 0.008, 2e-3, 4e-4, 5e-5, 0.0)
# Of the likely tails, so many of equal weight stand for all.
_TAILS = 7


class Absences(NamedTuple):
    """They come `per_s`, and last `length_s` at the reference load of the forecast's growth."""

    per_s: float
    length_s: float


@dataclass(frozen=True, slots=True)
class LikelyTail:
    """Absences beyond the threshold as one likely tail has them; `weight` says how likely."""

    weight: float
    absences: tuple[Absences, ...]


@dataclass(frozen=True, slots=True)
class WatchedTrial:
    """What a trial's peaks say of the rate of absences by length; nothing below `below_s`."""

    below_s: float
    # The longest stalls of its intervals, shortest first, and how long an interval is.
    longest_s: tuple[float, ...]
    interval_s: float
    # Intervals of which nothing is kept, as all they had is shorter than `below_s`.
    others: int

    @classmethod
    def of(cls, tried: Tried, growth: LoadGrowth) -> WatchedTrial:
        """With all lengths as at the reference load."""
        lengths = sorted(
            growth.at_reference_s(stall.length_s, tried.load_pps) for stall in stalls_of(tried)
        )
        others = max(0, tried.evidence.intervals - len(lengths))
        below_s = lengths[0] if others and lengths else 0.0
        return cls(below_s, tuple(lengths), tried.interval_s, others)

    def between(self, low_s: float, high_s: float) -> tuple[float, float]:
        """The number of stalls from `low_s` to below `high_s`, and the time they are visible in.

        The number is corrected for stalls that share an interval, by Poisson.
        """
        if low_s < self.below_s:
            return 0.0, 0.0
        below = bisect_left(self.longest_s, low_s) + self.others
        seen = bisect_left(self.longest_s, high_s) + self.others - below
        at_risk = below + seen
        if not seen:
            return 0.0, at_risk * self.interval_s
        share = min(seen, at_risk - 0.5) / at_risk
        return -math.log1p(-share) * at_risk, at_risk * self.interval_s


@dataclass(frozen=True, slots=True)
class Spectrum:
    """`seen` are the absences up to the threshold, `tails` those beyond, as likely as each is.

    Their rates are known from so many `events`: one number for each of `seen`, and one for all
    beyond.
    """

    seen: tuple[Absences, ...]
    seen_events: tuple[float, ...]
    tails: tuple[LikelyTail, ...]
    tail_events: float

    @property
    def mean(self) -> tuple[Absences, ...]:
        """All absences, the likely tails each with its weight."""
        beyond = (
            Absences(each.per_s * tail.weight, each.length_s)
            for tail in self.tails
            for each in tail.absences
        )
        return (*self.seen, *beyond)


def spectrum_of(trials: Sequence[Tried], forecast: StallForecast) -> Spectrum:
    """What these trials, on which the forecast rests, say of absences of all lengths."""
    growth = forecast.growth
    reached = [each for each in trials if each.interval_s and growth.reaches(each.load_pps)]
    watched = tuple(WatchedTrial.of(each, growth) for each in reached)
    # Stalls that are all of a length lie on both sides of the threshold by chance.
    from_s = max(group.tail.threshold_s for group in forecast.groups) * (1.0 + _BIN / 2.0)
    below = list(_below(watched, from_s))
    return Spectrum(
        tuple(absences for absences, _ in below),
        tuple(events for _, events in below),
        _likely_tails(forecast, from_s),
        float(sum(group.tail.seen for group in forecast.groups)),
    )


def _below(watched: Sequence[WatchedTrial], from_s: float) -> Iterator[tuple[Absences, float]]:
    """Bins up to there, the longest first, and how many stalls each rests on."""
    high_s = from_s
    while high_s > _SHORTEST * from_s:
        low_s = high_s / (1.0 + _BIN)
        shown = [trial.between(low_s, high_s) for trial in watched]
        events = sum(each for each, _ in shown)
        if events > 0.0:
            seconds = sum(each for _, each in shown)
            yield Absences(events / seconds, math.sqrt(low_s * high_s)), events
        high_s = low_s


def _likely_tails(forecast: StallForecast, from_s: float) -> tuple[LikelyTail, ...]:
    """A few tails for all that are likely, of all groups together.

    Those of a group that lose about as much are next to each other, and the middle one of each
    seventh of the weight stands for it. What one group's tail is says nothing of another's, but
    that all are long together is what has to be survived.
    """
    by_group = [_sevenths(group.tail, from_s) for group in forecast.groups]
    return tuple(
        LikelyTail(1.0 / _TAILS, tuple(absences for each in together for absences in each))
        for together in zip(*by_group, strict=True)
    )


def _sevenths(tail: Tail, from_s: float) -> list[tuple[Absences, ...]]:
    ordered = sorted(tail.likely, key=lambda each: each.per_s * _mean_excess(each, tail))
    found: list[tuple[Absences, ...]] = []
    passed, place = 0.0, 0
    for seventh in range(_TAILS):
        middle = (seventh + 0.5) / _TAILS
        while place < len(ordered) - 1 and passed + ordered[place].weight < middle:
            passed += ordered[place].weight
            place += 1
        found.append(_cut(ordered[place], tail.threshold_s, from_s))
    return found


def _mean_excess(likely: Likelihood, tail: Tail) -> float:
    """How much longer than the threshold: of the longest seen, the part beyond counts most."""
    halfway_s = (tail.longest_s - tail.threshold_s) / 2.0
    return likely.share_beyond(halfway_s) * (likely.scale_s + likely.shape * halfway_s)


def _cut(likely: Likelihood, threshold_s: float, from_s: float) -> tuple[Absences, ...]:
    """The lengths from there on, in pieces of which each is as its mean."""
    pieces: list[Absences] = []
    left = likely.share_beyond(from_s - threshold_s)
    if left <= 0.0:
        return ()
    for more, less in pairwise(left * cut for cut in _CUTS):
        share = more - less
        excess_s = (_beyond_s(likely, more) - _beyond_s(likely, less)) / share
        pieces.append(Absences(likely.per_s * share, threshold_s + excess_s))
    return tuple(pieces)


def _beyond_s(likely: Likelihood, share: float) -> float:
    """The mean excess of the longest `share` of the lengths; the others count as none."""
    if share <= 0.0:
        return 0.0
    scale_s, shape = likely.scale_s, likely.shape
    if abs(shape) < 1e-6:
        return share * scale_s * (1.0 - math.log(share))
    at_s = scale_s / shape * (math.pow(share, -shape) - 1.0)
    # Beyond any length, lengths are of the same shape.
    return share * (at_s + (scale_s + shape * at_s) / (1.0 - shape))
