"""Reads a control plane's figures every few seconds while a cell goes on."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path

from plimsoll.churn.driver.pod_watch import CONDITIONS, PodTimes
from plimsoll.churn.kpis.histogram import CumulativeHistogram
from plimsoll.churn.kpis.latencies import etcd_latencies, request_latencies
from plimsoll.churn.kpis.sources import MetricsSource, Scrape, read_scrape
from plimsoll.errors import MachineError
from plimsoll.record.samples.metric_type import MetricSample, MetricType

_PROC = Path("/proc")
_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
# Of a process's stat after its name: utime and stime, from 0; of the machine's: idle, iowait.
_USER, _SYSTEM = 11, 12
_IDLE = (3, 4)
# Guest time is in user time already.
_COUNTED = 8


# CPU time and memory of processes on this machine, and of the machine, from /proc.
@dataclass(frozen=True, slots=True)
class ProcessUsage:
    """CPU time used so far, in s, and memory resident now, in bytes."""

    cpu_s: float
    resident_bytes: int


def usage_of(pid: int, proc: Path = _PROC) -> ProcessUsage | None:
    """Of a process with all its threads; None where it has ended."""
    try:
        stat = (proc / str(pid) / "stat").read_text()
        pages = int((proc / str(pid) / "statm").read_text().split()[1])
    except (OSError, IndexError):
        return None
    fields = stat.rpartition(")")[2].split()
    ticks = int(fields[_USER]) + int(fields[_SYSTEM])
    return ProcessUsage(ticks / _TICKS_PER_S, pages * _PAGE_BYTES)


def machine_cpu_s(proc: Path = _PROC) -> float:
    """The time that all CPUs together were not idle so far, in s."""
    first = (proc / "stat").read_text().split("\n", 1)[0].split()[1:]
    ticks = [int(each) for each in first[:_COUNTED]]
    return (sum(ticks) - sum(ticks[place] for place in _IDLE)) / _TICKS_PER_S


def machine_memory_bytes(proc: Path = _PROC) -> int:
    """Memory that is not available any more."""
    lines = (line.split() for line in (proc / "meminfo").read_text().splitlines())
    found: Mapping[str, int] = {line[0].rstrip(":"): int(line[1]) for line in lines}
    return (found["MemTotal"] - found["MemAvailable"]) * 1024


APISERVER, ETCD = "kube-apiserver", "etcd"


@dataclass(frozen=True)
class Targets:
    """What is read: metrics by component, processes of this machine by component.

    `machine` says that the control plane shares this machine, so that its CPUs count.
    """

    sources: Mapping[str, MetricsSource]
    pids: Mapping[str, int]
    machine: bool


@dataclass(frozen=True, slots=True)
class KpiReading:
    """All that was read at one time, in ns since the epoch."""

    at_ns: int
    scrapes: Mapping[str, Scrape]
    usages: Mapping[str, ProcessUsage]
    machine: ProcessUsage | None


class KpiSampler:
    """Readings of one cell. `sampling` opens one."""

    def __init__(
        self, targets: Targets, every_s: float, keep: Callable[[str, Scrape], None]
    ) -> None:
        """`keep` is given each scrape with its component, from the sampler's own thread."""
        self._targets = targets
        self._every_s = every_s
        self._keep = keep
        self._ended = threading.Event()
        self._reading = threading.Lock()
        self.readings: list[KpiReading] = []
        # Why a component could not be read, by component: the last reason.
        self.failures: dict[str, str] = {}

    def read(self) -> None:
        """Take a reading now; from any thread."""
        with self._reading:
            self._read()

    def _read(self) -> None:
        scrapes: dict[str, Scrape] = {}
        for name, source in self._targets.sources.items():
            try:
                scrapes[name] = read_scrape(source.read(), time.time_ns())
            except (MachineError, ValueError) as error:
                self.failures[name] = str(error)
                continue
            self._keep(name, scrapes[name])
        found = {name: usage_of(pid) for name, pid in self._targets.pids.items()}
        usages = {name: usage for name, usage in found.items() if usage is not None}
        machine = None
        if self._targets.machine:
            machine = ProcessUsage(machine_cpu_s(), machine_memory_bytes())
        self.readings.append(KpiReading(time.time_ns(), scrapes, usages, machine))

    def follow(self) -> None:
        """Read until `end`; for the thread."""
        while not self._ended.wait(self._every_s):
            self.read()

    def end(self) -> None:
        """Let `follow` end."""
        self._ended.set()


@contextmanager
def sampling(
    targets: Targets, every_s: float, keep: Callable[[str, Scrape], None]
) -> Iterator[KpiSampler]:
    """Readings at the beginning, every few seconds, and at the end of a `with`."""
    sampler = KpiSampler(targets, every_s, keep)
    sampler.read()
    thread = threading.Thread(target=sampler.follow, name="kpis", daemon=True)
    thread.start()
    try:
        yield sampler
    finally:
        sampler.end()
        thread.join()
    sampler.read()


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
