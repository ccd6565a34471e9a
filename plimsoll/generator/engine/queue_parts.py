"""A load stream that several lcores send: one part for each of the port's transmit queues.

The engine knows the parts as streams of their own, with sequence numbers of their own,
so that no two lcores share a counter. Callers see the stream whole; only
the numbers of its worst latencies and loss events remain those of their part.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import add
from typing import TypeVar

from plimsoll.generator.counters import added, largest, largest_refusals
from plimsoll.generator.interface import (
    DelayedEnds,
    FlowCounts,
    Interval,
    StreamCounts,
    TrialPlan,
    TrialReport,
)
from plimsoll.traffic.plan import FieldWriter, StreamPlan

_Each = TypeVar("_Each")
# Load streams alone have parts, and only latency streams count by microsecond.
_NOT_ADDED = frozenset(
    {
        *("stream", "latency_us", "stamps", "worst", "flows", "delayed_ends"),
        *("losses", "losses_left_out", "refusals", "refusals_left_out"),
    }
)


@dataclass(frozen=True)
class QueueParts:
    """Streams as the engine sends them, and which of the requested ones each is a part of."""

    streams: tuple[StreamPlan, ...]
    whole_of: dict[int, int]

    @classmethod
    def of(cls, streams: Sequence[StreamPlan], tx_queues: Sequence[int]) -> QueueParts:
        """Spread the load streams over the queues of their ports, `tx_queues` of each port.

        Latency streams stay on queue 0, and so do captured ones, whose frames' gaps are of the
        whole. New numbers follow the highest in use.
        """
        parts: list[StreamPlan] = []
        whole_of: dict[int, int] = {}
        numbers = iter(range(max((stream.stream for stream in streams), default=-1) + 1, 1 << 16))
        for stream in streams:
            spread = stream.role == "load" and stream.pacing.kind != "captured"
            queues = tx_queues[stream.tx_port] if spread else 1
            if stream.frame_count is not None:
                queues = min(queues, stream.frame_count)
            for queue in range(queues):
                number = stream.stream if queue == 0 else next(numbers)
                parts.append(_part(stream, number, queue, queues))
                whole_of[number] = stream.stream
        return cls(tuple(parts), whole_of)

    def plan(self, plan: TrialPlan) -> TrialPlan:
        """The plan as the engine is to have it: a limit holds for all parts of its streams."""
        limits = (
            replace(limit, streams=tuple(self._parts_of(limit.streams)))
            for limit in plan.loss_limits
        )
        return replace(plan, streams=self.streams, loss_limits=tuple(limits))

    def rates(self, rates_pps: Mapping[int, float]) -> dict[int, float]:
        """By part, the rates of whole streams: each queue has an equal share."""
        parts = {stream: self.parts_of(stream) for stream in rates_pps}
        return {
            part: rate / len(parts[stream])
            for stream, rate in rates_pps.items()
            for part in parts[stream]
        }

    def spread(self, by_stream: Mapping[int, _Each]) -> dict[int, _Each]:
        """By part, what each part of a whole stream has in full."""
        return {part: each for stream, each in by_stream.items() for part in self.parts_of(stream)}

    def parts_of(self, stream: int) -> list[int]:
        """Its parts' numbers; a stream that is not there is left for the engine to refuse."""
        return self._parts_of((stream,)) or [stream]

    def interval(self, interval: Interval) -> Interval:
        """The interval with the parts' counts put together."""
        return replace(interval, streams=self._whole(interval.streams))

    def report(self, report: TrialReport) -> TrialReport:
        """The report with the parts' counts put together."""
        return replace(report, streams=self._whole(report.streams))

    def _parts_of(self, streams: Container[int]) -> list[int]:
        return [part for part, whole in self.whole_of.items() if whole in streams]

    def _whole(self, counts: Iterable[StreamCounts]) -> tuple[StreamCounts, ...]:
        by_stream: dict[int, StreamCounts] = {}
        for part in counts:
            whole = self.whole_of[part.stream]
            seen = by_stream.get(whole)
            by_stream[whole] = _add(seen, part) if seen else replace(part, stream=whole)
        return tuple(by_stream.values())


def _part(stream: StreamPlan, number: int, queue: int, queues: int) -> StreamPlan:
    """The share of `stream` that goes out on `queue`: it begins elsewhere in the flows."""
    if queues == 1:
        return stream
    count = stream.frame_count
    if count is not None:
        count = count // queues + (queue < count % queues)
    return replace(
        stream,
        stream=number,
        tx_queue=queue,
        rate_pps=None if stream.rate_pps is None else stream.rate_pps / queues,
        pacing=replace(stream.pacing, seed=stream.pacing.seed + queue),
        fields=tuple(_moved(field, queue, queues) for field in stream.fields),
        first_flow=stream.first_flow + queue * stream.counted_flows // queues,
        frame_count=count,
    )


def _moved(field: FieldWriter, queue: int, queues: int) -> FieldWriter:
    if field.kind == "random":
        return replace(field, seed=field.seed + queue)
    cycle = field.count * field.every
    first = (field.first + queue * cycle // queues) % cycle
    # All queues send what is in the one window, which is to move as it would with one queue.
    return replace(field, first=first, churn=field.churn * queues)


def _add(one: StreamCounts, other: StreamCounts) -> StreamCounts:
    # All that the parts list: what is cut off here could not be distinguished from what is not a
    # spike.
    worst = sorted((*one.worst, *other.worst), key=lambda each: -each.latency_ticks)
    refusals, refusals_left_out = largest_refusals(
        (*one.refusals, *other.refusals), (one.refusals_left_out, other.refusals_left_out)
    )
    losses, losses_left_out = largest(
        (*one.losses, *other.losses), (one.losses_left_out, other.losses_left_out)
    )
    return replace(
        one,
        worst=tuple(worst),
        flows=_flows(one.flows, other.flows),
        delayed_ends=_ends(one.delayed_ends, other.delayed_ends),
        losses=losses,
        losses_left_out=losses_left_out,
        refusals=refusals,
        refusals_left_out=refusals_left_out,
        **added(one, other, _NOT_ADDED),
    )


def _flows(one: FlowCounts | None, other: FlowCounts | None) -> FlowCounts | None:
    if one is None or other is None:
        return one or other
    return FlowCounts(
        sent=_sums(one.sent, other.sent),
        received=_sums(one.received, other.received),
        duplicate=_sums(one.duplicate, other.duplicate),
        timed=_sums(one.timed, other.timed),
        latency_sum_ns=_sums(one.latency_sum_ns, other.latency_sum_ns),
        latency_min_ns=_extremes(min, one.latency_min_ns, other.latency_min_ns),
        latency_max_ns=_extremes(max, one.latency_max_ns, other.latency_max_ns),
    )


def _ends(one: DelayedEnds | None, other: DelayedEnds | None) -> DelayedEnds | None:
    """A part without a delayed frame has none."""
    if one is None or other is None:
        return one or other
    frames: Counter[tuple[int, int]] = Counter()
    for low, high, count in (*one.frames, *other.frames):
        frames[low, high] += count
    listed = tuple((low, high, count) for (low, high), count in sorted(frames.items()))
    return DelayedEnds(listed, one.left_out + other.left_out)


def _sums(one: tuple[int, ...], other: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(map(add, one, other))


def _extremes(
    choose: Callable[[int, int], int], one: tuple[int | None, ...], other: tuple[int | None, ...]
) -> tuple[int | None, ...]:
    pairs = zip(one, other, strict=True)
    return tuple(b if a is None else a if b is None else choose(a, b) for a, b in pairs)
