"""Whether a soak ended as it began: rate and latency, first against last."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations
from statistics import median
from typing import Literal

from plimsoll.methods.soak.result import SeriesDrift
from plimsoll.methods.soak.series import P50, P99, RX, SoakSeries
from plimsoll.text.units import format_duration, format_ns, format_pps, format_ratio

TYPES = (RX, P50, P99)
# 19,900 pairs: some 20 ms.
POINTS = 200
_LEAST_POINTS = 8
# Of a soak that is too short for hours.
_SHARES = 8
_HOUR_S = 3600.0
_KINDS: dict[str, Literal["rate", "p50", "p99"]] = {RX: "rate", P50: "p50", P99: "p99"}
# Two-sided 95 % of the normal distribution.
_Z_95 = 1.96
# Quantiles are known to 0.78 % (the histogram's buckets); counted frames are exact, and a
# second's count moves by a few as the second's end falls.
_RESOLUTION = {"rate": 0.001, "p50": 0.01, "p99": 0.01}


def drifts_of(series: Sequence[SoakSeries]) -> tuple[SeriesDrift, ...]:
    """The drift of each series that is long enough to tell."""
    drifts = (_drift(each) for each in series if each.type in _KINDS)
    return tuple(each for each in drifts if each is not None)


def _drift(series: SoakSeries) -> SeriesDrift | None:
    points = [(each.at_s, each.median) for each in series.stretches]
    if len(points) < _LEAST_POINTS:
        return None
    kind = _KINDS[series.type]
    length_s = points[-1][0] - points[0][0]
    # The first against the last hour; of a shorter soak, against the last eighth.
    span_s = min(_HOUR_S, length_s / _SHARES)
    first = median(value for at_s, value in points if at_s <= points[0][0] + span_s)
    last = median(value for at_s, value in points if at_s >= points[-1][0] - span_s)
    slope, low, high = (each * _HOUR_S for each in _theil_sen_95(points))
    moved = abs(last - first) > _RESOLUTION[kind] * abs(first)
    drift = SeriesDrift(
        of=series.of,
        kind=kind,
        unit="pps" if kind == "rate" else "us",
        span_s=span_s,
        first=first,
        last=last,
        slope_per_hour=slope,
        slope_low=low,
        slope_high=high,
        drifts=(low > 0 or high < 0) and moved,
        text="",
    )
    return drift.model_copy(update={"text": _text(drift)})


def _theil_sen_95(points: Sequence[tuple[float, float]]) -> tuple[float, float, float]:
    """The median slope of all pairs, per s, and its 95 % interval (Sen 1968, by Kendall)."""
    # Two trials may meet in one stretch, and have no slope between them.
    slopes = sorted(
        (y2 - y1) / (x2 - x1) for (x1, y1), (x2, y2) in combinations(points, 2) if x1 != x2
    )
    count, pairs = len(points), len(slopes)
    spread = _Z_95 * math.sqrt(count * (count - 1) * (2 * count + 5) / 18)
    # The slope below which so many lie, rounded outwards, and its counterpart from above.
    low = max(0, math.floor((pairs - spread) / 2) - 1)
    return median(slopes), slopes[low], slopes[pairs - 1 - low]


def _text(drift: SeriesDrift) -> str:
    kind, span = drift.kind, format_duration(drift.span_s)
    what = f"received rate of {drift.of}" if kind == "rate" else f"{kind} latency of {drift.of}"
    first, last = _value(kind, drift.first), _value(kind, drift.last)
    if not drift.drifts:
        return f"The {what} did not drift: {first} in the first {span}, {last} in the last."
    way = "rose" if drift.last > drift.first else "fell"
    by = format_ratio(abs(drift.last - drift.first) / drift.first) if drift.first else "all of it"
    text = f"The {what} {way} from {first} in the first {span} to {last} in the last, by {by}"
    if drift.span_s * _SHARES < _HOUR_S:
        # Too short to extrapolate to an hour.
        return f"{text}."
    return f"{text}; {_value(kind, abs(drift.slope_per_hour))} an hour."


def _value(kind: str, value: float) -> str:
    return format_pps(value) if kind == "rate" else format_ns(value * 1e3)
