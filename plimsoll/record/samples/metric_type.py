"""What a metric is: where it comes from, its unit, and how it is drawn together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

MetricClass = Literal["throughput", "count", "pass/fail"]
# How the series of one type become one.
Aggregation = Literal["sum", "mean", "max", "min"]


@dataclass(frozen=True, slots=True)
class MetricType:
    """One type of metric; `source` and `type` together are its name.

    `metric_class` is as in Crucible's Common Data Model. A `counted` metric is written as a
    whole number for each time range, and its value is that number times `scale` a second.
    A `carried` one is written when it changes: left out of a time range it stays as it was,
    or is 0 where it is counted.
    """

    source: str
    type: str
    metric_class: MetricClass
    unit: str
    aggregation: Aggregation
    counted: bool = False
    carried: bool = False
    scale: float = 1.0


# One value of a metric before it has a time.
@dataclass(frozen=True, slots=True)
class MetricSample:
    """`names` are its breakout dimensions; a counted metric's value is the number counted."""

    metric: MetricType
    names: Mapping[str, str]
    value: float
