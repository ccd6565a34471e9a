"""A DUT behind a bundle of links, one of which drops out now and then."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from random import Random
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from ....text.units import DurationField, RatioField
from ...direction import Service
from ..dut_model import DutModel, TrialCapacity, batch_wait_s

# The standard error of a survival of 97.5 % is 0.16 % with so many draws.
_DRAWS = 10_000
# Of the capacity that a draw needs: far below what a trial's capacity strays by.
_DIGITS = 5
_MIN_LEFT = 0.05


class LinkFlaps(DutModel):
    """Links flap at random, one each `period` in the mean; each takes `share` for `outage`.

    The share is one of the whole capacity. Outages overlap, and what they take adds up; a
    twentieth of the capacity is always left. So a bundle does whose members have to prove
    themselves before they are used again.
    """

    summary: ClassVar[str] = "links of a bundle drop out for long, each a share of the capacity"

    kind: Literal["link-flaps"] = "link-flaps"
    period: Annotated[DurationField, Field(ge=60, le=1e7)] = 7200.0
    outage: Annotated[DurationField, Field(ge=1, le=86_400)] = 2400.0
    share: Annotated[RatioField, Field(gt=0, le=0.5)] = 0.04

    def behaviour(self, direction: int, chance: Random) -> LinkFlapsBehaviour:
        """A direction with as many links out as at any time."""
        return LinkFlapsBehaviour(self, direction, chance)

    def left(self, links_out: int) -> float:
        """The share of the capacity that is left with so many links out."""
        return max(_MIN_LEFT, 1.0 - self.share * links_out)

    def survival(self, direction: int, load_pps: float, limit: float, horizon_s: float) -> float:
        """By draws of the flaps, and the distribution of a trial's capacity.

        The buffer is as nothing against minutes, and left out.
        """
        draws = _needed_capacities(self, limit, horizon_s)
        odds = (
            count * self.odds_of_capacity(direction, needed * load_pps)
            for needed, count in draws.items()
        )
        return sum(odds) / _DRAWS

    def needed_capacity(self, seconds: Mapping[int, float], limit: float) -> float:
        """The least capacity, as a multiple of the load, for so many seconds with links out.

        What is lost is a sum over numbers of links out, of those that leave less than the
        load: the most of the sums from the worst number on.
        """
        whole_s = math.fsum(seconds.values())
        needed = offered_s = served_s = 0.0
        for links_out in sorted(seconds, reverse=True):
            offered_s += seconds[links_out]
            served_s += seconds[links_out] * self.left(links_out)
            needed = max(needed, (offered_s - limit * whole_s) / served_s)
        return needed


@lru_cache(maxsize=64)
def _needed_capacities(model: LinkFlaps, limit: float, horizon_s: float) -> Counter[float]:
    """Of `_DRAWS` soaks, always the same: how many need which multiple of the load."""
    chance = Random("link flaps")  # noqa: S311 - the draws of a simulation
    needed = (
        model.needed_capacity(_seconds_out(model, horizon_s, chance), limit) for _ in range(_DRAWS)
    )
    return Counter(round(each, _DIGITS) for each in needed)


def _seconds_out(model: LinkFlaps, horizon_s: float, chance: Random) -> dict[int, float]:
    """How long how many links are out in one soak."""
    edges: list[tuple[float, int]] = [(horizon_s, 0)]
    flap_s = -model.outage + chance.expovariate(1.0 / model.period)
    while flap_s < horizon_s:
        edges += [(max(0.0, flap_s), 1), (min(horizon_s, flap_s + model.outage), -1)]
        flap_s += chance.expovariate(1.0 / model.period)
    seconds: dict[int, float] = {}
    now_s, links_out = 0.0, 0
    for edge_s, change in sorted(edges):
        if edge_s > now_s:
            seconds[links_out] = seconds.get(links_out, 0.0) + edge_s - now_s
        now_s, links_out = edge_s, links_out + change
    return seconds


class LinkFlapsBehaviour(TrialCapacity):
    """Serves at what the links that are not out leave of the trial's capacity."""

    def __init__(self, model: LinkFlaps, direction: int, chance: Random) -> None:
        super().__init__(model, direction, chance)
        self._flapping = model
        self._back_s: list[float] = []
        self._flap_s = -model.outage
        self._draw_next()

    def service(self, now_s: float, load_pps: float, queue_frames: float) -> Service:
        """The same until a link drops out or is back."""
        while self._flap_s <= now_s:
            self._back_s.append(self._flap_s + self._flapping.outage)
            self._draw_next()
        self._back_s = [back_s for back_s in self._back_s if back_s > now_s]
        capacity_pps = self.capacity_pps * self._flapping.left(len(self._back_s))
        until_s = min([self._flap_s, *self._back_s])
        return Service(until_s, capacity_pps, capacity_pps, batch_wait_s(load_pps, capacity_pps))

    def _draw_next(self) -> None:
        self._flap_s += self.chance.expovariate(1.0 / self._flapping.period)
