"""Every trial so far, and what they say together: shared by all goals of a search."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from plimsoll.search.load_line.decline import declined
from plimsoll.search.load_line.hazard import loss_free_pps, loss_rates
from plimsoll.search.load_line.overload import loses_all_along, overload_capacity_pps
from plimsoll.search.load_line.plan import LoadLinePlan
from plimsoll.search.load_line.stalls import Stall, buffer_frames, held_frames, stalls_of
from plimsoll.search.load_line.tail import Tail, tail_of
from plimsoll.search.load_line.tried import Tried


@dataclass
class Knowledge:
    """Trials in which the tester was not at fault, in order."""

    plan: LoadLinePlan
    trials: list[Tried] = field(default_factory=list)
    bursts: list[Tried] = field(default_factory=list)

    def learn(self, tried: Tried) -> None:
        """Keep the trial."""
        (self.bursts if tried.asked.phase == "burst" else self.trials).append(tried)

    def overload_capacity_pps(self, tried: Tried) -> float | None:
        """The capacity that an overloaded trial shows; None for one that was not."""
        return overload_capacity_pps(tried, self.plan.width, self._full_queue_s())

    def tail(self) -> Tail | None:
        """The DUT's longest stalls."""
        return tail_of(self._steady())

    def buffer(self) -> float | None:
        """What the DUT's buffer holds in frames; None where nothing has filled it.

        Best known from stalls that overflowed it; else from a burst that did.
        """
        by_stalls = buffer_frames(self._stalls())
        if by_stalls is not None:
            return by_stalls
        filled = [self._queued(burst) for burst in self.bursts if burst.evidence.lost]
        return min(filled, default=None)

    def held(self) -> float:
        """The most frames that the buffer is known to have held."""
        in_bursts = (self._queued(burst) for burst in self.bursts if not burst.evidence.lost)
        return max(held_frames(self._stalls()), *in_bursts, 0.0)

    def queue_in_overload(self) -> float:
        """The frames that waited while the DUT was overloaded; 0 when it never was.

        By Little's law: what leaves per second times the time it waited.
        """
        return max(
            (
                each.evidence.forwarded_pps * each.above_least_s(each.evidence.p99_ns or 0)
                for each in self._plainly_overloaded()
            ),
            default=0.0,
        )

    def loss_free_pps(self) -> float | None:
        """The load at which losses without a stall become too rare to matter."""
        allowed = -math.log(self.plan.confidence) / self.plan.validation_s
        return loss_free_pps(loss_rates(self._steady()), allowed, self.plan.width)

    def _steady(self) -> Sequence[Tried]:
        """In an overloaded trial, latencies are the queue's, not the stalls'."""
        return [
            each
            for each in self.trials
            if self.overload_capacity_pps(each) is None and not declined(each)
        ]

    def _plainly_overloaded(self) -> list[Tried]:
        """By so much that the queue was full nearly all the time."""
        width = self.plan.width
        return [
            each
            for each in self.trials
            if each.evidence.loss_ratio > width and loses_all_along(each)
        ]

    def _full_queue_s(self) -> float | None:
        """How long frames wait in plain overload, by the lowest load that was."""
        overloaded = min(self._plainly_overloaded(), key=lambda each: each.load_pps, default=None)
        if overloaded is None:
            return None
        return overloaded.above_least_s(overloaded.evidence.p50_ns or 0)

    def _stalls(self) -> list[Stall]:
        return [stall for tried in self._steady() for stall in stalls_of(tried)]

    def _queued(self, burst: Tried) -> float:
        """The last frame of a burst waited for all before it, which leave at the capacity."""
        return self._capacity_pps() * burst.above_least_s(burst.evidence.max_ns or 0)

    def _capacity_pps(self) -> float:
        return max((each.evidence.forwarded_pps for each in self.trials), default=0.0)
