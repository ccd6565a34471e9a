"""One value of a metric before it has a period and a time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class MetricSample:
    """`names` are its breakout dimensions; the unit is in the type's name."""

    source: str
    type: str
    metric_class: str
    names: Mapping[str, str]
    value: float
