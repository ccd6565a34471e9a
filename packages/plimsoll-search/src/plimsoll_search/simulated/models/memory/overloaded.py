"""DUTs that overload leaves with less than they had."""

from __future__ import annotations

import math
from random import Random
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from ....text.errors import mistake
from ....text.units import DurationField, RatioField
from ...direction import Service
from ..dut_model import DutModel, TrialCapacity, batch_wait_s

_ShareField = Annotated[RatioField, Field(gt=0, lt=1)]


class Hysteresis(DutModel):
    """Once its buffer was full it carries the share `collapsed` of its capacity.

    So it stays until its load has been below the share `release` of it for `recovery`:
    batches that have become large, or caches that thrash, do not recover under a load that
    keeps them so. `release` is no more than `collapsed`.
    """

    summary: ClassVar[str] = "collapses on overload, and recovers only far below that load"
    remembers: ClassVar[bool] = True

    kind: Literal["hysteresis"] = "hysteresis"
    collapsed: _ShareField = 0.7
    release: _ShareField = 0.4
    recovery: Annotated[DurationField, Field(ge=0, le=3600)] = 20.0

    @model_validator(mode="after")
    def _releases_below(self) -> Self:
        if self.release > self.collapsed:
            remedy = f"give at most what is left when collapsed, {self.collapsed:g}"
            raise mistake(f"is {self.release:g}", remedy, "release")
        return self

    def behaviour(self, direction: int, chance: Random) -> HysteresisBehaviour:
        """A direction that has not been overloaded."""
        return HysteresisBehaviour(self, direction, chance)

    def survival(self, direction: int, load_pps: float, limit: float, horizon_s: float) -> float:
        """The odds that the buffer never fills; or that what is left then would do."""
        enough = self.odds_of_capacity(direction, load_pps - self.buffer / horizon_s)
        needed_pps = self.needed_pps(load_pps, limit, horizon_s)
        return max(enough, self.odds_of_capacity(direction, needed_pps / self.collapsed))


class HysteresisBehaviour(TrialCapacity):
    """Serves at the trial's capacity, or what is left of it."""

    def __init__(self, model: Hysteresis, direction: int, chance: Random) -> None:
        super().__init__(model, direction, chance)
        self._hysteresis = model
        self._collapsed = False
        self._relieved_s = math.inf

    def service(self, now_s: float, load_pps: float, queue_frames: float) -> Service:
        """At full capacity until the buffer is full; then at less until it is released."""
        if queue_frames >= self.buffer_frames and load_pps > self.capacity_pps:
            self._collapsed = True
        until_s = math.inf
        if self._collapsed:
            if load_pps >= self.capacity_pps * self._hysteresis.release:
                self._relieved_s = math.inf
            else:
                self._relieved_s = min(self._relieved_s, now_s)
            until_s = self._relieved_s + self._hysteresis.recovery
        if until_s <= now_s:
            self._collapsed, self._relieved_s, until_s = False, math.inf, math.inf
        left = self._hysteresis.collapsed if self._collapsed else 1.0
        capacity_pps = self.capacity_pps * left
        return Service(until_s, capacity_pps, capacity_pps, batch_wait_s(load_pps, capacity_pps))


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
