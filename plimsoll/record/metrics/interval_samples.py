"""What an interval of a trial yields of metrics.

Names, units and formulas are those of Crucible's trafficgen, so that its
queries and dashboards read our record.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from plimsoll.generator.histogram import merge
from plimsoll.generator.interface import Interval, StreamCounts
from plimsoll.generator.latency_ends import least_longest_ns
from plimsoll.record.metrics.engine_samples import (
    direction_name,
    engine_samples,
    extremes_us,
    frames_type,
    time_type,
)
from plimsoll.record.metrics.tester_capacity import UNKNOWN_CAPACITY, TesterCapacity
from plimsoll.record.metrics.utilisation_samples import utilisation_samples
from plimsoll.record.samples.metric_sample import MetricSample
from plimsoll.record.samples.metric_type import MetricType
from plimsoll.text.wire import l1_bits, l2_bits
from plimsoll.traffic.plan import StreamPlan

_SOURCE = "trafficgen"
_INTENDED = MetricType(_SOURCE, "intended-tx-pps", "throughput", "pps", "sum")


def interval_samples(
    plans: Sequence[StreamPlan],
    interval: Interval,
    *,
    refused_is_lost: bool,
    capacity: TesterCapacity = UNKNOWN_CAPACITY,
) -> list[MetricSample]:
    """The samples of one interval, under Crucible's names; none of one without length.

    A zero is a sample; what was not measured has none. With `refused_is_lost`,
    frames that the port's queue had no room for count as lost, because the DUT
    is what drains that queue. Of `capacity`, what is not known has no utilisation.
    """
    length_s = interval.end_s - interval.begin_s
    if length_s <= 0:
        return []
    return [
        *_path_samples(plans, interval, length_s, refused_is_lost),
        *engine_samples(plans, interval),
        *utilisation_samples(plans, interval, capacity),
    ]


def intended_samples(plans: Sequence[StreamPlan]) -> list[MetricSample]:
    """What each direction was to send; none of one with a stream that has no steady rate.

    RFC 2285's intended load, of which tx-pps is what came of it.
    """
    samples = []
    for path, names in path_names(plans).items():
        streams = [plan for plan in plans if (plan.tx_port, plan.rx_port) == path]
        rates = [plan.rate_pps if plan.schedule.always else None for plan in streams]
        known = [rate_pps for rate_pps in rates if rate_pps is not None]
        if len(known) == len(rates):
            samples.append(MetricSample(_INTENDED, names, math.fsum(known)))
    return samples


def path_names(plans: Sequence[StreamPlan]) -> Mapping[tuple[int, int], Mapping[str, str]]:
    """The names of each direction's series, by its ports (tx, rx)."""
    return {
        (tx_port, rx_port): {
            # Crucible names the pair once for both directions.
            "port_pair": direction_name(*sorted((tx_port, rx_port))),
            "tx_port": str(tx_port),
            "rx_port": str(rx_port),
        }
        for tx_port, rx_port in sorted({(plan.tx_port, plan.rx_port) for plan in plans})
    }


def _path_samples(
    plans: Sequence[StreamPlan], interval: Interval, length_s: float, refused_is_lost: bool
) -> Iterator[MetricSample]:
    counts = {count.stream: count for count in interval.streams}
    for path, names in path_names(plans).items():
        streams = [
            (plan, counts[plan.stream])
            for plan in plans
            if (plan.tx_port, plan.rx_port) == path and plan.stream in counts
        ]
        rates = _path_rates(streams, length_s, refused_is_lost)
        yield from (MetricSample(metric, names, value) for metric, value in rates)
        counted = [count for plan, count in streams if plan.role == "latency"]
        longest = [ns for ns in map(least_longest_ns, counted) if ns is not None]
        probes = merge(count.latency for count in counted)
        yield from (
            MetricSample(time_type(_SOURCE, kind, "roundtrip-usec"), names, value)
            for kind, value in extremes_us(probes, max(longest, default=None))
        )


def _path_rates(
    streams: Sequence[tuple[StreamPlan, StreamCounts]], length_s: float, refused_is_lost: bool
) -> Iterator[tuple[MetricType, float]]:
    lost = sum(c.missing + (c.refused if refused_is_lost else 0) for _, c in streams)
    yield frames_type(_SOURCE, "tx-pps"), sum(c.sent for _, c in streams)
    yield frames_type(_SOURCE, "rx-pps"), sum(c.received for _, c in streams)
    yield frames_type(_SOURCE, "lost-rx-pps"), lost
    # Once: of a capture it is a mean over thousands of frames.
    sized = [(plan.mean_frame_size, c) for plan, c in streams]
    for layer, bits in (("l1", l1_bits), ("l2", l2_bits)):
        tx = sum(c.sent * bits(size) for size, c in sized)
        rx = sum(c.received * bits(size) for size, c in sized)
        yield _bits_type(f"{layer}-tx-bps"), tx / length_s
        yield _bits_type(f"{layer}-rx-bps"), rx / length_s


@cache
def _bits_type(kind: str) -> MetricType:
    # Not counted: the mean size of mixed frames is not a whole number.
    return MetricType(_SOURCE, kind, "throughput", "bit/s", "sum")
