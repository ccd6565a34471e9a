"""The log axis of latencies and lengths: ticks where people read, room around the values."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt

# A value of zero has no place on a log axis; it is drawn at 1 ns.
LEAST_US = 0.001
_DECADES = range(-6, 9)
_MARGIN = 1.15
# Over more than two decades the ticks at 2 and 5 would crowd the axis.
_MANY_DECADES = 100


def log_axis(field: str, title: str, values: Sequence[float]) -> alt.Y:
    """A log axis over these values, which are above zero."""
    domain = [min(values) / _MARGIN, max(values) * _MARGIN]
    digits = (1,) if domain[1] / domain[0] > _MANY_DECADES else (1, 2, 5)
    ticks = [float(f"{digit}e{power}") for power in _DECADES for digit in digits]
    return alt.Y(
        f"{field}:Q",
        title=title,
        scale=alt.Scale(type="log", domain=domain, nice=False),
        axis=alt.Axis(values=ticks, format="~g"),
    )
