"""A DUT that breaks down under overload and takes its time to come back."""

from __future__ import annotations

import math
from random import Random
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from ....text.units import DurationField, RatioField
from ...service import Service
from ..dut_model import DutModel, batch_wait_s
from ..trial_capacity import TrialCapacity


class OverloadCollapse(DutModel):
    """Once its buffer is full it carries only the share `collapsed` of its capacity.

    So it stays until the load has been below that for `recovery`: longer than RFC 2544's
    drain of 2 s, so that a trial may find it as the one before has left it.
    """

    summary: ClassVar[str] = "carries far less once overloaded, and recovers with delay"
    remembers: ClassVar[bool] = True

    kind: Literal["overload-collapse"] = "overload-collapse"
    collapsed: Annotated[RatioField, Field(gt=0, lt=1)] = 0.5
    recovery: Annotated[DurationField, Field(ge=0, le=3600)] = 5.0

    def behaviour(self, direction: int, chance: Random) -> OverloadCollapseBehaviour:
        """A direction that has not been overloaded."""
        return OverloadCollapseBehaviour(self, direction, chance)

    def survival(self, direction: int, load_pps: float, limit: float, horizon_s: float) -> float:
        """The odds that the buffer never fills; or that what is left then would do."""
        enough = self.odds_of_capacity(direction, load_pps - self.buffer / horizon_s)
        needed_pps = self.needed_pps(load_pps, limit, horizon_s)
        return max(enough, self.odds_of_capacity(direction, needed_pps / self.collapsed))


class OverloadCollapseBehaviour(TrialCapacity):
    """Serves at the trial's capacity, or what is left of it."""

    def __init__(self, model: OverloadCollapse, direction: int, chance: Random) -> None:
        super().__init__(model, direction, chance)
        self._left = model.collapsed
        self._recovery_s = model.recovery
        self._collapsed = False
        self._relieved_s: float | None = None

    def service(self, now_s: float, load_pps: float, queue_frames: float) -> Service:
        """At full capacity until the buffer is full; then at less until it has recovered."""
        if queue_frames >= self.buffer_frames and load_pps > self.capacity_pps:
            self._collapsed = True
        until_s = self._recovers_s(now_s, load_pps) if self._collapsed else math.inf
        if until_s <= now_s:
            self._collapsed, self._relieved_s, until_s = False, None, math.inf
        capacity_pps = self.capacity_pps * (self._left if self._collapsed else 1.0)
        return Service(until_s, capacity_pps, capacity_pps, batch_wait_s(load_pps, capacity_pps))

    def _recovers_s(self, now_s: float, load_pps: float) -> float:
        """When it will have recovered, should the load stay."""
        if load_pps >= self.capacity_pps * self._left:
            self._relieved_s = None
            return math.inf
        if self._relieved_s is None:
            self._relieved_s = now_s
        return self._relieved_s + self._recovery_s
