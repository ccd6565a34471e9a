"""The log axis of latencies and lengths: ticks where people read, room around the values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt

# A value of zero has no place on a log axis; it is drawn at 1 ns.
LEAST_US = 0.001
_DECADES = range(-6, 13)
_MARGIN = 1.15


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
