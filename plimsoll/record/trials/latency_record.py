"""The quantiles of a latency histogram, as they stand in every record."""

from __future__ import annotations

from typing import Self

from pydantic import BaseModel, ConfigDict, Field

from plimsoll.generator.histogram import Histogram


class LatencyRecord(BaseModel):
    """Samples in ns. `count`, min, mean and max are exact; quantiles are at most 0.78 % high.

    Everything but `count` is null without samples.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    count: int = Field(ge=0)
    min_ns: int | None
    mean_ns: float | None
    max_ns: int | None
    p50_ns: int | None
    p90_ns: int | None
    p99_ns: int | None
    p99_9_ns: int | None
    p99_99_ns: int | None

    @classmethod
    def of(cls, histogram: Histogram) -> Self:
        """The record of a histogram."""
        return cls(
            count=histogram.count,
            min_ns=histogram.min_ns,
            mean_ns=histogram.mean_ns,
            max_ns=histogram.max_ns,
            p50_ns=histogram.quantile_ns(0.5),
            p90_ns=histogram.quantile_ns(0.9),
            p99_ns=histogram.quantile_ns(0.99),
            p99_9_ns=histogram.quantile_ns(0.999),
            p99_99_ns=histogram.quantile_ns(0.9999),
        )
