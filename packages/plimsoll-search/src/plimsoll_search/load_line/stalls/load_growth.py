"""Whether stalls grow with the load, and by how much.

A garbage collector's do. And so do those of a DUT that serves on while something takes a part
of its CPU: what it still forwards meanwhile adds to no queue, so that below that load there is
no stall to see at all.

Lengths that come equally often are compared: of each trial the longest but so many that they
came at one rate in all trials. That they do not depend on the load is weighed against their
being proportional to a power of it, and against a capacity that is left, by Bayes' rule.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..tried import Tried
from .stalls_seen import stalls_of

# The rank of the shortest trial's length that is compared, and the most of any trial: 64 are
# kept.
_RANK, _MAX_RANK = 1, 48
# The rank's length has this deviation, as a share, for one stall; fewer for more of them.
_DEVIATION = 0.25
_AT_LEAST = 0.03
# Of the queue, the stalls that tell most fill so much, and those that tell anything so much.
_FILLED, _FILLED_AT_LEAST = 0.3, 0.02
# As likely as all growth together, before anything was seen: none. All powers together are as
# likely as all that may be left, which is a share of the highest load.
_POWERS = tuple(0.125 * step for step in range(1, 25))
_LEFT = tuple(0.02 * step for step in range(1, 50))
_EVEN = 0.5
# A length is scaled by no more than this, from no lower a share of the reference.
_REACH = 0.2
# Loads closer together do not tell a growth from chance, as a share.
_APART = 0.1
# An interval shows only its longest stall: no more than this many may be of the rank.
_MAX_IN_INTERVAL = 0.5
_MIN_INTERVALS = 4
# Stalls that come in spells stay away from a trial, however long, as if so few were expected.
_MAX_ABSENT = 3.0


@dataclass(frozen=True, slots=True)
class LoadGrowth:
    """Stalls are proportional to the load to this power; at 0 they do not depend on it.

    Or the DUT forwards `left_pps` meanwhile, and frames wait for the rest of it only: then
    stalls are proportional to 1 - left_pps ÷ load. Lengths are compared at `reference_pps`.
    """

    power: float
    reference_pps: float
    left_pps: float = 0.0

    def reaches(self, load_pps: float) -> bool:
        """Whether a stall at this load says anything of one at the reference.

        Far below it, the wait for a few other frames would become a stall of milliseconds.
        """
        if not (self.power or self.left_pps):
            return True
        near = load_pps >= _REACH * self.reference_pps
        return near and self._unserved(load_pps) >= _REACH * self._unserved(self.reference_pps)

    def at_reference_s(self, length_s: float, load_pps: float) -> float:
        """What a stall seen at a load would have lasted at the reference."""
        return length_s / self._of_reference(load_pps)

    def at_load_s(self, length_s: float, load_pps: float) -> float:
        """What a stall of that length at the reference lasts at a load."""
        return length_s * self._of_reference(load_pps)

    def filling_pps(self, buffer: float, length_s: float) -> float:
        """The load at which such a stall, of that length at the reference, fills the buffer."""
        if self.left_pps:
            return self.left_pps + buffer * self._unserved(self.reference_pps) / length_s
        held = buffer / length_s * math.pow(self.reference_pps, self.power)
        return math.pow(held, 1.0 / (1.0 + self.power))

    def _of_reference(self, load_pps: float) -> float:
        unserved = self._unserved(load_pps) / self._unserved(self.reference_pps)
        return unserved * math.pow(load_pps / self.reference_pps, self.power)

    def _unserved(self, load_pps: float) -> float:
        if self.left_pps == 0.0:
            return 1.0
        return 1.0 - self.left_pps / load_pps if load_pps > self.left_pps else 0.0


NO_GROWTH = LoadGrowth(0.0, 1.0)


@dataclass(frozen=True, slots=True)
class _Rank:
    """A trial's length at the common rate, the `expected`-longest; 0 where it had no stall.

    One shorter than `least_s` is the wait for other frames.
    """

    load_pps: float
    length_s: float
    least_s: float
    expected: float

    @property
    def weight(self) -> float:
        return 1.0 / (_DEVIATION**2 / self.expected + _AT_LEAST**2)


def load_growth(trials: Sequence[Tried], full_queue: float = 0.0) -> LoadGrowth:
    """What these trials, none of them overloaded, say of it.

    `full_queue` frames wait in plain overload; 0 where that is not known.
    """
    ranks = _ranks(trials, full_queue)
    loads = [rank.load_pps for rank in ranks]
    if not ranks or math.log(max(loads) / min(loads)) < _APART:
        return NO_GROWTH
    reference_pps = max(rank.load_pps for rank in ranks if rank.length_s)
    powers = [LoadGrowth(power, reference_pps) for power in _POWERS]
    lefts = [LoadGrowth(0.0, reference_pps, share * reference_pps) for share in _LEFT]
    none = _log_likelihood(ranks, NO_GROWTH)
    by_power = [_log_likelihood(ranks, each) for each in powers]
    by_left = [_log_likelihood(ranks, each) for each in lefts]
    most = max(none, *by_power, *by_left)
    power_odds = [math.exp(log - most) * _EVEN / 2.0 / len(powers) for log in by_power]
    left_odds = [math.exp(log - most) * _EVEN / 2.0 / len(lefts) for log in by_left]
    grows = sum(power_odds) + sum(left_odds)
    if math.exp(none - most) * (1.0 - _EVEN) > grows:
        return NO_GROWTH
    if sum(left_odds) > sum(power_odds):
        return LoadGrowth(0.0, reference_pps, _mean(lefts, left_odds, lambda each: each.left_pps))
    return LoadGrowth(_mean(powers, power_odds, lambda each: each.power), reference_pps)


def _mean(
    growths: Sequence[LoadGrowth], odds: Sequence[float], of: Callable[[LoadGrowth], float]
) -> float:
    return sum(of(each) * part for each, part in zip(growths, odds, strict=True)) / sum(odds)


def _ranks(trials: Sequence[Tried], full_queue: float) -> list[_Rank]:
    """Of each trial that was long enough, the length that comes at the common rate.

    None where all fill less than a part of the queue: then they are the wait for other frames.
    """
    long = [
        each
        for each in trials
        if each.asked.phase != "search" and each.evidence.intervals >= _MIN_INTERVALS
    ]
    if not long:
        return []
    per_s = _RANK / min(each.evidence.sending_s for each in long)
    fine = [each for each in long if per_s * each.interval_s <= _MAX_IN_INTERVAL]
    per_s = min([per_s, *(_MAX_RANK / each.evidence.sending_s for each in fine)])
    found = [_rank(each, per_s * each.evidence.sending_s, full_queue) for each in fine]
    kept = [each for each in found if each is not None]
    most = max((each.load_pps * each.length_s for each in kept), default=0.0)
    return kept if most and most >= _FILLED * full_queue else []


def _rank(tried: Tried, expected: float, full_queue: float) -> _Rank | None:
    lengths = [stall.length_s for stall in stalls_of(tried) if stall.length_s > 0.0]
    lengths.sort(reverse=True)
    rank = round(expected)
    if not rank or tried.evidence.p99_ns is None:
        return None
    # More are kept than that, so where there are fewer it had no more.
    length_s = lengths[rank - 1] if len(lengths) >= rank else 0.0
    least_s = _FILLED_AT_LEAST * full_queue / tried.load_pps
    return _Rank(tried.load_pps, length_s if length_s > least_s else 0.0, least_s, rank)


def _log_likelihood(ranks: Sequence[_Rank], growth: LoadGrowth) -> float:
    """Of the lengths, whatever their level is."""
    seen = [rank for rank in ranks if rank.length_s]
    if any(growth.at_load_s(1.0, rank.load_pps) <= 0.0 for rank in seen):
        return -math.inf
    left = [
        (math.log(growth.at_reference_s(rank.length_s, rank.load_pps)), rank.weight)
        for rank in seen
    ]
    total = sum(weight for _, weight in left)
    level = sum(value * weight for value, weight in left) / total
    log = -sum(weight * (value - level) ** 2 for value, weight in left) / 2.0
    return log - sum(
        min(rank.expected, _MAX_ABSENT)
        for rank in ranks
        if not rank.length_s and growth.at_load_s(math.exp(level), rank.load_pps) > rank.least_s
    )
