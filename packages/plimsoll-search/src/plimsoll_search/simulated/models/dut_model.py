"""What every simulated DUT has: capacity, buffer, latency, and what load it truly sustains."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from random import Random
from statistics import NormalDist
from typing import Annotated, ClassVar

from pydantic import BaseModel, ConfigDict, Field

from ...text.units import LatencyField, PpsField, RatioField
from ..away_times import AwayTimes
from ..direction import Behaviour, LatencyShape

# Odds need not fall evenly with the load, so a whole range is looked at, this finely.
_STEPS_PER_DOUBLING = 40
_LOAD_HALVINGS = 16


def highest_load(holds: Callable[[float], bool], least_pps: float, most_pps: float) -> float | None:
    """The highest load from `least_pps` to `most_pps` at which `holds`; None without one.

    Found downwards from the top in steps of 1.7 %, then by halving the step.
    """
    above_pps = most_pps
    if holds(above_pps):
        return above_pps
    steps = math.ceil(math.log2(most_pps / least_pps) * _STEPS_PER_DOUBLING)
    for step in range(1, steps + 1):
        load_pps = max(least_pps, most_pps * 2.0 ** (-step / _STEPS_PER_DOUBLING))
        if holds(load_pps):
            return _halved(holds, load_pps, above_pps)
        above_pps = load_pps
    return None


def _halved(holds: Callable[[float], bool], below_pps: float, above_pps: float) -> float:
    for _ in range(_LOAD_HALVINGS):
        middle_pps = (below_pps + above_pps) / 2
        if holds(middle_pps):
            below_pps = middle_pps
        else:
            above_pps = middle_pps
    return below_pps


# Three hours: the validation of the seed methodology.
HORIZON_S = 10_800.0
SURVIVAL = 0.95
# DPDK's usual burst: a polling loop takes up to so many frames at once.
_BURST_FRAMES = 32.0
# Capacity of a trial strays no further than this many of its deviations.
_MAX_DEVIATIONS = 4.0
_NORMAL = NormalDist()
_STEPS = 40
# Of a range of capacities: to a millionth of it.
_HALVINGS = 20


CapacityField = Annotated[PpsField, Field(gt=0, le=1e9)]


def _as_intended(direction: int, load_pps: float) -> float:
    return load_pps


class DutModel(BaseModel, ABC):
    """A simulated DUT's settings. A subclass adds `kind: Literal[...]` and is in registry.py.

    `capacity` is per direction, in frames of any size; in each trial it is another one,
    normally distributed by the share `capacity_deviation`. `buffer` frames of a direction
    can wait. Without load a frame takes `latency` in the median, log-normally by
    `latency_deviation`.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    summary: ClassVar[str]
    # Whether a trial finds the DUT as the load of the one before has left it.
    remembers: ClassVar[bool] = False

    capacity: CapacityField = 1e6
    capacity_deviation: Annotated[RatioField, Field(le=0.1)] = 5e-4
    buffer: Annotated[int, Field(ge=1, le=1 << 24)] = 4096
    latency: LatencyField = 10_000
    latency_deviation: Annotated[RatioField, Field(le=1)] = 0.06

    @abstractmethod
    def behaviour(self, direction: int, chance: Random) -> Behaviour:
        """A direction of the DUT, as it is before anything was sent."""

    @abstractmethod
    def survival(self, direction: int, load_pps: float, limit: float, horizon_s: float) -> float:
        """The probability that a direction loses at most a share of `limit` of its frames.

        For a load of `load_pps`, probes included, over `horizon_s`, begun in a DUT that
        was idle for long.
        """

    @property
    def tester_away(self) -> AwayTimes | None:
        """How the tester's own loops are away; None where they are not."""
        return None

    def capacity_of(self, direction: int) -> float:
        """The mean capacity of a direction, in pps."""
        return self.capacity

    @property
    def floor(self) -> LatencyShape:
        """The latency without load."""
        return LatencyShape(float(self.latency), self.latency_deviation)

    def sustainable_pps(
        self,
        limit: float,
        *,
        directions: Sequence[int] = (0, 1),
        offered_pps: Callable[[int, float], float] = _as_intended,
        horizon_s: float = HORIZON_S,
        survival: float = SURVIVAL,
        least_pps: float = 1000.0,
    ) -> float | None:
        """The highest load per direction that survives.

        That is: with at least the probability `survival`, all `directions` lose at most a
        share of `limit` over `horizon_s`. `offered_pps` gives what a direction is offered
        at a load, probes and all; by default as much as the load. None where not even
        `least_pps` survives. The model's own distributions are evaluated; no trial is run.
        """

        def survives(load_pps: float) -> bool:
            offered = [offered_pps(direction, load_pps) for direction in directions]
            each = dict(zip(directions, offered, strict=True))
            return self.survival_of_all(each, limit, horizon_s) >= survival

        return highest_load(survives, least_pps, 1.25 * max(map(self.capacity_of, directions)))

    def survival_of_all(
        self, offered_pps: Mapping[int, float], limit: float, horizon_s: float = HORIZON_S
    ) -> float:
        """The probability that every direction loses at most a share of `limit`.

        `offered_pps` are by direction.
        """
        odds: dict[tuple[float, float], float] = {}
        each: list[float] = []
        for direction, load_pps in offered_pps.items():
            alike = (self.capacity_of(direction), load_pps)
            if alike not in odds:
                odds[alike] = self.survival(direction, load_pps, limit, horizon_s)
            each.append(odds[alike])
        return math.prod(each)

    def drawn_capacity(self, direction: int, chance: Random) -> float:
        """The capacity of a direction in one trial, in pps."""
        strayed = max(-_MAX_DEVIATIONS, min(_MAX_DEVIATIONS, chance.gauss(0.0, 1.0)))
        return self.capacity_of(direction) * (1.0 + self.capacity_deviation * strayed)

    def odds_of_capacity(self, direction: int, needed_pps: float) -> float:
        """The probability that a trial's capacity is at least `needed_pps`."""
        short = needed_pps / self.capacity_of(direction) - 1.0
        if self.capacity_deviation == 0.0:
            return 1.0 if short <= 0.0 else 0.0
        return 1.0 - _NORMAL.cdf(short / self.capacity_deviation)

    def odds_of_losing(
        self, direction: int, budget_frames: float, lost: Callable[[float], float]
    ) -> float:
        """The probability of a trial whose capacity loses no more than the budget.

        `lost` says how many frames a capacity loses; more capacity never loses more.
        """
        mean_pps = self.capacity_of(direction)
        strayed = _MAX_DEVIATIONS * self.capacity_deviation
        too_low, enough = mean_pps * (1.0 - strayed) * 0.999, mean_pps * (1.0 + strayed) * 1.001
        if lost(enough) > budget_frames:
            return 0.0
        if lost(too_low) <= budget_frames:
            return 1.0
        for _ in range(_HALVINGS):
            middle = (too_low + enough) / 2
            if lost(middle) <= budget_frames:
                enough = middle
            else:
                too_low = middle
        return self.odds_of_capacity(direction, enough)

    def likely_capacities(self, direction: int) -> list[float]:
        """Forty equally likely capacities of a trial, in pps."""
        mean_pps, deviation = self.capacity_of(direction), self.capacity_deviation
        strayed = (_NORMAL.inv_cdf((step + 0.5) / _STEPS) for step in range(_STEPS))
        return [mean_pps * (1.0 + deviation * each) for each in strayed]

    def needed_pps(self, load_pps: float, limit: float, horizon_s: float) -> float:
        """The least capacity at which a steady excess stays within the limit and the buffer."""
        return load_pps * (1.0 - limit) - self.buffer / horizon_s


def batch_wait_s(load_pps: float, capacity_pps: float) -> float:
    """The mean wait in a polling loop: for half of the burst that a frame is taken with.

    Bursts grow as the loop finds more waiting each turn, up to 32 frames.
    """
    spare = 1.0 - load_pps / capacity_pps
    burst = _BURST_FRAMES if spare * _BURST_FRAMES <= 1.0 else 1.0 / spare
    return (burst - 1.0) / 2.0 / capacity_pps


class TrialCapacity:
    """A behaviour's capacity, which is drawn anew with each trial."""

    def __init__(self, model: DutModel, direction: int, chance: Random) -> None:
        self.buffer_frames = float(model.buffer)
        self.capacity_pps = model.capacity_of(direction)
        self.chance = chance
        self._model = model
        self._direction = direction

    def begin_trial(self, now_s: float) -> None:
        """Draw the trial's capacity."""
        self.capacity_pps = self._model.drawn_capacity(self._direction, self.chance)
