"""Shares as whole percentages that add up to 100."""

from __future__ import annotations

import math
from collections.abc import Sequence


def whole_percents(shares: Sequence[float]) -> list[int]:
    """Of shares of one whole, each rounded up or down so that the sum is 100.

    By the largest remainders. Shares that are all zero stay so.
    """
    total = math.fsum(shares)
    if total <= 0:
        return [0] * len(shares)
    exact = [share / total * 100 for share in shares]
    percents = [math.floor(each) for each in exact]
    by_remainder = sorted(range(len(exact)), key=lambda n: percents[n] - exact[n])
    for place in by_remainder[: 100 - sum(percents)]:
        percents[place] += 1
    return percents
