"""Every trial so far, and what they say together: shared by all goals of a search."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import wraps
from statistics import median
from typing import Any, TypeVar

from .decline import declined, end_capacity_pps, falls_by_steps
from .hazard import LossRate, loss_rates
from .hypotheses import AT_ONCE, NEARLY, LossIncident, incidents_of
from .overload import loses_all_along, overload_capacity_pps, served_pps
from .plan import LoadLinePlan
from .slow_phases.onset import (
    SUDDENLY,
    SeenSlowPhases,
    lefts_pps,
    slowed_suddenly,
)
from .stalls.stall_forecast import StallForecast, forecast_of
from .stalls.stalls_seen import (
    SeenStall,
    buffer_frames,
    held_frames,
    overflows,
    small_overflows,
    stalls_of,
    unexplained_losses,
)
from .tried import Tried
from .weigh import Weighed, weigh

# So much of the load lost: the queue was full nearly all the time.
_PLAINLY = 0.02
# Of the capacity: so much is left to drain a queue with.
_WITH_ROOM = 0.95
# A stall that was to come in so few of all searches contradicts what foretold it.
_HARDLY = 0.01
# Half of the frames waited as long as the unluckiest ones, but for so much.
_AS_LONG = 0.9
# A frame that waited so many times longer than half of them met with a stall.
_FAR_LONGER = 4.0
# Stalls come in spells: so many in an interval are none too many, however few are lossy.
_IN_SPELLS = 6.0

_Found = TypeVar("_Found")


def _until_next_trial(find: Callable[[Knowledge], _Found]) -> Callable[[Knowledge], _Found]:
    """A method whose answer is kept until there is another trial: it is asked for many times."""

    @wraps(find)
    def found(knowledge: Knowledge) -> _Found:
        return knowledge.keep(find.__name__, lambda: find(knowledge))

    return found


@dataclass
class Knowledge:
    """Trials in which the tester was not at fault, in order.

    `found` is what was found in them so far, by its name; `learn` forgets it.
    """

    plan: LoadLinePlan
    trials: list[Tried] = field(default_factory=list)
    bursts: list[Tried] = field(default_factory=list)
    found: dict[str, Any] = field(default_factory=dict, repr=False)

    def learn(self, tried: Tried) -> None:
        """Keep the trial."""
        (self.bursts if tried.asked.phase == "burst" else self.trials).append(tried)
        self.found.clear()

    def keep(self, name: str, find: Callable[[], _Found]) -> _Found:
        """What `find` finds in the trials so far, kept by that name until there is another."""
        if name not in self.found:
            self.found[name] = find()
        answer: _Found = self.found[name]
        return answer

    def overload_capacity_pps(self, tried: Tried) -> float | None:
        """The capacity that an overloaded trial shows; None for one that was not."""
        if self.slowed_suddenly(tried):
            return None
        return overload_capacity_pps(tried, self.plan.width, self.full_queue())

    def overload_slows(self) -> bool:
        """Whether the DUT carries more than it forwarded when it was overloaded."""
        shown = [self.overload_capacity_pps(tried) for tried in self.trials]
        least = min((pps for pps in shown if pps is not None), default=math.inf)
        most = max((tried.load_pps for tried in self.carried()), default=0.0)
        return most > least * (1.0 + self.plan.width / 4)

    @_until_next_trial
    def full_queue(self) -> float:
        """The frames that waited while the DUT was overloaded; 0 when it never was.

        By Little's law: what leaves per second times the time it waited. A queue that was
        full only for a part of the trial is left out.
        """
        waiting = (
            served_pps(each) * each.above_least_s(each.evidence.p99_ns or 0)
            for each in self.trials
            if each.evidence.loss_ratio > _PLAINLY and loses_all_along(each) and _is_steady(each)
        )
        found = sorted(waiting)
        return found[len(found) // 2] if found else 0.0

    def slowed_suddenly(self, tried: Tried) -> bool:
        """Whether its losses began late, and at once with much less than the load forwarded."""
        return slowed_suddenly(tried, self.full_queue())

    def slow_all_along(self, tried: Tried) -> bool:
        """Whether it lost from beginning to end what the DUT carries at other times.

        A phase had begun before the trial; unless the capacity fell little by little.
        """
        capacity_pps = self.overload_capacity_pps(tried)
        if tried.asked.phase == "search" or capacity_pps is None:
            return False
        # A short trial carries more than the capacity where the buffer takes what is too much.
        queue = self.full_queue()
        carried_pps = max(
            (
                each.load_pps
                for each in self.carried()
                if (each.load_pps - capacity_pps) * each.evidence.sending_s > queue
            ),
            default=0.0,
        )
        below = capacity_pps < carried_pps * SUDDENLY and tried.load_pps <= carried_pps
        return below and falls_by_steps(tried, self.plan.width)

    def lefts_pps(self, tried: Tried) -> tuple[float, ...]:
        """What each slow phase of a trial left of the capacity."""
        if self.slow_all_along(tried):
            return (end_capacity_pps(tried),)
        return lefts_pps(tried, self.weighed(), self.full_queue())

    @_until_next_trial
    def weighed(self) -> Weighed:
        """The explanations of all losses but those of overload and of a falling capacity."""
        incidents = [each for tried in self.carried() for each in incidents_of(tried)]
        return weigh(incidents, self.full_queue())

    @_until_next_trial
    def watched_phases(self) -> Sequence[SeenSlowPhases]:
        """Of each trial below the capacity, what its slow phases left, if it had any."""
        carried = {id(each) for each in self.carried()}
        return [
            SeenSlowPhases(tried, self.lefts_pps(tried))
            for tried in self.trials
            if id(tried) in carried or self.slow_all_along(tried)
        ]

    def slow_phases(self) -> list[SeenSlowPhases]:
        """Of each trial that had any, in order."""
        return [each for each in self.watched_phases() if each.left_pps]

    def has_slow_phases(self, tried: Tried) -> bool:
        """Whether this trial had any."""
        return bool(self.lefts_pps(tried))

    def ended_slow(self, tried: Tried) -> bool:
        """Whether a trial of a load that is carried at other times ended in a slow phase."""
        losses = tried.evidence.losses
        if tried.asked.phase == "search" or not losses or not self.has_slow_phases(tried):
            return False
        return losses[-1].end_s > tried.evidence.sending_s - tried.interval_s / 2

    @_until_next_trial
    def stall_forecast(self) -> StallForecast | None:
        """The DUT's longest stalls, by cause; None where none was seen."""
        return forecast_of(self.showing_stalls(), self.full_queue())

    @_until_next_trial
    def buffer(self) -> float | None:
        """What the DUT's buffer holds in frames; None where nothing has filled it.

        Best known from stalls that overflowed it; else from a burst that did. Where it is
        smaller at times, it is what is left then.
        """
        small = [stall.held for stall in self.small_overflows()]
        if small:
            return median(small)
        by_stalls = buffer_frames(self.overflows(), self.full_queue())
        if by_stalls is not None:
            return by_stalls
        filled = [self._queued(burst) for burst in self.bursts if burst.evidence.lost]
        return min(filled, default=None)

    def share_of_buffer(self) -> float:
        """For which share of the time the buffer holds only so much.

        Of the stalls that it then cannot hold, and holds at other times, so many lost frames.
        """
        small = self.small_overflows()
        if not small:
            return 1.0
        held = median(stall.held for stall in small)
        most = self.full_buffer()
        long = [stall for stall in self._stalls() if held < stall.came < NEARLY * most]
        return min(1.0, (len(small) + 1.0) / (max(len(long), len(small)) + 1.0))

    def full_buffer(self) -> float:
        """What it holds at most, where it is smaller at times."""
        return self.full_queue() or max(stall.held for stall in self._stalls())

    def held(self) -> float:
        """The most frames that the buffer is known to have held."""
        in_bursts = (self._queued(burst) for burst in self.bursts if not burst.evidence.lost)
        return max(held_frames(self._stalls()), *in_bursts, 0.0)

    def has_stalled_in_vain(self) -> bool:
        """Whether a validation lost nothing though single frames waited far longer than most.

        A queue that grew all along makes most wait.
        """
        return any(
            tried.asked.phase == "validation"
            and not tried.evidence.lost
            and tried.above_least_s(tried.evidence.p50_ns or 0) * _FAR_LONGER
            < tried.above_least_s(tried.evidence.max_ns or 0)
            for tried in self.trials
        )

    @_until_next_trial
    def loss_rates(self) -> Sequence[LossRate]:
        """Of losses that no stall explains, by load."""
        return loss_rates(self.carried(), self.weighed())

    def rare_per_s(self) -> float:
        """So rare are losses that a validation sees none with the confidence asked for."""
        return -math.log(self.plan.confidence) / self.plan.validation_s

    def has_unexplained_losses(self, tried: Tried) -> bool:
        """Whether it lost frames without a stall that could have caused it."""
        return bool(unexplained_losses(tried, self.weighed()))

    def is_explained_by_stalls(self, tried: Tried) -> bool:
        """Whether stalls explain most of the frames that it lost, and overload does not."""
        if self.overload_capacity_pps(tried) is not None or self.declines(tried):
            return False
        incidents = list(incidents_of(tried))
        lost = sum(each.lost for each in incidents)
        by_stalls = sum(each.lost for each in incidents if self._may_be_stalls(each))
        return lost > 0.0 and by_stalls >= lost / 2.0

    def is_explained_by_phases(self, tried: Tried) -> bool:
        """Whether slow phases that cannot be stalls explain most of the frames that it lost."""
        incidents = list(incidents_of(tried))
        lost = sum(each.lost for each in incidents)
        by_phases = sum(
            each.lost
            for each in incidents
            if self.weighed().explanation(each) == "slow-phase" and not self._may_be_stalls(each)
        )
        return lost > 0.0 and by_phases >= lost / 2.0

    def _may_be_stalls(self, incident: LossIncident) -> bool:
        """Whether stalls explain it, or a slow phase that lost no more than they would have."""
        explanation = self.weighed().explanation(incident)
        if explanation != "slow-phase":
            return explanation != "sporadic"
        stalls = _IN_SPELLS + incident.crowding + 3.0 * math.sqrt(incident.crowding)
        beyond = incident.came - self.full_queue() * NEARLY
        return incident.lost <= AT_ONCE * stalls * beyond

    def declines(self, tried: Tried) -> bool:
        """Whether it shows a capacity that falls little by little."""
        return declined(tried, self.full_queue()) and not self.slowed_suddenly(tried)

    @_until_next_trial
    def carried(self) -> Sequence[Tried]:
        """The trials of loads that the DUT carries, but for what happens now and then."""
        return [
            each
            for each in self.trials
            if self.overload_capacity_pps(each) is None and not self.declines(each)
        ]

    @_until_next_trial
    def showing_stalls(self) -> list[Tried]:
        """Those trials that show stalls by themselves, once they are long enough.

        Near the capacity a queue that a stall has left takes long to drain, and the next
        stall's peak is both.
        """
        carried, most = self._without_phases(), _WITH_ROOM * self.capacity_pps()
        with_room = [tried for tried in carried if tried.load_pps <= most]
        watched_s = sum(tried.evidence.sending_s for tried in with_room)
        others = [tried for tried in carried if tried.load_pps > most]
        enough = watched_s >= self.plan.study_s
        return with_room if enough and not self._contradicted(with_room, others) else carried

    @_until_next_trial
    def losing_by_stalls(self) -> list[Tried]:
        """The trials that `showing_stalls` leaves out for a slow phase that may be stalls."""
        shown, most = {id(each) for each in self.showing_stalls()}, _WITH_ROOM * self.capacity_pps()
        return [
            each
            for each in self.carried()
            if id(each) not in shown and each.load_pps <= most and self.is_explained_by_stalls(each)
        ]

    def _contradicted(self, trials: list[Tried], others: list[Tried]) -> bool:
        """Whether the others had a stall that would hardly have come by what these show."""
        forecast = forecast_of(trials, self.full_queue())
        if forecast is None:
            return False
        growth, watched_s = forecast.growth, sum(each.evidence.sending_s for each in others)
        longest_s = max(
            (
                growth.at_reference_s(stall.length_s, stall.load_pps)
                for each in others
                for stall in stalls_of(each)
            ),
            default=0.0,
        )
        beyond = forecast.chance(longest_s, watched_s) > 1.0 - _HARDLY
        return longest_s > forecast.longest_s and beyond

    def _without_phases(self) -> list[Tried]:
        """Those whose peaks are not of a queue that a slow phase filled."""
        return [each.tried for each in self.watched_phases() if not each.left_pps]

    def overflows(self) -> list[SeenStall]:
        """The stalls that the buffer did not hold."""
        weighed = self.weighed()
        return [stall for tried in self.carried() for stall in overflows(tried, weighed)]

    def small_overflows(self) -> list[SeenStall]:
        """Those that it may not have held as it was smaller than at other times."""
        weighed = self.weighed()
        return [stall for tried in self.carried() for stall in small_overflows(tried, weighed)]

    def _stalls(self) -> list[SeenStall]:
        return [stall for tried in self._without_phases() for stall in stalls_of(tried)]

    def _queued(self, burst: Tried) -> float:
        """The last frame of a burst waited for all before it, which leave at the capacity."""
        return self.capacity_pps() * burst.above_least_s(burst.evidence.max_ns or 0)

    def capacity_pps(self) -> float:
        """The most that a trial forwarded."""
        return max((each.evidence.forwarded_pps for each in self.trials), default=0.0)


def _is_steady(tried: Tried) -> bool:
    p50_ns, p99_ns = tried.evidence.p50_ns or 0, tried.evidence.p99_ns or 0
    return p50_ns >= _AS_LONG * p99_ns
