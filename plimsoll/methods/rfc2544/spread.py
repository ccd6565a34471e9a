"""What repeated measurements have in common and how far they are apart."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from plimsoll.methods.rfc2544.result import RepeatedSpread


def spread_of(values: Sequence[float]) -> RepeatedSpread | None:
    """Mean, extremes and standard deviation of the sample; None without a value."""
    if not values:
        return None
    return RepeatedSpread(
        count=len(values),
        mean=statistics.fmean(values),
        minimum=min(values),
        maximum=max(values),
        deviation=statistics.stdev(values) if len(values) > 1 else None,
    )
