"""What becomes of a series' values over time, where a question does not say otherwise.

A row of the record stands for an interval, by default a second. Most values are rates and
means, of which the mean weighted by time is that of a longer time. A greatest value is not:
the greatest of a minute is the greatest of its seconds. A quantile of a minute cannot be had
from those of its seconds at all, only from the samples.
"""

from __future__ import annotations

import re
from typing import Literal

from plimsoll.record.samples.metric_type import Aggregation

# What a question may ask for.
OverTime = Literal["mean", "max", "min", "total"]
# What an answer may be: of quantiles also the quantile of all samples together.
Reduction = Literal["mean", "max", "min", "total", "quantile"]

_QUANTILE = re.compile(r"p(\d{1,2}(?:\.\d{1,6})?)-.+")


def own_reduction(kind: str, aggregation: Aggregation, *, counted: bool) -> Reduction:
    """That of a type of metric.

    What is counted is a rate: its mean over time is the rate of the longer time, also where
    `aggregation` is max because one series contains another, as cgroups do.
    """
    if quantile_of(kind) is not None:
        return "quantile"
    if counted or aggregation not in ("max", "min"):
        return "mean"
    return aggregation


def quantile_of(kind: str) -> float | None:
    """0.999 of p99.9-round-trip-usec; None of a type that is not a quantile."""
    found = _QUANTILE.fullmatch(kind)
    # Read as 99.9e-2, which is 0.999: 99.9 / 100 is a little more, and a rank further.
    return None if found is None else float(f"{found[1]}e-2")
