"""Streams added up: their bits in equal steps of time."""

from __future__ import annotations

from collections.abc import Sequence

from plimsoll.churn.joining.dips import RateOver


def total_rates(series: Sequence[Sequence[RateOver]], step_s: float) -> tuple[RateOver, ...]:
    """The sum of several series over the time that all of them cover, in steps of `step_s`.

    Each series is in order of time. What lies in two steps counts in each by its overlap; a time
    within a series that it has no rate of counts as nothing carried.
    """
    if not series or not all(series):
        return ()
    begin_s = max(each[0].begin_s for each in series)
    end_s = min(each[-1].end_s for each in series)
    steps = int((end_s - begin_s) / step_s + 1e-9)
    bits = [0.0] * max(0, steps)
    for each in series:
        _add(bits, each, begin_s, step_s)
    return tuple(
        RateOver(begin_s + n * step_s, begin_s + (n + 1) * step_s, carried / step_s)
        for n, carried in enumerate(bits)
    )


def mean_bps(rates: Sequence[RateOver]) -> float:
    """Over all of their time. Raises ValueError without any."""
    if not rates:
        raise ValueError("no rates")
    seconds = sum(each.end_s - each.begin_s for each in rates)
    return sum(each.bps * (each.end_s - each.begin_s) for each in rates) / seconds


def within(rates: Sequence[RateOver], begin_s: float, end_s: float) -> list[RateOver]:
    """Those that lie in [begin_s, end_s) as a whole."""
    return [each for each in rates if each.begin_s >= begin_s and each.end_s <= end_s]


def _add(bits: list[float], series: Sequence[RateOver], begin_s: float, step_s: float) -> None:
    for rate in series:
        first = max(0, int((rate.begin_s - begin_s) / step_s))
        last = min(len(bits) - 1, int((rate.end_s - begin_s) / step_s))
        for place in range(first, last + 1):
            step_begin_s = begin_s + place * step_s
            overlap_s = min(rate.end_s, step_begin_s + step_s) - max(rate.begin_s, step_begin_s)
            if overlap_s > 0:
                bits[place] += rate.bps * overlap_s
