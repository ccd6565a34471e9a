"""How long a simulated DUT is away each time."""

from __future__ import annotations

import math
from dataclasses import dataclass
from random import Random
from typing import Literal, Self

from ....text.errors import mistake

LengthDistribution = Literal["fixed", "exponential", "lognormal", "uniform", "pareto"]

_SQRT_2 = math.sqrt(2.0)


@dataclass(frozen=True, slots=True)
class StallLength:
    """A distribution of lengths in s.

    `length_s` is every length of a fixed one, the mean of an exponential and the median of
    a log-normal, whose logarithm has the standard deviation `deviation`. A uniform one lies
    between `length_s` less and more by its share `deviation`, which is at most 1. `length_s` is
    the mean of a generalised Pareto distribution of the shape `deviation`, below 0.5.
    """

    distribution: LengthDistribution
    length_s: float
    deviation: float

    @classmethod
    def between(cls, shortest_s: float, longest_s: float) -> Self:
        """Every length from the shortest to the longest is as likely."""
        if shortest_s == longest_s:
            return cls("fixed", shortest_s, 0.0)
        middle_s = (shortest_s + longest_s) / 2.0
        return cls("uniform", middle_s, (longest_s - middle_s) / middle_s)

    def drawn(self, chance: Random) -> float:
        """One length."""
        match self.distribution:
            case "fixed":
                return self.length_s
            case "exponential":
                return chance.expovariate(1.0 / self.length_s)
            case "lognormal":
                return chance.lognormvariate(math.log(self.length_s), self.deviation)
            case "uniform":
                return chance.uniform(*self._ends_s)
            case "pareto":
                beyond = 1.0 - chance.random()
                return self._scale_s / self.deviation * (math.pow(beyond, -self.deviation) - 1.0)

    @property
    def mean_s(self) -> float:
        """The mean length."""
        if self.distribution == "lognormal":
            return self.length_s * math.exp(self.deviation**2 / 2.0)
        return self.length_s

    @property
    def _ends_s(self) -> tuple[float, float]:
        """Of a uniform one."""
        half_s = self.length_s * self.deviation
        return self.length_s - half_s, self.length_s + half_s

    @property
    def _scale_s(self) -> float:
        """Of a generalised Pareto distribution that begins at 0."""
        return self.length_s * (1.0 - self.deviation)

    def odds_longer(self, than_s: float) -> float:
        """The probability of a length above `than_s`."""
        if than_s <= 0.0:
            return 1.0
        match self.distribution:
            case "fixed":
                return 1.0 if self.length_s > than_s else 0.0
            case "exponential":
                return math.exp(-than_s / self.length_s)
            case "lognormal":
                return _normal_beyond(math.log(than_s / self.length_s) / self.deviation)
            case "uniform":
                shortest_s, longest_s = self._ends_s
                return min(1.0, max(0.0, longest_s - than_s) / (longest_s - shortest_s))
            case "pareto":
                inner = 1.0 + self.deviation * than_s / self._scale_s
                return math.pow(inner, -1.0 / self.deviation)

    def mean_up_to(self, most_s: float) -> float:
        """The mean of lengths of which each counts for at most `most_s`."""
        if most_s <= 0.0:
            return 0.0
        match self.distribution:
            case "fixed":
                return min(self.length_s, most_s)
            case "exponential":
                return -self.length_s * math.expm1(-most_s / self.length_s)
            case "lognormal":
                apart = math.log(most_s / self.length_s) / self.deviation
                below = 1.0 - _normal_beyond(apart - self.deviation)
                return self.mean_s * below + most_s * _normal_beyond(apart)
            case "uniform":
                shortest_s, longest_s = self._ends_s
                cut_s = min(max(most_s, shortest_s), longest_s)
                below_s = (cut_s**2 - shortest_s**2) / 2.0 / (longest_s - shortest_s)
                return below_s + min(most_s, cut_s) * self.odds_longer(cut_s)
            case "pareto":
                inner = 1.0 + self.deviation * most_s / self._scale_s
                return self.length_s * (1.0 - math.pow(inner, 1.0 - 1.0 / self.deviation))

    def mean_square_beyond(self, least_s: float) -> float:
        """The mean of the squares of what lengths have beyond `least_s`; none counts as 0."""
        least_s = max(least_s, 1e-12)
        match self.distribution:
            case "fixed":
                return max(0.0, self.length_s - least_s) ** 2
            case "exponential":
                return 2.0 * self.length_s**2 * math.exp(-least_s / self.length_s)
            case "lognormal":
                apart = math.log(least_s / self.length_s) / self.deviation
                second = self.length_s**2 * math.exp(2.0 * self.deviation**2)
                return max(
                    0.0,
                    second * _normal_beyond(apart - 2.0 * self.deviation)
                    - 2.0 * least_s * self.mean_s * _normal_beyond(apart - self.deviation)
                    + least_s**2 * _normal_beyond(apart),
                )
            case "uniform":
                shortest_s, longest_s = self._ends_s
                most_s, fewest_s = max(0.0, longest_s - least_s), max(0.0, shortest_s - least_s)
                return (most_s**3 - fewest_s**3) / 3.0 / (longest_s - shortest_s)
            case "pareto":
                # Beyond any length it is one of the same shape.
                scale_s = self._scale_s + self.deviation * least_s
                square = 2.0 * scale_s**2 / (1.0 - self.deviation) / (1.0 - 2.0 * self.deviation)
                return square * self.odds_longer(least_s)


def _normal_beyond(value: float) -> float:
    return math.erfc(value / _SQRT_2) / 2.0


def check_lengths(shortest_s: float, longest_s: float) -> None:
    """Of a model's fields `shortest` and `longest`. Raises ValueError, as validators do."""
    if shortest_s > longest_s:
        remedy = f"give at most the longest, {longest_s:g}s"
        raise mistake(f"is {shortest_s:g} s", remedy, "shortest")
