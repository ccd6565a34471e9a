"""How long the longest stall of hours will be, each cause of stalls foretold by itself.

What is periodic stays so, and what is rare and long is not averaged with what is frequent
and short: each cause has its own rate and lengths, and the longest stall of all is the
longest of any. Stalls without a known cause, and those whose cause was seen too seldom to
tell a distribution from, are foretold together, as all are where no cause is known.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from plimsoll.record.disturbance import Disturbance
from plimsoll.search.load_line.arrivals import Arrivals
from plimsoll.search.load_line.period import period_of
from plimsoll.search.load_line.stall_cause import StallCause
from plimsoll.search.load_line.stalls import Stall, stalls_of
from plimsoll.search.load_line.tail import Tail, least_length_s, tail_of
from plimsoll.search.load_line.tried import Tried

# Fewer stalls than this say nothing of their lengths' distribution.
_LEAST_STALLS = 5


@dataclass(frozen=True, slots=True)
class CauseForecast:
    """The stalls of one cause; None is for those without a known one, and of rare ones.

    They were `share` of the stalled time that was seen, and one came `every_s` in the mean;
    None where their number is not known.
    """

    cause: StallCause | None
    tail: Tail
    share: float
    every_s: float | None

    @property
    def period_s(self) -> float | None:
        """None where they do not come regularly."""
        return self.tail.arrivals.period_s


@dataclass(frozen=True)
class StallForecast:
    """The stalls of all causes together; `by_cause` is never empty."""

    by_cause: tuple[CauseForecast, ...]

    @property
    def longest_s(self) -> float:
        """The longest that was seen."""
        return max(each.tail.longest_s for each in self.by_cause)

    @property
    def seen(self) -> int:
        """How many stalls it rests on."""
        return sum(each.tail.seen for each in self.by_cause)

    def chance(self, length_s: float, duration_s: float) -> float:
        """The chance that no stall in `duration_s` is longer: none of any cause."""
        return math.prod(each.tail.chance(length_s, duration_s) for each in self.by_cause)

    def length_s(self, duration_s: float, chance: float) -> float:
        """The length that with this chance none exceeds in `duration_s`, as for each `Tail`."""
        tails = [each.tail for each in self.by_cause]
        if len(tails) == 1:
            return tails[0].length_s(duration_s, chance)
        watched_enough = all(tail.watched_s >= duration_s for tail in tails)
        odds = self.chance if watched_enough else self._middle_chance
        return least_length_s(
            lambda length_s: odds(length_s, duration_s) >= chance,
            max(tail.threshold_s for tail in tails),
            self.longest_s,
        )

    def leading(self, duration_s: float, chance: float) -> CauseForecast:
        """The cause whose stalls are the likeliest to be longer than that length."""
        length_s = self.length_s(duration_s, chance)
        return min(self.by_cause, key=lambda each: each.tail.chance(length_s, duration_s))

    def _middle_chance(self, length_s: float, duration_s: float) -> float:
        return math.prod(each.tail.middle_chance(length_s, duration_s) for each in self.by_cause)


def forecast_of(trials: Sequence[Tried]) -> StallForecast | None:
    """What these trials, none of them overloaded, say of stalls to come; None without any."""
    stalls = [stall for tried in trials for stall in stalls_of(tried)]
    counts = Counter(stall.cause for stall in stalls)
    own = {cause for cause, count in counts.items() if cause and count >= _LEAST_STALLS}
    lengths_s: dict[StallCause | None, float] = {}
    for stall in stalls:
        group = _group(stall, own)
        lengths_s[group] = lengths_s.get(group, 0.0) + stall.length_s
    total_s = sum(lengths_s.values())
    by_cause = []
    for cause in (*sorted(own, key=lambda each: each.key), None):
        tail = _tail(trials, cause, own)
        if tail is not None:
            share, every_s = lengths_s[cause] / total_s, _every_s(trials, cause)
            by_cause.append(CauseForecast(cause, tail, share, every_s))
    return StallForecast(tuple(by_cause)) if by_cause else None


def _group(stall: Stall, own: Collection[StallCause]) -> StallCause | None:
    """The cause by which it is foretold."""
    return stall.cause if stall.cause in own else None


def _tail(
    trials: Sequence[Tried], cause: StallCause | None, own: Collection[StallCause]
) -> Tail | None:
    times_s = [each.consecutive_s for each in _disturbances(trials, cause)]
    arrivals = Arrivals(period_of(times_s))
    return tail_of(trials, lambda stall: _group(stall, own) == cause, arrivals)


def _every_s(trials: Sequence[Tried], cause: StallCause | None) -> float | None:
    """The mean time between two of this cause, by all of its absences that were seen."""
    count = sum(each.count for each in _disturbances(trials, cause))
    watched_s = sum(tried.evidence.sending_s for tried in trials)
    return watched_s / count if count else None


def _disturbances(trials: Sequence[Tried], cause: StallCause | None) -> list[Disturbance]:
    return [
        disturbance
        for tried in trials
        for disturbance in tried.evidence.disturbances
        if StallCause.of(disturbance) == cause
    ]
