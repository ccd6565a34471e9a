"""Dips of a throughput: where it fell well below what it was when nothing happened."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from plimsoll.churn.results.churn_result import Dip

# Of a normal distribution the standard deviation is so many median absolute deviations.
_SIGMA_PER_MAD = 1.4826


@dataclass(frozen=True, slots=True)
class TimeSpan:
    """[begin_s, end_s) on the clock of the cell."""

    begin_s: float
    end_s: float

    @property
    def length_s(self) -> float:
        """How long it is."""
        return self.end_s - self.begin_s

    def overlap_s(self, other: TimeSpan) -> float:
        """How long both are."""
        return max(0.0, min(self.end_s, other.end_s) - max(self.begin_s, other.begin_s))


@dataclass(frozen=True, slots=True)
class RateOver:
    """A rate in bps over an interval."""

    begin_s: float
    end_s: float
    bps: float


@dataclass(frozen=True, slots=True)
class DipRule:
    """When a rate is a dip's: below the reference by `least_share` of it and by `sigmas` of noise.

    Dips that are no further than `join_s` apart are one.
    """

    least_share: float = 0.05
    sigmas: float = 4.0
    join_s: float = 1.0


@dataclass(frozen=True, slots=True)
class Reference:
    """What the rate is undisturbed: its median, and the noise around it, both in bps."""

    bps: float
    sigma_bps: float

    def threshold_bps(self, rule: DipRule) -> float:
        """Below this a rate belongs to a dip."""
        return self.bps - max(rule.least_share * self.bps, rule.sigmas * self.sigma_bps)


def span_of(dip: Dip) -> TimeSpan:
    """When it was."""
    return TimeSpan(dip.begin_s, dip.end_s)


def reference_of(undisturbed: Sequence[RateOver]) -> Reference:
    """The median and its noise, by the median absolute deviation, which a few outliers leave alone.

    Raises ValueError without rates.
    """
    values = [each.bps for each in undisturbed]
    middle = median(values)
    deviation = median(abs(value - middle) for value in values)
    return Reference(middle, _SIGMA_PER_MAD * deviation)


def find_dips(rates: Sequence[RateOver], reference: Reference, rule: DipRule) -> tuple[Dip, ...]:
    """The dips of rates that are in order of time, of no cycle yet."""
    threshold_bps = reference.threshold_bps(rule)
    return tuple(
        _dip(rates[first : last + 1], reference)
        for first, last in _runs(rates, threshold_bps, rule.join_s)
    )


def _runs(
    rates: Sequence[RateOver], threshold_bps: float, join_s: float
) -> Iterator[tuple[int, int]]:
    """First and last place of each dip; what lies between two that are joined is part of it."""
    open_run: tuple[int, int] | None = None
    for place, rate in enumerate(rates):
        if rate.bps >= threshold_bps:
            continue
        if open_run and rate.begin_s - rates[open_run[1]].end_s <= join_s:
            open_run = (open_run[0], place)
            continue
        if open_run:
            yield open_run
        open_run = (place, place)
    if open_run:
        yield open_run


def _dip(rates: Sequence[RateOver], reference: Reference) -> Dip:
    lowest = min(each.bps for each in rates)
    lost = sum((reference.bps - each.bps) * (each.end_s - each.begin_s) for each in rates)
    return Dip(
        begin_s=rates[0].begin_s,
        end_s=rates[-1].end_s,
        depth=1 - lowest / reference.bps,
        lost_bits=lost,
        cycle=None,
    )
