"""Readings as metrics: what a control plane did between each two of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from plimsoll.churn.driver.pod_times import CONDITIONS, PodTimes
from plimsoll.churn.kpis.histogram import CumulativeHistogram
from plimsoll.churn.kpis.latencies import etcd_latencies, request_latencies
from plimsoll.churn.kpis.sampler import APISERVER, ETCD, KpiReading
from plimsoll.record.samples.metric_type import MetricSample, MetricType

PODS, MACHINE = "kube-pods", "machine"
QUANTILES = {"p50": 0.5, "p95": 0.95, "p99": 0.99}
_READINESS = MetricType(PODS, "readiness-msec", "count", "ms", "max")


@dataclass(frozen=True, slots=True)
class TimedSamples:
    """Samples over [begin_ns, end_ns) since the epoch."""

    begin_ns: int
    end_ns: int
    samples: tuple[MetricSample, ...]


def reading_metrics(readings: Sequence[KpiReading]) -> Iterator[TimedSamples]:
    """Those of each two consecutive readings."""
    for before, now in pairwise(readings):
        yield TimedSamples(before.at_ns, now.at_ns, tuple(_between(before, now)))


def pod_metrics(pods: Sequence[PodTimes]) -> Iterator[TimedSamples]:
    """How long each pod took to be ready: by our watch in ms, and to each condition in s."""
    for pod in pods:
        names = {"kind": pod.kind, "namespace": pod.namespace, "pod": pod.name}
        if pod.ready_ns is not None and pod.ready_ms is not None:
            sample = MetricSample(_READINESS, names, pod.ready_ms)
            yield TimedSamples(pod.seen_ns, max(pod.ready_ns, pod.seen_ns + 1), (sample,))
        created_ns = round(pod.created_s * 1e9)
        for condition in CONDITIONS:
            since = pod.condition_s(condition)
            if since is not None:
                metric = _condition_type(condition)
                end_ns = created_ns + max(1, round(since * 1e9))
                yield TimedSamples(created_ns, end_ns, (MetricSample(metric, names, since),))


def _between(before: KpiReading, now: KpiReading) -> Iterator[MetricSample]:
    if APISERVER in now.scrapes and APISERVER in before.scrapes:
        latencies = request_latencies(now.scrapes[APISERVER], before.scrapes[APISERVER])
        seconds = (now.scrapes[APISERVER].at_ns - before.scrapes[APISERVER].at_ns) / 1e9
        for labels, buckets in latencies.by_request.items():
            names = dict(labels)
            yield from _quantiles(APISERVER, "request", names, buckets)
            yield MetricSample(_per_second(), names, buckets.count / seconds)
    if ETCD in now.scrapes and ETCD in before.scrapes:
        found = etcd_latencies(now.scrapes[ETCD], before.scrapes[ETCD])
        for name, buckets in found.items():
            yield from _quantiles(ETCD, name, {}, buckets)
    yield from _usages(before, now)


def _usages(before: KpiReading, now: KpiReading) -> Iterator[MetricSample]:
    seconds = (now.at_ns - before.at_ns) / 1e9
    for name, usage in now.usages.items():
        if name in before.usages:
            cores = (usage.cpu_s - before.usages[name].cpu_s) / seconds
            yield MetricSample(_cores(name), {}, cores)
            yield MetricSample(_resident(name), {}, usage.resident_bytes)
    if now.machine is not None and before.machine is not None:
        cores = (now.machine.cpu_s - before.machine.cpu_s) / seconds
        yield MetricSample(_cores(MACHINE), {}, cores)
        yield MetricSample(_resident(MACHINE), {}, now.machine.resident_bytes)


def _quantiles(
    source: str, of: str, names: Mapping[str, str], buckets: CumulativeHistogram
) -> Iterator[MetricSample]:
    for name, q in QUANTILES.items():
        value = buckets.quantile(q)
        if value is not None:
            yield MetricSample(_latency(source, f"{name}-{of}-msec"), names, value * 1e3)


@cache
def _latency(source: str, kind: str) -> MetricType:
    return MetricType(source, kind, "count", "ms", "max")


@cache
def _per_second() -> MetricType:
    return MetricType(APISERVER, "requests-sec", "throughput", "1/s", "sum")


@cache
def _cores(source: str) -> MetricType:
    return MetricType(source, "cpu-cores", "throughput", "CPUs", "sum")


@cache
def _resident(source: str) -> MetricType:
    return MetricType(source, "resident-bytes", "count", "bytes", "sum")


@cache
def _condition_type(condition: str) -> MetricType:
    words = "".join(f"-{c.lower()}" if c.isupper() else c for c in condition).strip("-")
    return MetricType(PODS, f"{words}-sec", "count", "s", "max")
