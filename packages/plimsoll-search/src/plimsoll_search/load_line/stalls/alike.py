"""Whether two sets of lengths may have come from one distribution (Kolmogorov and Smirnov)."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence

# sqrt(-ln(0.01 / 2) / 2), for large samples: of sets that are alike, one pair in a hundred is
# taken to differ.
_CRITICAL = 1.628


def alike(first: Sequence[float], second: Sequence[float]) -> bool:
    """Whether they do not differ at the 1 % level; neither may be empty."""
    one, other = sorted(first), sorted(second)
    apart = max(
        abs(bisect_right(one, at) / len(one) - bisect_right(other, at) / len(other))
        for at in (*one, *other)
    )
    return apart <= _CRITICAL * math.sqrt(1 / len(one) + 1 / len(other))
