"""The quantiles of a latency histogram, as they stand in every record."""

from __future__ import annotations

from typing import Self

from pydantic import BaseModel, ConfigDict, Field

from plimsoll.generator.histogram import Histogram


class LatencyRecord(BaseModel):
    """Samples in ns. Count, min, mean and max are exact; quantiles are at most 0.78 % high."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    count: int = Field(ge=0, description="Samples: received frames that are in the figures.")
    min_ns: int | None = Field(description="Least latency, in ns, exact; null without samples.")
    mean_ns: float | None = Field(description="Mean latency, in ns, exact; null without samples.")
    max_ns: int | None = Field(description="Greatest latency, in ns, exact; null without samples.")
    p50_ns: int | None = Field(
        description="Median latency, in ns, at most 0.78 % high; null without samples."
    )
    p90_ns: int | None = Field(
        description="90th percentile, in ns, at most 0.78 % high; null without samples."
    )
    p99_ns: int | None = Field(
        description="99th percentile, in ns, at most 0.78 % high; null without samples."
    )
    p99_9_ns: int | None = Field(
        description="99.9th percentile, in ns, at most 0.78 % high; null without samples."
    )
    p99_99_ns: int | None = Field(
        description="99.99th percentile, in ns, at most 0.78 % high; null without samples."
    )

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
