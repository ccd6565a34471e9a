"""Intervals whose losses are final, so that a trial can be cut into windows."""

from __future__ import annotations

from dataclasses import replace

from plimsoll.generator.interface import Interval, StreamCounts
from plimsoll.traffic.plan import StreamPlan
from plimsoll.trial.judging.silence import Silence


class SettledIntervals:
    """Hands each interval on when the next has come, with `missing` as that one leaves it.

    Frames out of order leave gaps for a moment, and those that late frames fill are taken
    back from the interval before. Frames that have had an interval to come back in while
    nothing at all did are missing at once, not only when a later frame shows the gap.
    """

    def __init__(self, streams: tuple[StreamPlan, ...]) -> None:
        self._silences = {plan.stream: _StreamSilence() for plan in streams}
        self._held: Interval | None = None

    def add(self, interval: Interval) -> Interval | None:
        """Take the next interval and return the one before; None for the first."""
        seen = replace(
            interval,
            streams=tuple(self._silences[each.stream].seen(each) for each in interval.streams),
        )
        if self._held is None:
            self._held = seen
            return None
        settled, self._held = _taken_back(self._held, seen)
        return settled

    def last(self) -> Interval | None:
        """The interval that is left when no more come."""
        held, self._held = self._held, None
        return held


class _StreamSilence:
    """Counts a stream's silent frames as missing, and not again when the gap shows."""

    def __init__(self) -> None:
        self._silence = Silence()

    def seen(self, counts: StreamCounts) -> StreamCounts:
        before = self._silence.frames
        self._silence.add(counts)
        return replace(counts, missing=counts.missing + self._silence.frames - before)


def _taken_back(held: Interval, seen: Interval) -> tuple[Interval, Interval]:
    """Both, with what is less than nothing in the second taken from the first."""
    filled = {each.stream: min(0, each.missing) for each in seen.streams}
    taken = {each.stream: -min(max(0, each.missing), -filled[each.stream]) for each in held.streams}
    return (
        replace(held, streams=tuple(_changed(each, taken[each.stream]) for each in held.streams)),
        replace(seen, streams=tuple(_changed(each, -taken[each.stream]) for each in seen.streams)),
    )


def _changed(counts: StreamCounts, missing: int) -> StreamCounts:
    return replace(counts, missing=counts.missing + missing) if missing else counts
