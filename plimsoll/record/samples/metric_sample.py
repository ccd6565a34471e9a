"""One value of a metric before it has a time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from plimsoll.record.samples.metric_type import MetricType


@dataclass(frozen=True, slots=True)
class MetricSample:
    """`names` are its breakout dimensions; a counted metric's value is the number counted."""

    metric: MetricType
    names: Mapping[str, str]
    value: float
