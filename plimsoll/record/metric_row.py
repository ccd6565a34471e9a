"""One sample of one metric, and what an interval of a trial yields of them.

Names, units and formulas are those of Crucible's trafficgen, so that its
queries and dashboards read our record.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from plimsoll.generator.histogram import Histogram, merge
from plimsoll.generator.interface import Interval, StreamCounts, WorkerCounts
from plimsoll.traffic.plan import StreamPlan
from plimsoll.traffic.wire import l1_bits, l2_bits

_NS_PER_US = 1e3
_NS_PER_MS = 1e6
_QUANTILES = (("p50", 0.5), ("p99", 0.99), ("p99.9", 0.999), ("p99.99", 0.9999))


@dataclass(frozen=True, slots=True)
class MetricRow:
    """A value over [begin_ms, end_ms) since the epoch. `names` are its breakout dimensions."""

    period: str
    source: str
    type: str
    metric_class: str
    names: Mapping[str, str]
    begin_ms: int
    end_ms: int
    value: float


@dataclass(frozen=True, slots=True)
class _Sample:
    source: str
    type: str
    metric_class: str
    names: Mapping[str, str]
    value: float


def interval_rows(
    period: str, plans: Sequence[StreamPlan], interval: Interval, *, refused_is_lost: bool
) -> list[MetricRow]:
    """The rows of one interval, under Crucible's names.

    A zero is a row; what was not measured has none. With `refused_is_lost`,
    frames that the port's queue had no room for count as lost, because the DUT
    is what drains that queue.
    """
    length_s = interval.end_s - interval.begin_s
    if length_s <= 0:
        return []
    end_ms = interval.end_unix_ns / _NS_PER_MS
    begin_ms = end_ms - length_s * 1e3
    samples = [
        *_path_samples(plans, interval, length_s, refused_is_lost),
        *_stream_samples(plans, interval, length_s),
        *(_stall_sample(worker) for worker in interval.workers),
    ]
    return [
        MetricRow(
            period,
            s.source,
            s.type,
            s.metric_class,
            s.names,
            round(begin_ms),
            round(end_ms),
            s.value,
        )
        for s in samples
    ]


def path_name(tx_port: int, rx_port: int) -> str:
    """A direction's name, such as 0:1."""
    return f"{tx_port}:{rx_port}"


def _path_samples(
    plans: Sequence[StreamPlan], interval: Interval, length_s: float, refused_is_lost: bool
) -> Iterator[_Sample]:
    counts = {count.stream: count for count in interval.streams}
    for tx_port, rx_port in sorted({(plan.tx_port, plan.rx_port) for plan in plans}):
        streams = [
            (plan, counts[plan.stream])
            for plan in plans
            if (plan.tx_port, plan.rx_port) == (tx_port, rx_port) and plan.stream in counts
        ]
        names = {
            # Crucible names the pair once for both directions.
            "port_pair": path_name(*sorted((tx_port, rx_port))),
            "tx_port": str(tx_port),
            "rx_port": str(rx_port),
        }
        rates = _path_rates(streams, length_s, refused_is_lost)
        yield from (_Sample("trafficgen", kind, "throughput", names, v) for kind, v in rates)
        probes = merge(count.latency for plan, count in streams if plan.role == "latency")
        yield from (
            _Sample("trafficgen", f"{kind}-roundtrip-usec", "count", names, v)
            for kind, v in _extremes_us(probes)
        )


def _path_rates(
    streams: Sequence[tuple[StreamPlan, StreamCounts]], length_s: float, refused_is_lost: bool
) -> Iterator[tuple[str, float]]:
    lost = sum(c.missing + (c.refused if refused_is_lost else 0) for _, c in streams)
    yield "tx-pps", sum(c.sent for _, c in streams) / length_s
    yield "rx-pps", sum(c.received for _, c in streams) / length_s
    yield "lost-rx-pps", lost / length_s
    for layer, bits in (("l1", l1_bits), ("l2", l2_bits)):
        tx = sum(c.sent * bits(plan.frame_size) for plan, c in streams)
        rx = sum(c.received * bits(plan.frame_size) for plan, c in streams)
        yield f"{layer}-tx-bps", tx / length_s
        yield f"{layer}-rx-bps", rx / length_s


def _extremes_us(histogram: Histogram) -> Iterator[tuple[str, float]]:
    values = {"min": histogram.min_ns, "mean": histogram.mean_ns, "max": histogram.max_ns}
    yield from ((kind, v / _NS_PER_US) for kind, v in values.items() if v is not None)


def _stream_samples(
    plans: Sequence[StreamPlan], interval: Interval, length_s: float
) -> Iterator[_Sample]:
    by_id = {plan.stream: plan for plan in plans}
    for count in interval.streams:
        plan = by_id[count.stream]
        names = {
            "stream": plan.name,
            "direction": path_name(plan.tx_port, plan.rx_port),
            "tx_port": str(plan.tx_port),
            "rx_port": str(plan.rx_port),
        }
        for kind, frames in _stream_counts(count):
            yield _Sample("trafficgen-engine", kind, "throughput", names, frames / length_s)
        for kind, value in _latencies_us(count):
            yield _Sample("trafficgen-engine", kind, "count", names, value)


def _stream_counts(count: StreamCounts) -> Iterator[tuple[str, int]]:
    yield "stream-tx-pps", count.sent
    yield "stream-rx-pps", count.received
    yield "out-of-order-pps", count.out_of_order
    yield "duplicate-pps", count.duplicate
    yield "corrupt-pps", count.corrupt


def _latencies_us(count: StreamCounts) -> Iterator[tuple[str, float]]:
    for kind, value in _extremes_us(count.latency):
        yield f"{kind}-round-trip-usec", value
    for kind, quantile in _QUANTILES:
        value_ns = count.latency.quantile_ns(quantile)
        if value_ns is not None:
            yield f"{kind}-round-trip-usec", value_ns / _NS_PER_US
    if count.lateness.max_ns is not None:
        # The latest send of the interval: a mean would hide the one that was late.
        yield "tx-lateness-usec", count.lateness.max_ns / _NS_PER_US


def _stall_sample(worker: WorkerCounts) -> _Sample:
    """The time that a polling loop stood still in the interval, all its stalls together."""
    names = {"lcore": str(worker.cpu)}
    stalled_us = worker.stalled_ns / _NS_PER_US
    return _Sample("trafficgen-engine", "stall-usec", "count", names, stalled_us)
