"""One sample of one metric, and what an interval of a trial yields of them.

Names, units and formulas are those of Crucible's trafficgen, so that its
queries and dashboards read our record.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from plimsoll.generator.histogram import merge
from plimsoll.generator.interface import Interval, StreamCounts
from plimsoll.record.engine_samples import direction_name, engine_samples, extremes_us
from plimsoll.record.metric_sample import MetricSample
from plimsoll.traffic.plan import StreamPlan
from plimsoll.traffic.wire import l1_bits, l2_bits

_NS_PER_MS = 1e6


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
        *engine_samples(plans, interval, length_s),
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


def _path_samples(
    plans: Sequence[StreamPlan], interval: Interval, length_s: float, refused_is_lost: bool
) -> Iterator[MetricSample]:
    counts = {count.stream: count for count in interval.streams}
    for tx_port, rx_port in sorted({(plan.tx_port, plan.rx_port) for plan in plans}):
        streams = [
            (plan, counts[plan.stream])
            for plan in plans
            if (plan.tx_port, plan.rx_port) == (tx_port, rx_port) and plan.stream in counts
        ]
        names = {
            # Crucible names the pair once for both directions.
            "port_pair": direction_name(*sorted((tx_port, rx_port))),
            "tx_port": str(tx_port),
            "rx_port": str(rx_port),
        }
        rates = _path_rates(streams, length_s, refused_is_lost)
        yield from (MetricSample("trafficgen", kind, "throughput", names, v) for kind, v in rates)
        probes = merge(count.latency for plan, count in streams if plan.role == "latency")
        yield from (
            MetricSample("trafficgen", f"{kind}-roundtrip-usec", "count", names, v)
            for kind, v in extremes_us(probes)
        )


def _path_rates(
    streams: Sequence[tuple[StreamPlan, StreamCounts]], length_s: float, refused_is_lost: bool
) -> Iterator[tuple[str, float]]:
    lost = sum(c.missing + (c.refused if refused_is_lost else 0) for _, c in streams)
    yield "tx-pps", sum(c.sent for _, c in streams) / length_s
    yield "rx-pps", sum(c.received for _, c in streams) / length_s
    yield "lost-rx-pps", lost / length_s
    for layer, bits in (("l1", l1_bits), ("l2", l2_bits)):
        tx = sum(c.sent * bits(plan.mean_frame_size) for plan, c in streams)
        rx = sum(c.received * bits(plan.mean_frame_size) for plan, c in streams)
        yield f"{layer}-tx-bps", tx / length_s
        yield f"{layer}-rx-bps", rx / length_s
