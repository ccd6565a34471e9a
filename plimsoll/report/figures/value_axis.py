"""The axis of a figure of runs: a unit that suits its values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt

from plimsoll.record.trials.latency_record import LatencyRecord

# The format of linear ticks: nine digits, without zeros at the end. Left to itself, an axis over
# one value alone writes no digit after the point: "0" for 0.496.
TICKS = ".9~g"
_PREFIXES = ((1e9, "G"), (1e6, "M"), (1e3, "k"))
# Of the values' span, on either side; of equal values, of the values themselves.
_ROOM = 0.08
_TIMES = ((1e9, "s"), (1e6, "ms"), (1e3, "µs"))
# A value of zero has no place on a log axis; it is drawn at 1 ns.
MIN_US = 0.001
_DECADES = range(-6, 13)
_MARGIN = 1.15
# Dark text on every cell, whose colours are pale on light and on dark paper.
CELL_INK = "#1c2127"
_LABEL_LIMIT = 170


@dataclass(frozen=True, slots=True)
class ValueAxis:
    """`divisor` turns a value into `unit`."""

    unit: str
    divisor: float

    @classmethod
    def over(cls, values: Iterable[float], unit: str) -> ValueAxis:
        """For values in a figure's own unit, such as "pps per direction", "ns" or "ratio"."""
        most = max(map(abs, values), default=0.0)
        if unit == "ratio":
            return cls("%", 0.01)
        if unit == "ns":
            return next((cls(name, by) for by, name in _TIMES if most >= by), cls("ns", 1.0))
        rate, _, rest = unit.partition(" ")
        if rate in ("pps", "bps"):
            prefix, by = next(((p, by) for by, p in _PREFIXES if most >= by), ("", 1.0))
            return cls(f"{prefix}{rate} {rest}".strip(), by)
        return cls(unit, 1.0)

    def domain(self, values: Iterable[float]) -> list[float]:
        """From where to where an axis goes, in `unit`: with room around these values."""
        shown = [value / self.divisor for value in values]
        least, most = min(shown), max(shown)
        room = (most - least) * _ROOM or abs(most) * _ROOM or 1.0
        return [least - room, most + room]


# The log axis of latencies and lengths: ticks where people read, room around the values.
def log_axis(field: str, title: str, values: Sequence[float]) -> alt.Y:
    """A vertical log axis over these values, which are above zero."""
    return alt.Y(f"{field}:Q", title=title, **_log(values))


def log_x_axis(field: str, title: str, values: Sequence[float]) -> alt.X:
    """A horizontal log axis over these values, which are above zero."""
    return alt.X(f"{field}:Q", title=title, **_log(values))


def _log(values: Sequence[float]) -> dict[str, Any]:
    domain = [min(values) / _MARGIN, max(values) * _MARGIN]
    digits = _digits(domain[1] / domain[0])
    ticks = [float(f"{digit}e{power}") for power in _DECADES for digit in digits]
    return {
        "scale": alt.Scale(type="log", domain=domain, nice=False),
        "axis": alt.Axis(values=ticks, format="~g"),
    }


def _digits(span: float) -> tuple[int, ...]:
    """At which digits of each decade there are ticks, so that an axis has three to eight."""
    if span > 100:
        return (1,)
    return (1, 2, 5) if span > 10 else (1, 2, 3, 4, 5, 6, 8)


# The axes of a heat map of names: rows down, columns above, neither lines nor ticks.
def column_axis(field: str, names: Sequence[str], title: str | None = None) -> alt.X:
    """The columns, in this order, with their names above them."""
    return alt.X(
        f"{field}:N",
        title=title,
        sort=list(names),
        axis=alt.Axis(
            orient="top", labelLimit=_LABEL_LIMIT, labelAngle=0, domain=False, ticks=False
        ),
    )


def row_axis(field: str, names: Sequence[str], title: str | None = None) -> alt.Y:
    """The rows, in this order."""
    return alt.Y(
        f"{field}:N",
        title=title,
        sort=list(names),
        axis=alt.Axis(labelLimit=_LABEL_LIMIT, domain=False, ticks=False),
    )


CHARTED_QUANTILES = ("p50", "p99", "p99.9", "max")


def quantile_ends(ends: tuple[LatencyRecord, LatencyRecord]) -> Iterator[dict[str, object]]:
    """`quantile`, and `low` and `latency`, its ends in µs on a logarithmic axis; known ones."""
    for quantile, low_ns, high_ns in zip(CHARTED_QUANTILES, *map(_times, ends), strict=True):
        if low_ns is not None and high_ns is not None:
            yield {
                "quantile": quantile,
                "low": max(low_ns / 1e3, MIN_US),
                "latency": max(high_ns / 1e3, MIN_US),
            }


def _times(latency: LatencyRecord) -> tuple[int | None, ...]:
    return latency.p50_ns, latency.p99_ns, latency.p99_9_ns, latency.max_ns
