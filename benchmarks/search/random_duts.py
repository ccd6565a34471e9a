"""Random DUTs that are no more than a loss for a trial: what two MLRsearches are compared on."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random
from types import MappingProxyType

_HARDEST, _SOFTEST = 0.05, 0.95


@dataclass
class RandomDut:
    """Loses in each trial the share that `loss_of` draws for a load, `trials` so far.

    The n-th trial of one seed draws the same whatever came before.
    """

    loss_of: Callable[[float, float, Random], float]
    capacity_pps: float
    seed: int
    trials: int = 0
    elapsed_s: float = 0.0

    def lost(self, load_pps: float, duration_s: float) -> int:
        """Frames lost by one trial."""
        chance = Random(f"trial {self.seed}/{self.trials}")  # noqa: S311 - a simulation
        self.trials += 1
        self.elapsed_s += duration_s
        frames = round(load_pps * duration_s)
        share = self.loss_of(load_pps / self.capacity_pps, float(frames), chance)
        return min(frames, round(share * frames))


def random_dut(kind: str, seed: int, most_pps: float) -> RandomDut:
    """One of a kind, with a capacity anywhere in the range."""
    share = Random(f"capacity {seed}").uniform(_HARDEST, _SOFTEST)  # noqa: S311
    return RandomDut(DUT_KINDS[kind], share * most_pps, seed)


def _beyond(use: float) -> float:
    return max(0.0, 1.0 - 1.0 / use)


def _hard_limit(use: float, frames: float, chance: Random) -> float:
    return _beyond(use)


def _jitter(deviation: float) -> Callable[[float, float, Random], float]:
    def loss(use: float, frames: float, chance: Random) -> float:
        return _beyond(use / max(0.1, chance.gauss(1.0, deviation)))

    return loss


def _lossy_trials(use: float, frames: float, chance: Random) -> float:
    """Three trials of ten lose 0.1 % more."""
    return min(1.0, _beyond(use) + (1e-3 if chance.random() < 0.3 else 0.0))


def _smooth_knee(use: float, frames: float, chance: Random) -> float:
    """Of a capacity that trembles by 1 %: the mean excess of a normal distribution."""
    apart = (1.0 - use) / 0.01
    lossy = math.erfc(apart / math.sqrt(2.0)) / 2.0
    density = math.exp(-apart * apart / 2.0) / math.sqrt(2.0 * math.pi)
    return max(0.0, 0.01 * (density - apart * lossy)) / use


def _floor(share: float) -> Callable[[float, float, Random], float]:
    def loss(use: float, frames: float, chance: Random) -> float:
        mean = share * frames
        lost = round(max(0.0, chance.gauss(mean, math.sqrt(mean)))) if mean > 50.0 else 0
        if mean <= 50.0:
            product, limit = chance.random(), math.exp(-mean)
            while product > limit:
                product, lost = product * chance.random(), lost + 1
        return min(1.0, _beyond(use) + lost / frames)

    return loss


DUT_KINDS: Mapping[str, Callable[[float, float, Random], float]] = MappingProxyType(
    {
        "hard limit": _hard_limit,
        "jitter 0.05 %": _jitter(5e-4),
        "jitter 2 %": _jitter(0.02),
        "30 % of trials lossy": _lossy_trials,
        "smooth knee": _smooth_knee,
        "loss floor 1e-6": _floor(1e-6),
        "loss floor 1e-7": _floor(1e-7),
    }
)
