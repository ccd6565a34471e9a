"""One row of the metrics of a run, as Parquet holds it (docs/metrics.md)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class MetricRow:
    """A value over [begin_ms, end_ms) since the epoch. `names` are its breakout dimensions.

    `monotonic_ms` is the end on the CLOCK_MONOTONIC of the host that measured it. `count`
    is the whole number behind the value of a counted metric, None for others.
    """

    period: str
    source: str
    type: str
    metric_class: str
    unit: str
    aggregation: str
    names: Mapping[str, str]
    begin_ms: int
    end_ms: int
    monotonic_ms: int
    count: int | None
    value: float
