"""A trial of a generator that only reports totals on request: sampled, and reported.

It is sent for the planned time by this process's clock. Every interval is what the totals
grew by between two looks, so it is as long as the looks are apart, and frames that were on
their way at a look count as missing until the next one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from plimsoll.generator.histogram import Histogram, bucket_bounds_ns
from plimsoll.generator.interface import (
    EndedBy,
    Interval,
    PortCounts,
    StreamCounts,
    TrialPlan,
    TrialReport,
    TrialStage,
)

IntervalWatch = Callable[[Interval], bool]


@dataclass(frozen=True, slots=True)
class StreamTotals:
    """One stream since the generator began to count; `latency` is of all its timed frames.

    `latency_us` has the same as `StreamCounts` does, of a generator that knows them that well.
    """

    sent: int
    received: int
    refused: int = 0
    out_of_order: int = 0
    duplicate: int = 0
    misdirected: int = 0
    latency: Histogram = field(default_factory=Histogram)
    latency_us: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class PortTotals:
    """One port since the generator began to count."""

    foreign: int = 0
    rx_missed: int = 0
    rx_errors: int = 0
    rx_no_mbuf: int = 0
    link_up: bool = True


@dataclass(frozen=True, slots=True)
class Totals:
    """What a generator has counted so far, by the numbers of streams and ports."""

    streams: Mapping[int, StreamTotals]
    ports: Mapping[int, PortTotals]


class SampledSender(Protocol):
    """What sends. `totals` may be read from `begin` on until `drained`."""

    def begin(self) -> None:
        """Send; returns when it does."""

    def totals(self) -> Totals:
        """As they are now."""

    def end(self) -> float:
        """Send no more, and go on counting what is received; for how many s it has sent."""

    def drained(self) -> None:
        """What was sent has come back, or will not."""


@dataclass
class _Sampling:
    """The totals at the last look, and the intervals since the first."""

    sender: SampledSender
    watch: IntervalWatch
    began_s: float
    first: Totals
    seen: Totals
    seen_s: float = 0.0
    taken: int = 0

    def take(self, phase: TrialStage) -> bool:
        """Look again; whether the interval has the trial stopped."""
        totals = self.sender.totals()
        now_s = time.monotonic() - self.began_s
        interval = Interval(
            index=self.taken,
            phase=phase,
            begin_s=self.seen_s,
            end_s=now_s,
            end_unix_ns=time.time_ns(),
            streams=_streams(self.seen, totals),
            ports=_ports(self.seen, totals),
            workers=(),
        )
        self.seen, self.seen_s, self.taken = totals, now_s, self.taken + 1
        stopped = self.watch(interval)
        return stopped or not all(port.link_up for port in totals.ports.values())

    def until(self, end_s: float, every_s: float, phase: TrialStage) -> bool:
        """Sleep to `end_s` after the beginning, looking `every_s`; whether it was stopped."""
        while (now_s := time.monotonic() - self.began_s) < end_s:
            next_s = min(end_s, self.seen_s + every_s)
            # A short last interval would say little: it joins the one before.
            if end_s - next_s < every_s / 2:
                next_s = end_s
            time.sleep(max(0.0, next_s - now_s))
            if next_s < end_s and self.take(phase):
                return True
        return False


def run_sampled_trial(sender: SampledSender, plan: TrialPlan, watch: IntervalWatch) -> TrialReport:
    """Send by `plan`, and report; the limits on losses are left to who watches.

    Whatever `sender` raises, it has been ended first.
    """
    first = sender.totals()
    begin_unix_ns = time.time_ns()
    sender.begin()
    sampling = _Sampling(sender, watch, time.monotonic(), first, first)
    try:
        stopped = sampling.until(plan.duration_s, plan.interval_s, "send")
    finally:
        sending_s = sender.end()
    sampling.take("send")
    sampling.until(sampling.seen_s + plan.drain_s, plan.interval_s, "drain")
    sender.drained()
    sampling.take("drain")
    links = all(port.link_up for port in sampling.seen.ports.values())
    ended_by: EndedBy = "duration" if links else "link_down"
    return TrialReport(
        ended_by="stop" if stopped and links else ended_by,
        sending_s=sending_s,
        begin_unix_ns=begin_unix_ns,
        streams=_streams(first, sampling.seen),
        ports=_ports(first, sampling.seen),
        workers=(),
    )


def _streams(before: Totals, after: Totals) -> tuple[StreamCounts, ...]:
    return tuple(_stream(each, before.streams[each], now) for each, now in after.streams.items())


def _stream(number: int, before: StreamTotals, after: StreamTotals) -> StreamCounts:
    sent, received = after.sent - before.sent, after.received - before.received
    duplicate = after.duplicate - before.duplicate
    return StreamCounts(
        stream=number,
        sent=sent,
        refused=after.refused - before.refused,
        skipped=0,
        no_buffer=0,
        timed_out=0,
        received=received,
        missing=sent - (received - duplicate),
        out_of_order=after.out_of_order - before.out_of_order,
        duplicate=duplicate,
        corrupt=0,
        misdirected=after.misdirected - before.misdirected,
        latency=grown_by(before.latency, after.latency),
        latency_across_stalls=Histogram(),
        lateness=Histogram(),
        latency_us=_more(before.latency_us, after.latency_us),
    )


def _more(
    before: tuple[tuple[int, int], ...], after: tuple[tuple[int, int], ...]
) -> tuple[tuple[int, int], ...]:
    earlier = dict(before)
    return tuple((us, more) for us, n in after if (more := n - earlier.get(us, 0)))


def _ports(before: Totals, after: Totals) -> tuple[PortCounts, ...]:
    return tuple(_port(each, before.ports[each], now) for each, now in after.ports.items())


def _port(number: int, before: PortTotals, after: PortTotals) -> PortCounts:
    foreign = after.foreign - before.foreign
    return PortCounts(
        port=number,
        foreign=foreign,
        foreign_kinds={"other": foreign} if foreign else {},
        stale=0,
        rx_missed=after.rx_missed - before.rx_missed,
        rx_errors=after.rx_errors - before.rx_errors,
        rx_no_mbuf=after.rx_no_mbuf - before.rx_no_mbuf,
        buffers_in_use=0,
        link_up=after.link_up,
    )


def grown_by(before: Histogram, after: Histogram) -> Histogram:
    """The samples that came between the two.

    Where there were some before, extremes are those of the buckets that grew: as exact as these.
    """
    if not before.count:
        return after
    earlier = dict(before.buckets)
    buckets = tuple(
        (index, more) for index, count in after.buckets if (more := count - earlier.get(index, 0))
    )
    if not buckets:
        return Histogram()
    return Histogram(
        count=sum(count for _, count in buckets),
        sum_ns=after.sum_ns - before.sum_ns,
        min_ns=bucket_bounds_ns(buckets[0][0])[0],
        max_ns=bucket_bounds_ns(buckets[-1][0])[1],
        buckets=buckets,
    )
