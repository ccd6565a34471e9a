"""What the generator sees of itself in an interval: streams, ports and polling loops.

Every fault of the tester has a series here, whatever the trial's limits make of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from plimsoll.generator.counters import frame_metrics
from plimsoll.generator.histogram import Histogram
from plimsoll.generator.interface import Interval, PortCounts, StreamCounts, WorkerCounts
from plimsoll.generator.latency_ends import least_longest_ns
from plimsoll.record.samples.metric_type import Aggregation, MetricSample, MetricType
from plimsoll.traffic.plan import StreamPlan

_SOURCE = "trafficgen-engine"
_NS_PER_US = 1e3
_LATENCY_QUANTILES = {"p50": 0.5, "p99": 0.99, "p99.9": 0.999, "p99.99": 0.9999}
_LATENESS_QUANTILES = {"p50": 0.5, "p99.9": 0.999}
_GAP_QUANTILES = {"p50": 0.5, "p99": 0.99, "p99.9": 0.999}
# Of several series: what is typical of them all, or the one that is worst.
_AGGREGATIONS: Mapping[str, Aggregation] = {"min": "min", "mean": "mean", "p50": "mean"}
_BUFFERS = MetricType(_SOURCE, "buffers-in-use", "count", "buffers", "sum")
_LINK_UP = MetricType(_SOURCE, "link-up", "pass/fail", "", "min")
_STALL = MetricType(_SOURCE, "stall-usec", "count", "us", "sum")
_LATENESS = MetricType(_SOURCE, "tx-lateness-usec", "count", "us", "max")


def engine_samples(plans: Sequence[StreamPlan], interval: Interval) -> Iterator[MetricSample]:
    """The samples of an interval."""
    by_id = {plan.stream: plan for plan in plans}
    for counts in interval.streams:
        yield from _stream_samples(by_id[counts.stream], counts)
    for port in interval.ports:
        yield from _port_samples(port)
    for worker in interval.workers:
        yield from _worker_samples(worker)


def direction_name(tx_port: int, rx_port: int) -> str:
    """A direction's name, such as 0:1."""
    return f"{tx_port}:{rx_port}"


@cache
def frames_type(source: str, kind: str) -> MetricType:
    """A rate of frames, which is recorded as their number."""
    return MetricType(source, kind, "throughput", "pps", "sum", counted=True)


@cache
def time_type(source: str, statistic: str, of: str) -> MetricType:
    """A statistic of times in µs, such as p99 of round-trip-usec."""
    aggregation = _AGGREGATIONS.get(statistic, "max")
    return MetricType(source, f"{statistic}-{of}", "count", "us", aggregation)


def extremes_us(histogram: Histogram, longest_ns: int | None) -> Iterator[tuple[str, float]]:
    """Exact min and mean of samples, and the longest latency, by name; none without samples."""
    values = {"min": histogram.min_ns, "mean": histogram.mean_ns, "max": longest_ns}
    yield from ((kind, v / _NS_PER_US) for kind, v in values.items() if v is not None)


def _stream_samples(plan: StreamPlan, counts: StreamCounts) -> Iterator[MetricSample]:
    names = {
        "stream": plan.name,
        "direction": direction_name(plan.tx_port, plan.rx_port),
        "tx_port": str(plan.tx_port),
        "rx_port": str(plan.rx_port),
    }
    yield from _frame_samples(counts, names)
    for metric, value in _times_us(counts):
        yield MetricSample(metric, names, value)


def _frame_samples(
    counts: StreamCounts | PortCounts, names: Mapping[str, str]
) -> Iterator[MetricSample]:
    for counter, metric in frame_metrics(counts):
        yield MetricSample(frames_type(_SOURCE, metric), names, getattr(counts, counter))


def _times_us(counts: StreamCounts) -> Iterator[tuple[MetricType, float]]:
    for kind, value in extremes_us(counts.latency, least_longest_ns(counts)):
        yield time_type(_SOURCE, kind, "round-trip-usec"), value
    for kind, value in _quantiles_us(counts.latency, _LATENCY_QUANTILES):
        yield time_type(_SOURCE, kind, "round-trip-usec"), value
    for kind, value in _quantiles_us(counts.lateness, _LATENESS_QUANTILES):
        yield time_type(_SOURCE, kind, "tx-lateness-usec"), value
    if counts.lateness.max_ns is not None:
        # The latest send of the interval: a mean would hide the one that was late.
        yield _LATENESS, counts.lateness.max_ns / _NS_PER_US


def _port_samples(port: PortCounts) -> Iterator[MetricSample]:
    names = {"rx_port": str(port.port)}
    for kind, frames in port.foreign_kinds.items():
        named = {**names, "kind": kind}
        yield MetricSample(frames_type(_SOURCE, "foreign-pps"), named, frames)
    for kind, frames in port.host.items():
        yield MetricSample(frames_type(_SOURCE, "host-pps"), {**names, "kind": kind}, frames)
    yield from _frame_samples(port, names)
    yield MetricSample(_BUFFERS, names, port.buffers_in_use)
    yield MetricSample(_LINK_UP, names, float(port.link_up))


def _worker_samples(worker: WorkerCounts) -> Iterator[MetricSample]:
    names = {"lcore": str(worker.cpu)}
    for metric, value in _worker_values(worker):
        yield MetricSample(metric, names, value)


def _worker_values(worker: WorkerCounts) -> Iterator[tuple[MetricType, float]]:
    # The time that the loop stood still in the interval, all its stalls together.
    yield _STALL, worker.stalled_ns / _NS_PER_US
    for kind, value in _quantiles_us(worker.gaps, _GAP_QUANTILES):
        yield time_type(_SOURCE, kind, "gap-usec"), value
    if worker.gaps.max_ns is not None:
        yield time_type(_SOURCE, "max", "gap-usec"), worker.gaps.max_ns / _NS_PER_US
    cycles = worker.cycles
    for step, taken in (
        ("build", cycles.build),
        ("send", cycles.send),
        ("poll", cycles.poll),
        ("measure", cycles.measure),
    ):
        if taken.per_frame is not None:
            kind = f"{step}-cycles-per-frame"
            yield MetricType(_SOURCE, kind, "count", "cycles", "mean"), taken.per_frame


def _quantiles_us(
    histogram: Histogram, quantiles: Mapping[str, float]
) -> Iterator[tuple[str, float]]:
    # None of them without samples.
    values_ns = histogram.quantiles_ns(tuple(quantiles.values()))
    yield from ((kind, ns / _NS_PER_US) for kind, ns in zip(quantiles, values_ns, strict=False))
