"""DUTs that have to get warm, or become too hot."""

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


class ThermalThrottling(DutModel):
    """Its temperature follows its utilisation with the time constant `heating`.

    On a scale where 0 is an idle DUT and 1 one that has been at its capacity for ever, it
    throttles itself to the share `throttled` of its capacity once it reaches `hot`, and
    goes back once it is below `cool`. From idle, at its capacity, `hot` = 90 % is reached
    after 2.3 times `heating`: ten minutes by default. What is forwarded heats, not what is
    offered. The temperature goes from trial to trial.
    """

    summary: ClassVar[str] = "throttles itself after minutes near its capacity, until it is cool"
    remembers: ClassVar[bool] = True

    kind: Literal["thermal"] = "thermal"
    heating: Annotated[DurationField, Field(ge=1, le=1e6)] = 260.0
    hot: _ShareField = 0.9
    cool: _ShareField = 0.7
    throttled: _ShareField = 0.8

    @model_validator(mode="after")
    def _cools_below_hot(self) -> Self:
        if self.cool >= self.hot:
            raise mistake(f"is {self.cool:g}", f"give less than hot, {self.hot:g}", "cool")
        return self

    def behaviour(self, direction: int, chance: Random) -> ThermalBehaviour:
        """A cool direction."""
        return ThermalBehaviour(self, direction, chance)

    def survival(self, direction: int, load_pps: float, limit: float, horizon_s: float) -> float:
        """The odds of a capacity that stays cool, or does when throttled."""

        def lost(capacity_pps: float) -> float:
            return self._lost(load_pps, capacity_pps, horizon_s)

        return self.odds_of_losing(direction, limit * load_pps * horizon_s, lost)

    def _lost(self, load_pps: float, capacity_pps: float, horizon_s: float) -> float:
        """Frames lost to phases at full and at throttled capacity by turns."""
        phases = _Temperature(0.0)
        now_s = queue = lost = 0.0
        throttled = False
        while now_s < horizon_s:
            served_pps = capacity_pps * (self.throttled if throttled else 1.0)
            target = min(load_pps, served_pps) / capacity_pps
            lasts_s = phases.reaches_after_s(self.edge(throttled), target, self.heating)
            lasts_s = min(lasts_s, horizon_s - now_s)
            queue += (load_pps - served_pps) * lasts_s
            lost += max(0.0, queue - self.buffer)
            queue = min(max(0.0, queue), float(self.buffer))
            phases = phases.after(lasts_s, target, self.heating)
            now_s += lasts_s
            throttled = not throttled
        return lost

    def edge(self, throttled: bool) -> float:
        """The temperature at which the DUT changes its speed."""
        return self.cool if throttled else self.hot


class _Temperature:
    """From 0, idle, to 1, at capacity for ever."""

    def __init__(self, now: float) -> None:
        self.now = now

    def after(self, span_s: float, target: float, constant_s: float) -> _Temperature:
        """What it has become on its way to a target."""
        return _Temperature(target + (self.now - target) * math.exp(-span_s / constant_s))

    def reaches_after_s(self, edge: float, target: float, constant_s: float) -> float:
        """When it crosses an edge on its way; infinity for never."""
        if self.now == edge or (self.now - edge) * (target - edge) >= 0.0:
            return math.inf
        return constant_s * math.log((target - self.now) / (target - edge))


class ThermalBehaviour(TrialCapacity):
    """Serves at the trial's capacity, or throttled."""

    def __init__(self, model: ThermalThrottling, direction: int, chance: Random) -> None:
        super().__init__(model, direction, chance)
        self._thermal = model
        self._temperature = _Temperature(0.0)
        self._throttled = False
        self._last_s = 0.0
        self._target = 0.0
        self._edge_s = math.inf

    def service(self, now_s: float, load_pps: float, queue_frames: float) -> Service:
        """Until the temperature meets an edge, should the load stay."""
        heating_s = self._thermal.heating
        self._temperature = self._temperature.after(now_s - self._last_s, self._target, heating_s)
        if now_s >= self._edge_s:
            self._temperature = _Temperature(self._thermal.edge(self._throttled))
            self._throttled = not self._throttled
        served_pps = self.capacity_pps * (self._thermal.throttled if self._throttled else 1.0)
        carried_pps = served_pps if queue_frames > 0.0 else min(load_pps, served_pps)
        self._last_s, self._target = now_s, carried_pps / self.capacity_pps
        edge = self._thermal.edge(self._throttled)
        self._edge_s = now_s + self._temperature.reaches_after_s(edge, self._target, heating_s)
        # Nearer than the clock resolves is at the next tick.
        self._edge_s = max(self._edge_s, math.nextafter(now_s, math.inf))
        return Service(self._edge_s, served_pps, served_pps, batch_wait_s(load_pps, served_pps))


class WarmUp(DutModel):
    """Carries the share `cold` of its capacity until it has been under load for `warmup`.

    It is cold again after `idle` without a frame: flow tables have aged, a governor has
    lowered the clock. The drain of a trial is long enough for that by default.
    """

    summary: ClassVar[str] = "carries less in the first seconds after it was idle"
    remembers: ClassVar[bool] = True

    kind: Literal["warm-up"] = "warm-up"
    cold: Annotated[RatioField, Field(gt=0, le=1)] = 0.9
    warmup: Annotated[DurationField, Field(gt=0, le=3600)] = 2.0
    idle: Annotated[DurationField, Field(ge=0, le=86_400)] = 1.0

    def behaviour(self, direction: int, chance: Random) -> WarmUpBehaviour:
        """A cold direction."""
        return WarmUpBehaviour(self, direction, chance)

    def survival(self, direction: int, load_pps: float, limit: float, horizon_s: float) -> float:
        """The odds of a capacity with which the cold start costs little enough."""
        cold_s = min(self.warmup, horizon_s)

        def lost(capacity_pps: float) -> float:
            at_first = max(0.0, (load_pps - self.cold * capacity_pps) * cold_s - self.buffer)
            later = max(0.0, load_pps - capacity_pps) * (horizon_s - cold_s)
            return at_first + max(0.0, later - (0.0 if at_first else self.buffer))

        return self.odds_of_losing(direction, limit * load_pps * horizon_s, lost)


class WarmUpBehaviour(TrialCapacity):
    """Serves at the trial's capacity once it is warm."""

    def __init__(self, model: WarmUp, direction: int, chance: Random) -> None:
        super().__init__(model, direction, chance)
        self._cold = model.cold
        self._warmup_s = model.warmup
        self._idle_s = model.idle
        self._loaded_until_s = -math.inf
        self._loaded_s = 0.0
        self._last_s = 0.0
        self._load_pps = 0.0

    def service(self, now_s: float, load_pps: float, queue_frames: float) -> Service:
        """At less until it is warm, should the load stay."""
        self._account(now_s)
        self._load_pps = load_pps
        left_s = self._warmup_s - self._loaded_s
        # What is left of it may be less than the clock resolves.
        if load_pps <= 0.0 or now_s + left_s <= now_s:
            capacity_pps, until_s = self.capacity_pps, math.inf
        else:
            capacity_pps, until_s = self._cold * self.capacity_pps, now_s + left_s
        return Service(until_s, capacity_pps, capacity_pps, batch_wait_s(load_pps, capacity_pps))

    def _account(self, now_s: float) -> None:
        """For the time since the last call: under load it gets warm, without it cold."""
        if self._load_pps > 0.0:
            self._loaded_s += now_s - self._last_s
            self._loaded_until_s = now_s
        if now_s - self._loaded_until_s > self._idle_s:
            self._loaded_s = 0.0
        self._last_s = now_s
