"""Every trial so far, and what they say together: shared by all goals of a search."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from plimsoll.search.load_line.decline import declined
from plimsoll.search.load_line.hazard import LossRate, loss_rates
from plimsoll.search.load_line.overload import loses_all_along, overload_capacity_pps
from plimsoll.search.load_line.plan import LoadLinePlan
from plimsoll.search.load_line.stall_forecast import StallForecast, forecast_of
from plimsoll.search.load_line.stalls import (
    Stall,
    buffer_frames,
    held_frames,
    stalls_of,
    unexplained_losses,
)
from plimsoll.search.load_line.tried import Tried

# So much of the load lost: the queue was full nearly all the time.
_PLAINLY = 0.02
# Of the capacity: so much is left to drain a queue with.
_WITH_ROOM = 0.95


@dataclass
class Knowledge:
    """Trials in which the tester was not at fault, in order."""

    plan: LoadLinePlan
    trials: list[Tried] = field(default_factory=list)
    bursts: list[Tried] = field(default_factory=list)
    # By how many trials, as it takes a while to find.
    _forecast: tuple[int, StallForecast | None] | None = None

    def learn(self, tried: Tried) -> None:
        """Keep the trial."""
        (self.bursts if tried.asked.phase == "burst" else self.trials).append(tried)

    def overload_capacity_pps(self, tried: Tried) -> float | None:
        """The capacity that an overloaded trial shows; None for one that was not."""
        return overload_capacity_pps(tried, self.plan.width, self.full_queue())

    def overload_slows(self) -> bool:
        """Whether the DUT carries more than it forwarded when it was overloaded."""
        shown = [self.overload_capacity_pps(tried) for tried in self.trials]
        least = min((pps for pps in shown if pps is not None), default=math.inf)
        most = max((tried.load_pps for tried in self._carried()), default=0.0)
        return most > least * (1.0 + self.plan.width / 4)

    def full_queue(self) -> float:
        """The frames that waited while the DUT was overloaded; 0 when it never was.

        By Little's law: what leaves per second times the time it waited.
        """
        waiting = (
            each.evidence.forwarded_pps * each.above_least_s(each.evidence.p99_ns or 0)
            for each in self.trials
            if each.evidence.loss_ratio > _PLAINLY and loses_all_along(each)
        )
        return max(waiting, default=0.0)

    def stall_forecast(self) -> StallForecast | None:
        """The DUT's longest stalls, by cause; None where none was seen."""
        if self._forecast is None or self._forecast[0] != len(self.trials):
            self._forecast = (len(self.trials), forecast_of(self._with_room()))
        return self._forecast[1]

    def buffer(self) -> float | None:
        """What the DUT's buffer holds in frames; None where nothing has filled it.

        Best known from stalls that overflowed it; else from a burst that did.
        """
        by_stalls = buffer_frames(self._stalls(), self.full_queue())
        if by_stalls is not None:
            return by_stalls
        filled = [self._queued(burst) for burst in self.bursts if burst.evidence.lost]
        return min(filled, default=None)

    def held(self) -> float:
        """The most frames that the buffer is known to have held."""
        in_bursts = (self._queued(burst) for burst in self.bursts if not burst.evidence.lost)
        return max(held_frames(self._stalls()), *in_bursts, 0.0)

    def loss_rates(self) -> list[LossRate]:
        """Of losses that no stall explains, by load."""
        return loss_rates(self._carried(), self.full_queue())

    def rare_per_s(self) -> float:
        """So rare are losses that a validation sees none with the confidence asked for."""
        return -math.log(self.plan.confidence) / self.plan.validation_s

    def has_unexplained_losses(self, tried: Tried) -> bool:
        """Whether it lost frames without a stall that could have caused it."""
        return bool(unexplained_losses(tried, self.full_queue()))

    def _carried(self) -> list[Tried]:
        return [
            each
            for each in self.trials
            if self.overload_capacity_pps(each) is None and not declined(each)
        ]

    def _with_room(self) -> list[Tried]:
        """Those trials that show stalls by themselves, once they are long enough.

        Near the capacity a queue that a stall has left takes long to drain, and the next
        stall's peak is both.
        """
        carried, most = self._carried(), _WITH_ROOM * self._capacity_pps()
        with_room = [tried for tried in carried if tried.load_pps <= most]
        watched_s = sum(tried.evidence.sending_s for tried in with_room)
        return with_room if watched_s >= self.plan.study_s else carried

    def _stalls(self) -> list[Stall]:
        return [stall for tried in self._carried() for stall in stalls_of(tried)]

    def _queued(self, burst: Tried) -> float:
        """The last frame of a burst waited for all before it, which leave at the capacity."""
        return self._capacity_pps() * burst.above_least_s(burst.evidence.max_ns or 0)

    def _capacity_pps(self) -> float:
        return max((each.evidence.forwarded_pps for each in self.trials), default=0.0)
