"""How long the longest stall of hours will be, each cause of stalls foretold by itself.

What is periodic stays so, and what is rare and long is not averaged with what is frequent
and short: causes whose stalls differ in length have a rate and a tail of their own, and the
longest stall of all is the longest of any. Causes whose long stalls are alike are foretold
together, since each by itself would be known from less: what the scheduler's tick ends
lasts as long whoever it was. Where no cause is known, all stalls are foretold together.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from ..tried import Tried
from .arrivals import RANDOM, Arrivals, alike, period_of
from .cause import StallCause
from .load_growth import NO_GROWTH, LoadGrowth, load_growth
from .stalls_seen import stalls_of
from .tail import OF_LONGEST, Tail, least_lasting_s, tail_of

# Fewer stalls than this do not tell their lengths' distribution.
_MIN_STALLS = 5


@dataclass(frozen=True, slots=True)
class CauseSeen:
    """How much of a group's stalled time was by one cause, None for stalls without a known one.

    It came `every_s` in the mean, and every `period_s` where that is regular; None where that
    is not known.
    """

    cause: StallCause | None
    share: float
    every_s: float | None
    period_s: float | None


@dataclass(frozen=True, slots=True)
class GroupForecast:
    """Stalls that are foretold together, and their causes, those that took most first."""

    causes: tuple[CauseSeen, ...]
    tail: Tail


@dataclass(frozen=True)
class StallForecast:
    """All stalls, group by group; there is at least one.

    Where they grow with the load, lengths are those at the reference of `growth`.
    """

    groups: tuple[GroupForecast, ...]
    growth: LoadGrowth = NO_GROWTH
    # By what was asked, as it takes a while to find.
    _found_s: dict[tuple[float, float], float] = field(
        default_factory=dict, compare=False, repr=False
    )

    @property
    def longest_s(self) -> float:
        """The longest that was seen."""
        return max(each.tail.longest_s for each in self.groups)

    @property
    def seen(self) -> int:
        """How many stalls it rests on."""
        return sum(each.tail.seen for each in self.groups)

    @property
    def knows_causes(self) -> bool:
        """Whether any stall has a known cause."""
        return any(each.cause is not None for group in self.groups for each in group.causes)

    def chance(self, length_s: float, duration_s: float) -> float:
        """The chance that no stall in `duration_s` is longer: none of any group."""
        return math.prod(each.tail.chance(length_s, duration_s) for each in self.groups)

    def length_s(self, duration_s: float, chance: float) -> float:
        """The length that none exceeds in `duration_s`, as `least_lasting_s` has it."""
        asked = (duration_s, chance)
        if asked not in self._found_s:
            threshold_s = max(each.tail.threshold_s for each in self.groups)
            self._found_s[asked] = least_lasting_s(
                self.chance, duration_s, chance, threshold_s, self.longest_s
            )
        return self._found_s[asked]

    def leading(self, duration_s: float, chance: float) -> GroupForecast:
        """The group whose stalls are the likeliest to be longer than that length."""
        length_s = self.length_s(duration_s, chance)
        return min(self.groups, key=lambda each: each.tail.chance(length_s, duration_s))


def forecast_of(trials: Sequence[Tried], full_queue: float = 0.0) -> StallForecast | None:
    """What these trials, none of them overloaded, say of stalls to come; None without any.

    `full_queue` frames wait in plain overload; 0 where that is not known.
    """
    growth = load_growth(trials, full_queue)
    trials = [each for each in trials if growth.reaches(each.load_pps)]
    lengths_s: dict[StallCause | None, list[float]] = {}
    for tried in trials:
        for stall in stalls_of(tried):
            length_s = growth.at_reference_s(stall.length_s, tried.load_pps)
            lengths_s.setdefault(stall.cause, []).append(length_s)
    found = [_forecast(trials, causes, lengths_s, growth) for causes in _groups(lengths_s)]
    groups = tuple(each for each in found if each is not None)
    return StallForecast(groups, growth) if groups else None


@dataclass(slots=True)
class _Group:
    """Causes, and the lengths of their stalls by which others are found to be like them."""

    causes: list[StallCause | None] = field(default_factory=list)
    long_s: list[float] = field(default_factory=list)

    def join(self, cause: StallCause | None, long_s: Sequence[float]) -> None:
        self.causes.append(cause)
        self.long_s += long_s


def _groups(
    lengths_s: Mapping[StallCause | None, Sequence[float]],
) -> list[tuple[StallCause | None, ...]]:
    """Causes that are foretold together.

    Of those that have stalls at least half as long as the longest of all, these decide. Too
    few to tell are foretold with the cause that has most, as if no cause were known.
    """
    long_from_s = OF_LONGEST * max((max(each) for each in lengths_s.values()), default=0.0)
    long_s = {
        cause: [length for length in each if length >= long_from_s]
        for cause, each in lengths_s.items()
    }
    groups: list[_Group] = []
    for cause in sorted(long_s, key=lambda each: (-len(long_s[each]), _key(each))):
        long = long_s[cause]
        few = len(long or lengths_s[cause]) < _MIN_STALLS
        into = groups[0] if few and groups else _like(long, groups)
        if into is None:
            into = _Group()
            groups.append(into)
        into.join(cause, long)
    return [tuple(group.causes) for group in groups]


def _like(long_s: Sequence[float], groups: Sequence[_Group]) -> _Group | None:
    if not long_s:
        return None
    return next((each for each in groups if each.long_s and alike(long_s, each.long_s)), None)


def _key(cause: StallCause | None) -> tuple[str, str, str, int]:
    return ("", "", "", -1) if cause is None else cause.key


def _forecast(
    trials: Sequence[Tried],
    causes: Collection[StallCause | None],
    lengths_s: Mapping[StallCause | None, Sequence[float]],
    growth: LoadGrowth,
) -> GroupForecast | None:
    """None where none of their stalls has a length."""
    total_s = sum(sum(lengths_s[cause]) for cause in causes)
    if not total_s:
        return None
    seen = [_seen(trials, cause, sum(lengths_s[cause]) / total_s) for cause in causes]
    seen.sort(key=lambda each: (-each.share, _key(each.cause)))
    arrivals = Arrivals(seen[0].period_s) if len(seen) == 1 else RANDOM
    tail = tail_of(trials, lambda stall: stall.cause in causes, arrivals, growth)
    return None if tail is None else GroupForecast(tuple(seen), tail)


def _seen(trials: Sequence[Tried], cause: StallCause | None, share: float) -> CauseSeen:
    found = [
        disturbance
        for tried in trials
        for disturbance in tried.evidence.disturbances
        if StallCause.of(disturbance) == cause
    ]
    count = sum(each.count for each in found)
    watched_s = sum(tried.evidence.sending_s for tried in trials)
    return CauseSeen(
        cause,
        share,
        every_s=watched_s / count if count else None,
        period_s=period_of([each.consecutive_s for each in found]),
    )
