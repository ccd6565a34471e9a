"""Families of simulated DUTs: a subject is a family and a seed, which draws its parameters.

The ranges are those of what such DUTs are seen to do in the field, wide enough that no
default of a strategy fits all of them. `held_out.py` says which families no strategy is
tuned on.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random
from types import MappingProxyType
from typing import Any, Literal

from benchmarks.search.held_out import HELD_OUT, HELD_OUT_LAST, HELD_OUT_LOSSY
from plimsoll.search.simulated.models.capacity.diurnal import Diurnal
from plimsoll.search.simulated.models.capacity.link_flaps import LinkFlaps
from plimsoll.search.simulated.models.dut_model import DutModel
from plimsoll.search.simulated.models.losses.leaking import RandomLoss
from plimsoll.search.simulated.models.memory.overloaded import Hysteresis
from plimsoll.search.simulated.models.memory.temperature import ThermalThrottling
from plimsoll.search.simulated.models.memory.tiring import CapacitySteps, Drift
from plimsoll.search.simulated.models.stalls.garbage_collector import GarbageCollector
from plimsoll.search.simulated.models.stalls.noisy_neighbour import NoisyNeighbour
from plimsoll.search.simulated.models.stalls.rare_stalls import (
    ChangingBuffer,
    Housekeeping,
    RareStalls,
)
from plimsoll.search.simulated.models.stalls.slow_phases import Rekeying, SlowPhases

FamilyChoice = Literal["tuning", "held-out", "lossy", "all"]


@dataclass(frozen=True)
class Family:
    """Draws a DUT, which has to keep to the loss ratio `limit`, or one that `draw_limit` draws."""

    draw: Callable[[Random], DutModel]
    limit: float = 0.0
    draw_limit: Callable[[Random], float] | None = None

    def model(self, seed: int) -> DutModel:
        """The same for the same seed."""
        return self.draw(Random(f"family {seed}"))  # noqa: S311 - the draws of a benchmark

    def limit_of(self, seed: int) -> float:
        """The loss ratio that the DUT of this seed has to keep to; the same for the same seed."""
        if self.draw_limit is None:
            return self.limit
        return self.draw_limit(Random(f"limit {seed}"))  # noqa: S311


def _log_uniform(chance: Random, least: float, most: float) -> float:
    return math.exp(chance.uniform(math.log(least), math.log(most)))


def _basics(chance: Random) -> dict[str, Any]:
    """What every DUT has: half to one and a half Mpps, and a ring of one to eight thousand."""
    return {
        "capacity": _log_uniform(chance, 0.5e6, 1.5e6),
        "capacity_deviation": _log_uniform(chance, 2e-4, 1e-3),
        "buffer": chance.choice((1024, 2048, 4096, 8192)),
    }


def _housekeeping(chance: Random) -> DutModel:
    basics = Housekeeping.model_validate(_basics(chance))
    # In buffers at capacity, so that most are bridged at some load and not at all.
    longest = basics.buffer / basics.capacity * chance.uniform(1.0, 2.5)
    return basics.model_copy(
        update={
            "period": chance.uniform(20.0, 60.0),
            "longest": longest,
            "shortest": longest * chance.uniform(0.2, 0.8),
        }
    )


def _slow_phases(chance: Random) -> DutModel:
    shortest = chance.uniform(1.0, 4.0)
    return SlowPhases(
        **_basics(chance),
        slow=chance.uniform(0.6, 0.95),
        share=chance.uniform(0.02, 0.1),
        shortest=shortest,
        longest=shortest * chance.uniform(2.0, 10.0),
    )


def _thermal(chance: Random) -> DutModel:
    hot = chance.uniform(0.8, 0.95)
    # From idle to hot at capacity in five to twenty minutes.
    heating = chance.uniform(300.0, 1200.0) / -math.log(1.0 - hot)
    return ThermalThrottling(
        **_basics(chance),
        heating=heating,
        hot=hot,
        cool=hot - chance.uniform(0.05, 0.3),
        throttled=hot - chance.uniform(0.05, 0.25),
    )


def _garbage_collector(chance: Random) -> DutModel:
    basics = GarbageCollector.model_validate(_basics(chance))
    return basics.model_copy(
        update={
            "period": chance.uniform(5.0, 30.0),
            "length": basics.buffer / basics.capacity * chance.uniform(0.6, 1.5),
            "length_deviation": chance.uniform(0.1, 0.3),
            "growth": chance.uniform(0.5, 2.0),
        }
    )


def _link_flaps(chance: Random) -> DutModel:
    return LinkFlaps(
        **_basics(chance),
        period=_log_uniform(chance, 3600.0, 21_600.0),
        outage=chance.uniform(600.0, 3600.0),
        share=chance.uniform(0.02, 0.08),
    )


def _loss_floor(chance: Random) -> DutModel:
    return RandomLoss(
        **_basics(chance), loss=_log_uniform(chance, 1e-7, 1e-6), run=chance.uniform(1.0, 3.0)
    )


def _hysteresis(chance: Random) -> DutModel:
    collapsed = chance.uniform(0.4, 0.85)
    return Hysteresis(
        **_basics(chance),
        collapsed=collapsed,
        release=collapsed * chance.uniform(0.3, 0.95),
        recovery=_log_uniform(chance, 3.0, 120.0),
    )


def _steps(chance: Random) -> DutModel:
    """One step, once, or several."""
    return CapacitySteps(
        **_basics(chance),
        first=_log_uniform(chance, 120.0, 5400.0),
        every=_log_uniform(chance, 300.0, 2400.0),
        count=chance.choice((1, 1, 2, 3, 4)),
        size=chance.uniform(0.02, 0.1),
        idle=_log_uniform(chance, 0.5, 600.0),
    )


def _noisy_neighbour(chance: Random) -> DutModel:
    basics = NoisyNeighbour.model_validate(_basics(chance))
    return basics.model_copy(
        update={
            "taken": chance.uniform(0.3, 0.9),
            "period": _log_uniform(chance, 2.0, 20.0),
            "length": basics.buffer / basics.capacity * chance.uniform(0.8, 3.0),
            "length_deviation": chance.uniform(0.1, 0.4),
            "there": _log_uniform(chance, 30.0, 600.0),
            "gone": _log_uniform(chance, 60.0, 1800.0),
        }
    )


def _diurnal(chance: Random) -> DutModel:
    return Diurnal(
        **_basics(chance),
        period=_log_uniform(chance, 2 * 3600.0, 24 * 3600.0),
        depth=chance.uniform(0.03, 0.25),
    )


def _changing_buffer(chance: Random) -> DutModel:
    basics = ChangingBuffer.model_validate(_basics(chance))
    return basics.model_copy(
        update={
            "small": chance.uniform(0.25, 0.75),
            "narrow": _log_uniform(chance, 60.0, 1200.0),
            "wide": _log_uniform(chance, 300.0, 3600.0),
            "period": _log_uniform(chance, 5.0, 30.0),
            "length": basics.buffer / basics.capacity * chance.uniform(0.2, 0.6),
            "length_deviation": chance.uniform(0.1, 0.3),
        }
    )


def _stall_tails(chance: Random) -> DutModel:
    """Stalls of any timing and tail, random or by the clock."""
    basics = RareStalls.model_validate(_basics(chance))
    distribution = chance.choice(("fixed", "exponential", "lognormal"))
    # An exponential has its longest of thousands at eight times the mean.
    share = chance.uniform(0.05, 0.25) if distribution == "exponential" else None
    return basics.model_copy(
        update={
            "timing": chance.choice(("regular", "random")),
            "period": _log_uniform(chance, 2.0, 60.0),
            "distribution": distribution,
            "length": basics.buffer / basics.capacity * (share or chance.uniform(0.3, 1.2)),
            "length_deviation": chance.uniform(0.1, 0.4),
        }
    )


def _drifting(chance: Random) -> DutModel:
    return Drift(
        **_basics(chance),
        depth=chance.uniform(0.02, 0.25),
        tiring=_log_uniform(chance, 120.0, 7200.0),
        recovery=_log_uniform(chance, 60.0, 3600.0),
    )


def _rekeying(chance: Random) -> DutModel:
    basics = Rekeying.model_validate(_basics(chance))
    left = chance.uniform(0.5, 0.95)
    # In times that fill the buffer at capacity, so that some are bridged and most are not.
    longest = basics.buffer / basics.capacity / (1.0 - left) * chance.uniform(0.7, 5.0)
    return basics.model_copy(
        update={
            "period": _log_uniform(chance, 60.0, 1800.0),
            "longest": longest,
            "shortest": longest * chance.uniform(0.3, 0.9),
            "left": left,
        }
    )


def _any_limit(chance: Random) -> float:
    return _log_uniform(chance, 1e-6, 1e-3)


def _clock_sweeps(chance: Random) -> DutModel:
    """Away for 3 to 9 ms every 37 s, whatever the buffer holds."""
    return Housekeeping(**_basics(chance), period=37.0, shortest=3e-3, longest=9e-3)


def _growing_pauses(chance: Random) -> DutModel:
    """Of pauses that overflow the buffer at capacity, most of them."""
    basics = GarbageCollector.model_validate(_basics(chance))
    return basics.model_copy(
        update={
            "period": _log_uniform(chance, 3.0, 60.0),
            "length": basics.buffer / basics.capacity * chance.uniform(1.2, 3.0),
            "length_deviation": chance.uniform(0.1, 0.4),
            "growth": chance.uniform(0.5, 2.0),
        }
    )


def _uniform_stalls(chance: Random, period_s: float, longest: float) -> DutModel:
    """`longest` is in buffers at capacity."""
    basics = RareStalls.model_validate(_basics(chance))
    spread = chance.uniform(0.2, 0.9)
    return basics.model_copy(
        update={
            "timing": chance.choice(("regular", "random")),
            "period": period_s,
            "distribution": "uniform",
            "length": basics.buffer / basics.capacity * longest / (1.0 + spread),
            "length_deviation": spread,
        }
    )


def _bounded_stalls(chance: Random) -> DutModel:
    return _uniform_stalls(chance, _log_uniform(chance, 2.0, 60.0), chance.uniform(1.3, 4.0))


def _dense_stalls(chance: Random) -> DutModel:
    """So many that near the capacity the queue of one is not gone when the next comes."""
    return _uniform_stalls(chance, _log_uniform(chance, 0.2, 1.0), chance.uniform(0.8, 2.0))


def _heavy_tails(chance: Random) -> DutModel:
    basics = RareStalls.model_validate(_basics(chance))
    return basics.model_copy(
        update={
            "period": _log_uniform(chance, 2.0, 30.0),
            "distribution": "pareto",
            "length": basics.buffer / basics.capacity * chance.uniform(0.2, 0.8),
            "length_deviation": chance.uniform(0.1, 0.35),
        }
    )


def _lossy_phases(chance: Random) -> DutModel:
    shortest = chance.uniform(1.0, 4.0)
    return SlowPhases(
        **_basics(chance),
        slow=chance.uniform(0.7, 0.95),
        share=_log_uniform(chance, 0.002, 0.03),
        shortest=shortest,
        longest=shortest * chance.uniform(2.0, 6.0),
    )


def _lossy_floor(chance: Random) -> DutModel:
    return RandomLoss(
        **_basics(chance), loss=_log_uniform(chance, 5e-8, 5e-7), run=chance.uniform(1.0, 3.0)
    )


FAMILIES: Mapping[str, Family] = MappingProxyType(
    {
        "periodic": Family(_housekeeping),
        "markov-modulated": Family(_slow_phases),
        "thermal": Family(_thermal),
        "load-dependent": Family(_garbage_collector),
        "link-flaps": Family(_link_flaps),
        # No load is free of loss; the limit is the seed methodology's 0.002 %.
        "loss-floor": Family(_loss_floor, limit=2e-5),
        "hysteresis": Family(_hysteresis),
        "steps": Family(_steps),
        "noisy-neighbour": Family(_noisy_neighbour),
        "diurnal": Family(_diurnal),
        "buffer-changes": Family(_changing_buffer),
        "stall-tails": Family(_stall_tails),
        "drifting": Family(_drifting),
        "rekeying": Family(_rekeying),
        "clock-sweeps": Family(_clock_sweeps, limit=2e-5),
        "growing-pauses": Family(_growing_pauses, draw_limit=_any_limit),
        "bounded-stalls": Family(_bounded_stalls, draw_limit=_any_limit),
        "dense-stalls": Family(_dense_stalls, draw_limit=_any_limit),
        "heavy-tails": Family(_heavy_tails, draw_limit=_any_limit),
        "lossy-phases": Family(_lossy_phases, draw_limit=_any_limit),
        "lossy-floor": Family(_lossy_floor, draw_limit=_any_limit),
    }
)


def families(choice: FamilyChoice) -> Mapping[str, Family]:
    """Those to tune on, those that are held out, the same with loss allowed, or all."""
    chosen = {
        "tuning": FAMILIES.keys() - HELD_OUT - HELD_OUT_LAST - HELD_OUT_LOSSY,
        "held-out": HELD_OUT | HELD_OUT_LAST,
        "lossy": HELD_OUT_LOSSY,
        "all": FAMILIES.keys(),
    }[choice]
    return {name: family for name, family in FAMILIES.items() if name in chosen}
