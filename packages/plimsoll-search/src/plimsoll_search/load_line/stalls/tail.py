"""How long the longest stall of hours will be, from the longest of minutes.

Lengths beyond a high threshold follow a generalised Pareto distribution, whatever the
lengths themselves follow (Pickands 1975; Balkema and de Haan 1974), and come as a Poisson
process. Which scale and shape it has, few lengths do not tell; so all that are likely
are kept, each with its weight by Bayes' rule, on a grid. A forecast is their mean.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Self

from ..tried import Tried
from .arrivals import RANDOM, Arrivals
from .load_growth import NO_GROWTH, LoadGrowth
from .stalls_seen import SeenStall, stalls_of

# Of the lengths at least half as long as the longest, the upper half are the tail.
OF_LONGEST = 0.5
# Believed before any length was seen: the scale is a tenth of the longest, give or take a
# factor of three, and the shape nought (an exponential tail), give or take 0.2; or, by the
# share stated, a bounded distribution, whose shape is anything below nought.
_SCALE, _SCALE_FACTOR = 0.1, 3.0
_SHAPE, _SHAPE_DEVIATION = 0.0, 0.2
_BOUNDED = 0.05
_SCALES = tuple(0.002 * 1.25**step for step in range(30))
# A shape of -1 is an even spread up to an end; beyond 0.5 there is no variance.
_SHAPES = tuple(-1.0 + 0.1 * step for step in range(16))
# A length is found to a millionth of itself.
_HALVINGS = 24
_AS_LIKELY_AS_NOT = 0.5
_NEGLIGIBLE = 1e-4


@dataclass(frozen=True, slots=True)
class Likelihood:
    """One scale and shape (ξ) of the lengths beyond the threshold; they come `per_s`."""

    weight: float
    per_s: float
    scale_s: float
    shape: float

    def share_beyond(self, excess_s: float) -> float:
        """Of the lengths beyond the threshold, those that exceed it by so much."""
        if abs(self.shape) < 1e-6:
            return math.exp(-excess_s / self.scale_s)
        inner = 1.0 + self.shape * excess_s / self.scale_s
        return math.pow(inner, -1.0 / self.shape) if inner > 0.0 else 0.0


@dataclass(frozen=True)
class Tail:
    """Lengths beyond `threshold_s`, of which `seen` were seen, up to `longest_s`."""

    threshold_s: float
    longest_s: float
    seen: int
    watched_s: float
    likely: tuple[Likelihood, ...]
    arrivals: Arrivals = RANDOM

    def chance(self, length_s: float, duration_s: float) -> float:
        """The chance that no stall in `duration_s` is longer, over all that is likely."""
        excess_s = length_s - self.threshold_s
        if excess_s <= 0.0:
            return 0.0
        return sum(each.weight * odds for each, odds in self._odds(excess_s, duration_s))

    def _odds(self, excess_s: float, duration_s: float) -> Iterator[tuple[Likelihood, float]]:
        for each in self.likely:
            share = each.share_beyond(excess_s)
            yield each, self.arrivals.chance_of_none(each.per_s, share, duration_s)

    def length_s(self, duration_s: float, chance: float) -> float:
        """The length that none exceeds in `duration_s`, as `least_lasting_s` has it."""
        return least_lasting_s(self.chance, duration_s, chance, self.threshold_s, self.longest_s)


def least_lasting_s(
    chance_of_none: Callable[[float, float], float],
    duration_s: float,
    chance: float,
    low_s: float,
    high_s: float,
) -> float:
    """The shortest length such that what has passed a validation of it survives another.

    A load is validated before it is reported, and having passed excludes most of what would
    have made it fail. So the odds of another `duration_s` are those given that one has passed;
    and that it passes at all is to be as likely as not. `chance_of_none` takes a length and a
    duration.
    """

    def is_enough(length_s: float) -> bool:
        once = chance_of_none(length_s, duration_s)
        return once >= _AS_LIKELY_AS_NOT and (
            chance_of_none(length_s, 2.0 * duration_s) >= chance * once
        )

    return least_length_s(is_enough, low_s, high_s)


def least_length_s(is_enough: Callable[[float], bool], low_s: float, high_s: float) -> float:
    """The shortest length that is enough, above `low_s`; `high_s` is where to begin to look."""
    most_s = 1e3 * high_s
    while not is_enough(high_s) and high_s < most_s:
        low_s, high_s = high_s, high_s * 2.0
    for _ in range(_HALVINGS):
        middle_s = (low_s + high_s) / 2.0
        if is_enough(middle_s):
            high_s = middle_s
        else:
            low_s = middle_s
    return high_s


@dataclass(frozen=True, slots=True)
class SeenLengths:
    """A trial's lengths, of which every one is known from `complete_from` on.

    In s for stalls; what else there is a longest of may have another unit.
    """

    lengths: tuple[float, ...]
    complete_from: float
    intervals: int
    seconds: float

    @classmethod
    def of(cls, tried: Tried, among: Callable[[SeenStall], bool], growth: LoadGrowth) -> Self:
        """A trial's stalls that are among the chosen, as they would be at one load."""
        stalls, evidence = list(stalls_of(tried)), tried.evidence
        # Below the shortest that a trial kept, of more that it had, nothing is known.
        kept_all = len(stalls) >= evidence.intervals
        cut_s = 0.0 if kept_all else min((stall.length_s for stall in stalls), default=0.0)
        lengths_s = tuple(
            growth.at_reference_s(stall.length_s, tried.load_pps)
            for stall in stalls
            if among(stall)
        )
        cut_s = growth.at_reference_s(cut_s, tried.load_pps)
        return cls(lengths_s, cut_s, evidence.intervals, evidence.sending_s)


@dataclass(frozen=True, slots=True)
class _Watched:
    """A trial's lengths beyond `from_s`, all of them; it had so many intervals of a length."""

    lengths_s: tuple[float, ...]
    from_s: float
    intervals: int
    seconds: float

    @property
    def crowding(self) -> float:
        """How many events an interval that had any stands for: only the longest is seen."""
        share = min(len(self.lengths_s), self.intervals - 0.5) / self.intervals
        return -math.log1p(-share) / share if share else 1.0


def tail_of(
    trials: Sequence[Tried],
    among: Callable[[SeenStall], bool] = lambda _: True,
    arrivals: Arrivals = RANDOM,
    growth: LoadGrowth = NO_GROWTH,
) -> Tail | None:
    """The tail of those stalls in these trials that are among the chosen; None without any.

    No trial may be overloaded.
    """
    seen = [SeenLengths.of(tried, among, growth) for tried in trials if tried.interval_s]
    return tail_beyond(seen, arrivals)


def tail_beyond(seen: Sequence[SeenLengths], arrivals: Arrivals = RANDOM) -> Tail | None:
    """The tail of these lengths; None without any."""
    longest_s = max((at for each in seen for at in each.lengths), default=0.0)
    if longest_s <= 0.0:
        return None
    long = sorted(at for each in seen for at in each.lengths if at >= OF_LONGEST * longest_s)
    threshold_s = long[len(long) // 2]
    watched = list(_watched(seen, threshold_s))
    return Tail(
        threshold_s=threshold_s,
        longest_s=longest_s,
        seen=sum(len(each.lengths_s) for each in watched),
        watched_s=sum(each.seconds for each in watched),
        likely=_likely(watched, threshold_s, longest_s),
        arrivals=arrivals,
    )


def _watched(seen: Sequence[SeenLengths], threshold_s: float) -> Iterator[_Watched]:
    for each in seen:
        from_s = max(threshold_s, each.complete_from)
        beyond = tuple(at for at in each.lengths if at >= from_s)
        yield _Watched(beyond, from_s, each.intervals, each.seconds)


def _likely(
    watched: Sequence[_Watched], threshold_s: float, longest_s: float
) -> tuple[Likelihood, ...]:
    found = [
        (fit[0] + _belief(scale, shape), fit[1], scale * longest_s, shape)
        for scale in _SCALES
        for shape in _SHAPES
        if (fit := _fit(watched, threshold_s, scale * longest_s, shape)) is not None
    ]
    most = max(log_weight for log_weight, *_ in found)
    weights = [math.exp(log_weight - most) for log_weight, *_ in found]
    total = sum(weights)
    return tuple(
        Likelihood(weight / total, per_s, scale_s, shape)
        for weight, (_, per_s, scale_s, shape) in zip(weights, found, strict=True)
        if weight > _NEGLIGIBLE
    )


def _belief(scale: float, shape: float) -> float:
    """The logarithm of what was believed before."""
    by_scale = math.log(scale / _SCALE) / math.log(_SCALE_FACTOR)
    by_shape = (shape - _SHAPE) / _SHAPE_DEVIATION
    unbounded = math.exp(-(by_shape**2) / 2.0) / (_SHAPE_DEVIATION * math.sqrt(2.0 * math.pi))
    bounded = 1.0 if shape < 0.0 else 0.0
    return -(by_scale**2) / 2.0 + math.log((1.0 - _BOUNDED) * unbounded + _BOUNDED * bounded)


def _fit(
    watched: Sequence[_Watched], threshold_s: float, scale_s: float, shape: float
) -> tuple[float, float] | None:
    """The log-likelihood of what was seen, and the rate that makes it the greatest.

    Of a Poisson process, seen in each trial from its own threshold on. None where the
    distribution ends before the longest that was seen.
    """
    kind = Likelihood(1.0, 1.0, scale_s, shape)
    exposure, events, log_density = 0.0, 0.0, 0.0
    for each in watched:
        exposure += each.seconds * kind.share_beyond(each.from_s - threshold_s)
        events += len(each.lengths_s) * each.crowding
        for at in each.lengths_s:
            inner = 1.0 + shape * (at - threshold_s) / scale_s
            if inner <= 0.0:
                return None
            if abs(shape) < 1e-6:
                log_density -= (at - threshold_s) / scale_s
            else:
                log_density -= (1.0 / shape + 1.0) * math.log(inner)
            log_density -= math.log(scale_s)
    if exposure <= 0.0:
        return None
    per_s = events / exposure
    seen = sum(len(each.lengths_s) for each in watched)
    return seen * math.log(per_s) + log_density, per_s
