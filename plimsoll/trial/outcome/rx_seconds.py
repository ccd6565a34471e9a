"""What came back of what was offered, second by second."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from plimsoll.trial.outcome.outcome import Outcome
from plimsoll.trial.outcome.series import TrialSeries

# The tester wakes up a little late at an interval's end, so the next one is a little short.
A_SECOND = 0.95


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
