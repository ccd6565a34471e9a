"""What is said of gaps between frames. All times in ns."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import pairwise
from math import exp


def percent_within(gaps: Sequence[float], ideal: float, distances: Sequence[float]) -> list[float]:
    """The share of gaps that are off the ideal one by at most each of the distances."""
    ascending = sorted(gaps)
    return [
        100
        * (bisect_right(ascending, ideal + distance) - bisect_left(ascending, ideal - distance))
        / len(ascending)
        for distance in distances
    ]


def gaps_between_bursts(gaps: Sequence[float], ideal: float) -> list[float]:
    """From the first frame of a burst to that of the next, bursts being `ideal` apart.

    A gap of more than half of that begins a burst: those within one are far shorter.
    """
    starts = [0.0]
    at = 0.0
    for gap in gaps:
        at += gap
        if gap > ideal / 2:
            starts.append(at)
    # The first one's start may have been missed.
    return [after - before for before, after in pairwise(starts[1:])]


def distance_from_exponential(gaps: Sequence[float], mean: float) -> float:
    """Kolmogorov and Smirnov's D: the most that two distributions' functions differ.

    Of gaps that truly are exponential, 95 % of all samples of n have less than
    1.36 / sqrt(n).
    """
    ascending = sorted(gaps)
    count = len(ascending)
    distance = 0.0
    for number, gap in enumerate(ascending):
        expected = 1 - exp(-gap / mean)
        distance = max(distance, expected - number / count, (number + 1) / count - expected)
    return distance
