"""How a trial went over time: when it lost frames, and how steadily they came back.

The rate of a second is the share that came of what was offered in it. Each measure can
be taken as it is, or `discounted`: at the least that it may be when the tester's stalls moved
frames from one second into the next.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from statistics import fmean, pstdev

from plimsoll.search.evidence.trial_evidence import LossSample
from plimsoll.trial.outcome.outcome import Outcome
from plimsoll.trial.outcome.series import TrialSeries

# The tester wakes up a little late at an interval's end, so the next one is a little short.
A_SECOND = 0.95


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


# What came back of what was offered, second by second.
@dataclass(frozen=True, slots=True)
class RxSecond:
    """One whole second of sending, or one interval where those are longer.

    `came` are the frames that came back, with those that a stall of the tester lost. The
    tester's stalls about its begin and its end may have moved so many frames into or out
    of the neighbouring second.
    """

    length_s: float
    offered: int
    came: int
    moved_at_begin: float
    moved_at_end: float


def rx_seconds(outcome: Outcome, streams: Collection[int]) -> list[RxSecond]:
    """The whole seconds of these streams together, in order.

    Left out are the first interval, in which the first frames are still under way, and
    what is left at the end when no more seconds are whole.
    """
    series = outcome.series
    seconds: list[RxSecond] = []
    first = 1
    for index in range(1, sum(series.sending)):
        if series.end_s[index] - series.begin_s[first] >= A_SECOND:
            seconds.append(_second(series, streams, first, index))
            first = index + 1
    return seconds


def _second(series: TrialSeries, streams: Collection[int], first: int, last: int) -> RxSecond:
    """The intervals from `first` to `last` as one."""
    span = slice(first, last + 1)
    columns = [series.streams[stream] for stream in streams]
    offered = sum(sum(column.offered[span]) for column in columns)
    excused = sum(sum(column.lost[span]) - sum(column.unexcused[span]) for column in columns)
    length_s = series.end_s[last] - series.begin_s[first]
    return RxSecond(
        length_s=length_s,
        offered=offered,
        came=sum(sum(column.received[span]) for column in columns) + excused,
        moved_at_begin=_stall_about_s(series, first) * offered / length_s,
        moved_at_end=_stall_about_s(series, last + 1) * offered / length_s,
    )


def _stall_about_s(series: TrialSeries, index: int) -> float:
    """The longest stall that may have lain across the start of an interval.

    It is counted in the interval before or in this one, whichever it ended in.
    """
    return max(series.worst_stall_ns[index - 1 : index + 1]) / 1e9


def loss_times(outcome: Outcome) -> list[LossSample]:
    """The sending intervals in which frames were lost that no stall explains, by time."""
    series = outcome.series
    unexcused = outcome.unexcused_losses()
    lost = array("q", bytes(8 * len(series)))
    for stream, frames in unexcused.items():
        for index, count in enumerate(losses_by_interval(outcome, stream, frames)):
            lost[index] += count
    return [
        LossSample(begin_s=begin_s, end_s=end_s, frames=frames)
        for begin_s, end_s, frames in zip(series.begin_s, series.end_s, lost, strict=True)
        if frames > 0
    ]


def losses_by_interval(outcome: Outcome, stream: int, frames: int) -> array[int]:
    """The losses of one stream, `frames` in all, where they belong.

    Gaps that late frames filled are taken back from the intervals before. What the drain
    saw was sent before it. Frames lost after the last that came back leave no gap: they
    are the last that were offered.
    """
    series, column = outcome.series, outcome.series.streams[stream]
    silent = max(0, frames - sum(column.unexcused))
    lost = array("q", column.unexcused)
    carried = 0
    for index in range(len(lost) - 1, -1, -1):
        offered_here = min(silent, column.offered[index])
        silent -= offered_here
        here = lost[index] + carried + offered_here
        carried = here if here < 0 or not series.sending[index] else 0
        lost[index] = here - carried
    return lost
