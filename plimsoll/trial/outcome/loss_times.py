"""When a trial lost its frames."""

from __future__ import annotations

from array import array

from plimsoll.search.evidence.trial_evidence import LossSample
from plimsoll.trial.outcome.outcome import Outcome


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
