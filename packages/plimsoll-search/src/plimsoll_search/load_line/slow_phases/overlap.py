"""Whether slow phases overlap, how many at once to reckon with, and how long short ones become.

Links of a bundle fail one by one, whatever the others do, and two that are down take twice as
much. A DUT that is slow by turns is never doubly so. Which it is, many phases without an
overlap say; few leave it open, and then what is chosen is to survive either way.

Phases so short that the buffer holds what they leave over: how long they become. While a phase
leaves less than the load, the rest queues up: (load - left)·s in s seconds. So a phase that lost
frames lasted as long as it took to fill the buffer and to lose them, and one that lost none made a
frame wait for s·(1 - left ÷ load) at most. The longest of a validation is foretold as the longest
stall is, and bridged up to the load of left + buffer ÷ s.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..hypotheses import LossIncident, incidents_of
from ..knowledge import Knowledge
from ..stalls.stalls_seen import stalls_of
from ..stalls.tail import SeenLengths, tail_beyond
from ..tried import Tried
from .onset import SeenSlowPhases

# Believed before any phase was seen: even odds.
_PRIOR = 0.5
_MAX_AT_ONCE = 6
# So many phases, and none at the same time as another, begin to say something.
_FEW = 3
# Each direction has phases of its own.
_DIRECTIONS = 2
# Rates from a hundredth of the mean to ten times it, in steps of their logarithm.
_STEP, _STEPS = 0.1, range(-46, 24)


@dataclass(frozen=True, slots=True)
class PhasesSeen:
    """So many phases of `length_s` in the mean, in `watched_s`; no two at once."""

    count: int
    length_s: float
    watched_s: float

    def at_once(self, duration_s: float, confidence: float, may: float) -> int:
        """How many phases at once a load has to bear, if they may overlap with the odds `may`.

        The least number with which a load, having passed a validation of `duration_s`, survives
        another with this confidence: more phases at once come as a Poisson process, if at all.
        While they are few, that they may overlap is survived by itself, unless it is unlikelier
        than a failure: they leave it open, and a load for the mean of yes and no survives neither.
        """
        if self.count < _FEW and may > 1.0 - confidence:
            may = 1.0
        return next(
            (
                number
                for number in range(1, _MAX_AT_ONCE)
                if self._odds_having_passed(number, duration_s, may) >= confidence
            ),
            _MAX_AT_ONCE,
        )

    def odds_of_overlap(self, at_random: float) -> float:
        """By Bayes' rule, after so many phases that found no other.

        `at_random` is the probability that chance sets phases off: others do not overlap.
        """
        prior = _PRIOR * at_random
        unseen = prior * math.exp(-self.count * self._others())
        return unseen / (unseen + 1.0 - prior)

    def _odds_having_passed(self, number: int, duration_s: float, may: float) -> float:
        more = [(weight, self._more(per_s, number, duration_s)) for weight, per_s in self._rates()]
        once = 1.0 - may + may * sum(weight * math.exp(-each) for weight, each in more)
        twice = 1.0 - may + may * sum(weight * math.exp(-2.0 * each) for weight, each in more)
        return twice / once if once else 0.0

    def _more(self, per_s: float, number: int, duration_s: float) -> float:
        """How often a phase begins in `duration_s` while so many others last."""
        others = per_s * self.length_s / _DIRECTIONS
        return per_s * duration_s * others**number / math.factorial(number)

    def _rates(self) -> Iterator[tuple[float, float]]:
        """Of phases, with their weights: what a few say of how often they come is not much.

        A gamma distribution, which is what Bayes' rule makes of any order of magnitude.
        """
        mean = self.count / self.watched_s
        rates = [mean * math.exp(_STEP * step) for step in _STEPS]
        logs = [self.count * (math.log(each / mean) - each / mean) for each in rates]
        weights = [math.exp(log - max(logs)) for log in logs]
        total = math.fsum(weights)
        return ((weight / total, rate) for weight, rate in zip(weights, rates, strict=True))

    def _others(self) -> float:
        """The mean number of phases of one direction at any time."""
        return self.count / self.watched_s * self.length_s / _DIRECTIONS


# Of the range between what phases leave and the capacity, a load says something of their length
# from this share on: below, the wait for a few other frames would become a long phase.
_REACH = 0.2
# A phase that lasted for so much of its interval may have gone on after a trial that ended there.
_WHOLE = 0.5
# A stall lets frames wait longer than a full queue does in a phase, by more than this.
_LONGER = 1.03


@dataclass(frozen=True, slots=True)
class BridgedPhases:
    """A buffer of `buffer` frames bridges phases of `longest_s` up to `load_pps`."""

    left_pps: float
    longest_s: float
    buffer: float

    @property
    def load_pps(self) -> float:
        """Per direction."""
        return self.left_pps + self.buffer / self.longest_s


def bridged_phases(
    knowledge: Knowledge, seen: Sequence[SeenSlowPhases], left_pps: float
) -> BridgedPhases | None:
    """What the buffer bridges; None where phases outlast their trials, or it bridges next to none.

    `seen` are those that left `left_pps` or more.
    """
    plan, buffer = knowledge.plan, knowledge.full_queue()
    if not buffer or any(knowledge.slow_all_along(each.tried) for each in seen):
        return None
    capacity_pps = knowledge.capacity_pps()
    if capacity_pps <= left_pps:
        return None
    least_pps = left_pps + _REACH * (capacity_pps - left_pps)
    lengths: list[SeenLengths] = []
    for tried in knowledge.carried():
        if tried.load_pps < least_pps or not tried.interval_s:
            continue
        lossy = _lossy_s(tried, left_pps, buffer)
        if lossy is None:
            return None
        lengths.append(_lengths(tried, left_pps, lossy))
    tail = tail_beyond(lengths)
    if tail is None:
        return None
    found = BridgedPhases(left_pps, tail.length_s(plan.validation_s, plan.confidence), buffer)
    return found if found.load_pps > left_pps * (1.0 + plan.width) else None


def stalls_outlast(knowledge: Knowledge) -> bool:
    """Whether frames waited longer than in a full queue that drains at what phases leave.

    Then something else than phases keeps the DUT from forwarding as well.
    """
    lefts_pps = [left for each in knowledge.slow_phases() for left in each.left_pps]
    if not lefts_pps:
        return True
    left_pps = min(lefts_pps)
    full_s = knowledge.full_queue() / left_pps * _LONGER
    return any(
        stall.length_s > full_s for tried in knowledge.carried() for stall in stalls_of(tried)
    )


def _lossy_s(tried: Tried, left_pps: float, buffer: float) -> dict[float, float] | None:
    """By the interval that it began in, how long each phase that lost frames was.

    None where one may have gone on after the trial.
    """
    excess_pps = tried.load_pps - left_pps
    found: dict[float, float] = {}
    for run in _runs(tried):
        lost = sum(each.lost for each in run) * tried.worst_direction_share
        length_s = (lost + buffer) / excess_pps
        end_s = run[-1].at_s + run[-1].seconds
        goes_on = end_s > tried.evidence.sending_s - tried.interval_s / 2
        if goes_on and length_s > _WHOLE * run[-1].seconds:
            return None
        found[run[0].at_s] = length_s
    return found


def _runs(tried: Tried) -> Iterator[list[LossIncident]]:
    """Lossy intervals, those that follow each other together."""
    run: list[LossIncident] = []
    for incident in incidents_of(tried):
        if run and incident.at_s - (run[-1].at_s + run[-1].seconds) > tried.interval_s / 2:
            yield run
            run = []
        run.append(incident)
    if run:
        yield run


def _lengths(tried: Tried, left_pps: float, lossy_s: dict[float, float]) -> SeenLengths:
    """Those of a trial: by what was lost, and where nothing was, by how long frames waited."""
    waited = tried.load_pps / (tried.load_pps - left_pps)
    losses = {each.begin_s for each in tried.evidence.losses}
    stalls = [each for each in stalls_of(tried) if each.at_s not in losses]
    kept_all = len(tried.evidence.peaks) >= tried.evidence.intervals
    shortest_s = min((each.length_s for each in stalls), default=0.0)
    return SeenLengths(
        (*lossy_s.values(), *(each.length_s * waited for each in stalls)),
        0.0 if kept_all else shortest_s * waited,
        tried.evidence.intervals,
        tried.evidence.sending_s,
    )
