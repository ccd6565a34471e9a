"""A trial second by second, in columns that stay small over hours."""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from dataclasses import dataclass, field

from plimsoll.dut.lab import DrainedBy
from plimsoll.generator.interface import Interval, StreamCounts, TrialPlan
from plimsoll.generator.latency_ends import least_longest_ns
from plimsoll.trial.outcome.due_frames import StallExcuses, refused_by_dut

# Stands in a latency column where an interval has no sample.
NO_SAMPLE = -1


def _floats() -> array[float]:
    return array("d")


def _integers() -> array[int]:
    return array("q")


@dataclass(frozen=True)
class StreamSeries:
    """One stream, an entry for each interval of the trial.

    `offered` are the frames that the DUT was offered, `received` those that came back,
    duplicates left out. `lost` are gaps in the sequence and frames refused by the DUT, by
    the interval that saw them; negative where late frames fill gaps. `unexcused` are those
    that no stall of the tester explains. Latencies are of frames that no stall of the tester
    touched, NO_SAMPLE where there were none.
    """

    sent: array[int] = field(default_factory=_integers)
    offered: array[int] = field(default_factory=_integers)
    received: array[int] = field(default_factory=_integers)
    lost: array[int] = field(default_factory=_integers)
    unexcused: array[int] = field(default_factory=_integers)
    p50_ns: array[int] = field(default_factory=_integers)
    p99_ns: array[int] = field(default_factory=_integers)
    max_ns: array[int] = field(default_factory=_integers)


class TrialSeries:
    """The intervals of one trial: 25 bytes each, and 64 for each stream.

    An entry of every column belongs to the interval from `begin_s` to `end_s`, in s since
    the trial's first frame. Not `sending` are those of the drain. `worst_stall_ns` is the
    longest stall of any of the tester's loops that ended in it.
    """

    def __init__(
        self,
        plan: TrialPlan,
        drained_by: DrainedBy,
        queue_frames: int,
        after: TrialSeries | None = None,
    ) -> None:
        """Without intervals yet; `after` is that of the part of the trial before this one."""
        self.begin_s = _floats()
        self.end_s = _floats()
        self.sending: array[int] = array("b")
        self.worst_stall_ns = _integers()
        self.streams = {each.stream: StreamSeries() for each in plan.streams}
        self._drained_by = drained_by
        self._excuses = StallExcuses(plan.streams, drained_by, queue_frames)
        if after is not None:
            self._excuses.follow(after._excuses)

    def __len__(self) -> int:
        return len(self.begin_s)

    def add(self, interval: Interval) -> None:
        """Account for the next interval."""
        before = {stream: self._excuses.unexcused(stream) for stream in self.streams}
        self._excuses.add(interval)
        self.begin_s.append(interval.begin_s)
        self.end_s.append(interval.end_s)
        self.sending.append(interval.phase == "send")
        self.worst_stall_ns.append(
            max((worker.worst_stall_ns for worker in interval.workers), default=0)
        )
        for counts in interval.streams:
            self._add(counts, self._excuses.unexcused(counts.stream) - before[counts.stream])

    def unexcused_of(self, lost: Mapping[int, int]) -> dict[int, int]:
        """By stream, the frames that no stall explains, of the `lost` in the whole trial."""
        return self._excuses.unexcused_of(lost)

    def _add(self, counts: StreamCounts, unexcused: int) -> None:
        refused = refused_by_dut(counts, self._drained_by)
        column = self.streams[counts.stream]
        column.sent.append(counts.sent)
        column.offered.append(counts.sent + refused)
        column.received.append(counts.received - counts.duplicate)
        column.lost.append(counts.missing + refused)
        column.unexcused.append(unexcused)
        p50_ns, p99_ns = counts.latency.quantiles_ns((0.5, 0.99)) or (NO_SAMPLE, NO_SAMPLE)
        max_ns = least_longest_ns(counts)
        column.p50_ns.append(p50_ns)
        column.p99_ns.append(p99_ns)
        column.max_ns.append(NO_SAMPLE if max_ns is None else max_ns)
