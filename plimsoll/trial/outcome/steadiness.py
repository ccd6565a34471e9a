"""How much the rate at which frames come back varies.

The rate of a second is the share that came of what was offered in it. Each measure can
be taken as it is, or `discounted`: at the least that it may be when the tester's stalls moved
frames from one second into the next.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate
from statistics import fmean, pstdev

from plimsoll.trial.outcome.rx_seconds import A_SECOND, RxSecond


def deviation(seconds: Sequence[RxSecond], *, discounted: bool) -> float:
    """The relative standard deviation. Something must have been offered in each second."""
    shares = [each.came / each.offered for each in seconds]
    mean = fmean(shares)
    if discounted:
        moved = ((each.moved_at_begin + each.moved_at_end) / each.offered for each in seconds)
        shares = [
            mean + _beyond(share - mean, explained)
            for share, explained in zip(shares, moved, strict=True)
        ]
    return pstdev(shares, mean) / mean


def worst_window(seconds: Sequence[RxSecond], *, window_s: float, discounted: bool) -> float:
    """How far the mean of any window strays from the mean of all, relative to it.

    Windows are of whole seconds, and exactly as long as requested.
    """
    came = list(accumulate((each.came for each in seconds), initial=0))
    offered = list(accumulate((each.offered for each in seconds), initial=0))
    mean, worst = came[-1] / offered[-1], 0.0
    for first, end in _windows(seconds, window_s):
        of = offered[end] - offered[first]
        strayed = (came[end] - came[first]) / of - mean
        if discounted:
            moved = seconds[first].moved_at_begin + seconds[end - 1].moved_at_end
            strayed = _beyond(strayed, moved / of)
        worst = max(worst, abs(strayed) / mean)
    return worst


def _windows(seconds: Sequence[RxSecond], window_s: float) -> Iterator[tuple[int, int]]:
    """For each second that a window can end with, the window's first second, and the end."""
    # As much shorter as a second may be.
    enough_s = window_s * A_SECOND
    length_s, first = 0.0, 0
    for end, second in enumerate(seconds, start=1):
        length_s += second.length_s
        while length_s - seconds[first].length_s >= enough_s:
            length_s -= seconds[first].length_s
            first += 1
        if length_s >= enough_s:
            yield first, end


def _beyond(strayed: float, explained: float) -> float:
    """What is left of a deviation when so much of it is explained."""
    return max(0.0, strayed - explained) if strayed > 0 else min(0.0, strayed + explained)
