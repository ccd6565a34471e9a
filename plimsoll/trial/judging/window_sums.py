"""The sums of a part of a trial: what its report would say, had it been a trial."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from heapq import nlargest
from typing import Any

from plimsoll.generator.counters import added, fields_of, largest, longest
from plimsoll.generator.histogram import Histogram, HistogramSum
from plimsoll.generator.interface import (
    CycleBudget,
    Cycles,
    Interval,
    LossesLeftOut,
    LossEvent,
    PortCounts,
    StreamCounts,
    TrialReport,
    WorkerCounts,
    WorstLatency,
)

# What adds up in another way than by sums, if at all.
_OF_PORT = frozenset({"port", "foreign_kinds", "buffers_in_use", "link_up", "host"})
_OF_WORKER = frozenset({"cpu", "worst_stall_ns", "gaps", "cycles", "longest"})
# As many as a trial's report lists of each polling loop.
_LONGEST_STALLS = 64


class WindowSums:
    """Adds up settled intervals, exactly, in a room that does not grow with their number."""

    def __init__(self) -> None:
        self._streams: dict[int, _StreamSum] = {}
        self._ports: dict[int, PortCounts] = {}
        self._workers: dict[int, _WorkerSum] = {}
        self.begin_s = 0.0
        self.end_s = 0.0
        self.sending_s = 0.0
        self._begin_unix_ns = 0

    def add(self, interval: Interval) -> None:
        """Account for the next interval."""
        length_s = interval.end_s - interval.begin_s
        if not self._streams:
            self.begin_s = interval.begin_s
            self._begin_unix_ns = interval.end_unix_ns - round(length_s * 1e9)
        self.end_s = interval.end_s
        self.sending_s += length_s if interval.phase == "send" else 0.0
        for counts in interval.streams:
            self._streams.setdefault(counts.stream, _StreamSum(counts)).add(counts)
        for port in interval.ports:
            before = self._ports.get(port.port)
            self._ports[port.port] = port if before is None else _both_ports(before, port)
        for worker in interval.workers:
            if worker.cpu in self._workers:
                self._workers[worker.cpu].add(worker)
            else:
                self._workers[worker.cpu] = _WorkerSum(worker)

    def end_sending(self, trial_sent_s: float) -> None:
        """The trial sent for so long: a starved tester's last interval may have ended later."""
        self.sending_s = max(0.0, min(self.sending_s, trial_sent_s - self.begin_s))

    def lose(self, stream: int, frames: int) -> None:
        """Account for losses that no interval has shown."""
        self._streams[stream].lose(frames)

    def report(self) -> TrialReport:
        """The window as a trial of its own.

        A stream received what it sent and did not lose: frames on their way at either end
        belong to the window that they were sent in.
        """
        return TrialReport(
            ended_by="duration",
            sending_s=self.sending_s,
            begin_unix_ns=self._begin_unix_ns,
            streams=tuple(each.total() for each in self._streams.values()),
            ports=tuple(self._ports.values()),
            workers=tuple(each.total() for each in self._workers.values()),
        )


class _StreamSum:
    def __init__(self, first: StreamCounts) -> None:
        """Of the stream of `first`, which is still to be added."""
        self._kind = type(first)
        self._stream = first.stream
        self._counters = [name for name in fields_of(first, int) if name != "stream"]
        self._frames: Counter[str] = Counter()
        self._microseconds: Counter[int] = Counter()
        self._histograms = {name: HistogramSum() for name in fields_of(first, Histogram)}
        self._worst: tuple[WorstLatency, ...] = ()
        self._losses: tuple[LossEvent, ...] = ()
        self._losses_left_out = LossesLeftOut()

    def add(self, counts: StreamCounts) -> None:
        for name in self._counters:
            self._frames[name] += getattr(counts, name)
        for name, histogram in self._histograms.items():
            histogram.add(getattr(counts, name))
        self._microseconds.update(dict(counts.latency_us))
        self._worst = longest((*self._worst, *counts.worst))
        self._losses, self._losses_left_out = largest(
            (*self._losses, *counts.losses), (self._losses_left_out, counts.losses_left_out)
        )

    def lose(self, frames: int) -> None:
        self._frames["missing"] = max(0, self._frames["missing"] + frames)

    def total(self) -> StreamCounts:
        totals: dict[str, Any] = {name: self._frames[name] for name in self._counters}
        totals |= {name: histogram.total for name, histogram in self._histograms.items()}
        totals["received"] = totals["sent"] - totals["missing"] + totals["duplicate"]
        microseconds = tuple(sorted(self._microseconds.items()))
        return self._kind(
            stream=self._stream,
            latency_us=microseconds,
            worst=self._worst,
            losses=self._losses,
            losses_left_out=self._losses_left_out,
            **totals,
        )


class _WorkerSum:
    def __init__(self, first: WorkerCounts) -> None:
        self._sum = first
        self._gaps = HistogramSum()
        self._gaps.add(first.gaps)

    def add(self, worker: WorkerCounts) -> None:
        mine = self._sum
        self._gaps.add(worker.gaps)
        self._sum = replace(
            mine,
            worst_stall_ns=max(mine.worst_stall_ns, worker.worst_stall_ns),
            cycles=_both_budgets(mine.cycles, worker.cycles),
            longest=tuple(
                nlargest(
                    _LONGEST_STALLS,
                    (*mine.longest, *worker.longest),
                    key=lambda stall: stall.length_ns,
                )
            ),
            **added(mine, worker, _OF_WORKER),
        )

    def total(self) -> WorkerCounts:
        return replace(self._sum, gaps=self._gaps.total)


def _both_budgets(one: CycleBudget, other: CycleBudget) -> CycleBudget:
    return CycleBudget(
        build=_both_cycles(one.build, other.build),
        send=_both_cycles(one.send, other.send),
        poll=_both_cycles(one.poll, other.poll),
        measure=_both_cycles(one.measure, other.measure),
    )


def _both_cycles(one: Cycles, other: Cycles) -> Cycles:
    return Cycles(**added(one, other, frozenset()))


def _both_ports(one: PortCounts, other: PortCounts) -> PortCounts:
    return replace(
        other,
        foreign_kinds=dict(Counter(one.foreign_kinds) + Counter(other.foreign_kinds)),
        host=dict(Counter(one.host) + Counter(other.host)),
        link_up=one.link_up and other.link_up,
        **added(one, other, _OF_PORT),
    )
