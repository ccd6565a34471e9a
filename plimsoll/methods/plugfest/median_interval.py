"""How well the median of a few repetitions is known: an exact interval, no distribution assumed.

The bounds are order statistics, by the binomial distribution of how many values lie below the
median (Hollander, Wolfe and Chicken, Nonparametric Statistical Methods, 3rd edition, section
3.6). Fewer than six values bound no median with 95 % confidence.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import median

CONFIDENCE = 0.95


def median_interval(values: Sequence[float]) -> tuple[float, float] | None:
    """Least and most of the median, with 95 % confidence; None of too few values."""
    ordered = sorted(values)
    rank, below = 0, 0
    for count in range(len(ordered) // 2):
        below += math.comb(len(ordered), count)
        if 2 * below > (1 - CONFIDENCE) * 2 ** len(ordered):
            break
        rank = count + 1
    return (ordered[rank - 1], ordered[-rank]) if rank else None


def is_settled(values: Sequence[float], within: float) -> bool:
    """Whether the interval is at most `within` wide, as a share of the median."""
    interval = median_interval(values)
    middle = median(values) if values else 0.0
    return interval is not None and middle > 0 and interval[1] - interval[0] <= within * middle
