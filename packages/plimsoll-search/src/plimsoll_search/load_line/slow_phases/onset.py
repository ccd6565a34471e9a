"""What sets slow phases off: chance, a load, or the time under load; weighed by Bayes' rule.

Heat sets phases off at high loads alone. A link that drops out does so at any load, at a time
that nobody foretells; a table that is full, or a step that comes with age, does so after the same
time under load again and again. A trial without a phase speaks against the last two by as much as
it was long compared with the time that phases took to come, and by no more.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from ..decline import declined
from ..hypotheses import incidents_of
from ..tried import Tried
from ..weigh import Weighed

# All three explanations are as likely beforehand.
_EVEN = 1.0 / 3.0
# Rates from one in a hundred validations to ten thousand in one, each order as likely.
_RATES = tuple(10.0 ** (step / 4.0) for step in range(-8, 17))
# The load from which on phases come, between what they leave and the highest that had any.
_STEPS = 24
# Ages from a thousandth of a validation to twice as long; they repeat within so much.
_AGES = tuple(0.001 * 1.08**step for step in range(99))
_AGE_DEVIATION = 0.1
# Phases that come with age may come otherwise now and then: the DUT was not rested.
_OTHERWISE = 0.1
_AS_LIKELY_AS_NOT = 0.5
_LEAST = 1e-300


@dataclass(frozen=True, slots=True)
class Waited:
    """A load, how long it was without a phase, and whether one then came."""

    load_pps: float
    seconds: float
    slowed: bool


@dataclass(frozen=True)
class Onset:
    """All that was seen, of loads above `left_pps`, which phases leave of the capacity."""

    seen: tuple[Waited, ...]
    left_pps: float
    duration_s: float

    def spares(self, load_pps: float, confidence: float) -> bool:
        """Whether a load, once it has passed a validation without a phase, passes another.

        With this confidence; and that it passes at all is to be as likely as not.
        """
        once = self.chance(load_pps, 1)
        return once >= _AS_LIKELY_AS_NOT and self.chance(load_pps, 2) >= confidence * once

    def could_spare(self, load_pps: float, watch_s: float, watches: int, confidence: float) -> bool:
        """Whether so many watches like that could tell, should a load be what sets phases off.

        Then this load has no phase in any of them, and others, above, have one as soon as those
        before, if a watch is long enough for that.
        """
        slowed = [each for each in self.seen if each.slowed]
        if not slowed:
            # Every phase had begun before its trial: how long they take to come is not known.
            return False
        came_s = math.fsum(each.seconds for each in slowed) / len(slowed)
        lowest_pps = min(each.load_pps for each in slowed)
        clean = (Waited(load_pps, watch_s, slowed=False),) * watches
        again = (Waited(lowest_pps, came_s, slowed=True),) * (watches if came_s <= watch_s else 0)
        imagined = Onset((*self.seen, *clean, *again), self.left_pps, self.duration_s)
        return imagined.spares(load_pps, confidence)

    def chance(self, load_pps: float, validations: int) -> float:
        """The chance of no phase at this load, in so many validations one after the other."""
        return sum(each.weight * each.none(load_pps, validations) for each in self._likely)

    @property
    def odds_at_random(self) -> float:
        """The probability that chance alone sets phases off."""
        return sum(each.weight for each in self._likely if each.at_random)

    @cached_property
    def _likely(self) -> tuple[_Weighed, ...]:
        found = [
            *((log, none, True) for log, none in self._by_chance()),
            *((log, none, False) for log, none in (*self._by_load(), *self._by_age())),
        ]
        most = max(log for log, *_ in found)
        weights = [math.exp(log - most) for log, *_ in found]
        total = sum(weights)
        return tuple(
            _Weighed(weight / total, none, at_random)
            for weight, (_, none, at_random) in zip(weights, found, strict=True)
        )

    def _by_chance(self) -> Iterable[tuple[float, _None]]:
        prior = math.log(_EVEN / len(_RATES))
        for rate, log in self._log_poisson(self.seen):
            yield prior + log, _by_rate(rate, 0.0)

    def _by_load(self) -> Iterable[tuple[float, _None]]:
        slowed_pps = [each.load_pps for each in self.seen if each.slowed]
        if not slowed_pps:
            return
        lowest_pps, highest_pps = min(slowed_pps), max(slowed_pps)
        prior = math.log(_EVEN / len(_RATES) / _STEPS)
        for step in range(_STEPS):
            share = (step + 0.5) / _STEPS
            trigger_pps = self.left_pps + share * (highest_pps - self.left_pps)
            if trigger_pps >= lowest_pps:
                break
            above = [each for each in self.seen if each.load_pps > trigger_pps]
            for rate, log in self._log_poisson(above):
                yield prior + log, _by_rate(rate, trigger_pps)

    def _by_age(self) -> Iterable[tuple[float, _None]]:
        prior = math.log(_EVEN / len(_AGES))
        for age in _AGES:
            log = math.fsum(self._log_age(each, age) for each in self.seen)
            yield prior + log, _by_age(age)

    def _log_poisson(self, seen: Sequence[Waited]) -> Iterable[tuple[float, float]]:
        """Every rate, in a validation, and the log-likelihood of these under it."""
        waited = math.fsum(each.seconds for each in seen) / self.duration_s
        came = sum(each.slowed for each in seen)
        return ((rate, came * math.log(rate) - rate * waited) for rate in _RATES)

    def _log_age(self, seen: Waited, age: float) -> float:
        """The densities are per validation, as are those of rates."""
        waited = seen.seconds / self.duration_s
        otherwise = math.exp(-waited / age) / (age if seen.slowed else 1.0)
        apart = math.log(waited / age) / _AGE_DEVIATION
        if seen.slowed:
            density = math.exp(-(apart**2) / 2.0) / (
                waited * _AGE_DEVIATION * math.sqrt(2.0 * math.pi)
            )
        else:
            density = math.erfc(apart / math.sqrt(2.0)) / 2.0
        return math.log(max(_LEAST, (1.0 - _OTHERWISE) * density + _OTHERWISE * otherwise))


# The chance of no phase at a load in a number of validations.
_None = Callable[[float, int], float]


@dataclass(frozen=True, slots=True)
class _Weighed:
    weight: float
    none: _None
    at_random: bool


def _by_rate(rate: float, trigger_pps: float) -> _None:
    def none(load_pps: float, validations: int) -> float:
        return math.exp(-rate * validations) if load_pps > trigger_pps else 1.0

    return none


def _by_age(age: float) -> _None:
    not_yet = math.erfc(-math.log(age) / _AGE_DEVIATION / math.sqrt(2.0)) / 2.0

    def none(_load_pps: float, validations: int) -> float:
        return math.pow(not_yet, validations)

    return none


# What leaves less of the load than this as soon as it loses anything did not fall little by
# little: in an interval of a validation that is looked at 200 times, no drift comes so far.
SUDDENLY = 0.985
# The interval in which a phase begins may be too short a part of it to fill the queue.
_BEGINNING = 2


@dataclass(frozen=True, slots=True)
class SeenSlowPhases:
    """A trial, and what each of its phases left of the capacity, in pps."""

    tried: Tried
    left_pps: tuple[float, ...]


def lefts_pps(tried: Tried, weighed: Weighed, full_queue: float) -> tuple[float, ...]:
    """What each phase of a trial left: by Little's law, a full queue ÷ the wait in it."""
    return tuple(
        full_queue / each.peak_s
        for each in incidents_of(tried)
        if weighed.explanation(each) == "slow-phase"
    )


def slowed_suddenly(tried: Tried, full_queue: float) -> bool:
    """Whether losses began late and did not end, and the first were of a capacity far below.

    `full_queue` frames wait in plain overload; 0 where that is not known.
    """
    if not full_queue or not declined(tried, full_queue):
        return False
    first = [each.peak_s for each in incidents_of(tried)][:_BEGINNING]
    return full_queue < max(first, default=0.0) * tried.load_pps * SUDDENLY
