"""Dips of a throughput, and which of them fell together with churn.

Which dips fell together with churn, and how many would have by chance alone. Chance: the churn's
intervals keep their lengths and distances, and are shifted together, all the way round, over the
time of the cell (a circular shift). What the dips have in common with the churn on average over
all shifts is what they would have in common with something that does not concern them; the share
of shifts that match at least as many is the p-value.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from plimsoll.churn.results.churn_result import Dip, Match

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


_MAX_SHIFTS = 1000


def match(dips: Sequence[Dip], churn: Sequence[TimeSpan], whole: TimeSpan, lag_s: float) -> Match:
    """Match dips with churn: a dip counts where it touches an interval or begins `lag_s` after.

    All dips and intervals lie within `whole`.
    """
    spans = _extended(churn, whole, lag_s)
    matched = sum(_touches(span_of(dip), spans) for dip in dips)
    if not dips or not spans:
        return Match(dips=len(dips), matched=matched, chance=None, p=None)
    counts = [
        sum(_touches(span_of(dip), shifted) for dip in dips)
        for shifted in (_shifted(spans, whole, shift_s) for shift_s in _shifts(whole))
    ]
    return Match(
        dips=len(dips),
        matched=matched,
        chance=sum(counts) / len(counts) / len(dips),
        p=sum(n >= matched for n in counts) / len(counts),
    )


def matched_event(dip: Dip, churn: Sequence[TimeSpan], lag_s: float) -> int | None:
    """The place of the interval that a dip has most in common with; None where with none."""
    ends = [TimeSpan(each.begin_s, each.end_s + lag_s) for each in churn]
    common = [span_of(dip).overlap_s(each) for each in ends]
    best = max(range(len(common)), key=common.__getitem__, default=None)
    return None if best is None or common[best] <= 0 else best


def _extended(churn: Sequence[TimeSpan], whole: TimeSpan, lag_s: float) -> list[TimeSpan]:
    return [TimeSpan(each.begin_s, min(each.end_s + lag_s, whole.end_s)) for each in churn]


def _shifts(whole: TimeSpan) -> list[float]:
    """Every second or finer, and not finer than is of use; 0 among them."""
    steps = min(_MAX_SHIFTS, max(100, round(whole.length_s)))
    return [whole.length_s * step / steps for step in range(steps)]


def _shifted(spans: Sequence[TimeSpan], whole: TimeSpan, shift_s: float) -> list[TimeSpan]:
    """What runs out at the end comes in again at the beginning."""
    moved: list[TimeSpan] = []
    for span in spans:
        begin_s = whole.begin_s + (span.begin_s - whole.begin_s + shift_s) % whole.length_s
        end_s = begin_s + span.length_s
        moved.append(TimeSpan(begin_s, min(end_s, whole.end_s)))
        if end_s > whole.end_s:
            moved.append(TimeSpan(whole.begin_s, whole.begin_s + end_s - whole.end_s))
    return moved


def _touches(dip: TimeSpan, spans: Sequence[TimeSpan]) -> bool:
    return any(dip.overlap_s(span) > 0 for span in spans)
