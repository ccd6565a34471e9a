"""What a cell leaves as it was read: scrapes as they came, and its metrics as a period."""

from __future__ import annotations

import gzip
from collections.abc import Iterator, Sequence

from plimsoll.churn.driver.pod_watch import PodTimes
from plimsoll.churn.kpis.sampler import KpiReading, TimedSamples, pod_metrics, reading_metrics
from plimsoll.churn.kpis.sources import Scrape
from plimsoll.churn.latency.probes import ProbeLog, probe_seconds
from plimsoll.churn.streams.iperf3 import IPERF3, Throughput
from plimsoll.host.wall_clock import wall_minus_monotonic_ns
from plimsoll.record.files.record_error import write_failed
from plimsoll.record.metrics.metric_log import MetricLog
from plimsoll.record.metrics.metrics import MetricsWriter
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.record.samples.metric_type import MetricSample, MetricType

UDP_PROBE = "udp-probe"
_THROUGHPUT = MetricType(IPERF3, "rx-bps", "throughput", "bps", "sum")


_PROBED = {
    name: MetricType(UDP_PROBE, f"{name}-usec", "count", "µs", "max")
    for name in ("p50", "p99", "max")
}
_PROBE_RECEIVED = MetricType(UDP_PROBE, "received-sec", "throughput", "1/s", "sum")
_PROBE_LOST = MetricType(UDP_PROBE, "lost-sec", "throughput", "1/s", "sum")
_S_NS = 1_000_000_000


class ScrapeFiles:
    """Keeps each scrape's lines as `scrapes/<period>-<component>-<ns since the epoch>.prom.gz`."""

    def __init__(self, run: RunDirectory, period: str) -> None:
        self._folder = run.path / "scrapes"
        self._period = period

    def keep(self, component: str, scrape: Scrape) -> None:
        """Write one. Raises RecordError."""
        name = f"{self._period}-{component}-{scrape.at_ns}.prom.gz"
        try:
            self._folder.mkdir(mode=0o750, exist_ok=True)
            (self._folder / name).write_bytes(gzip.compress(scrape.text.encode(), 6))
        except OSError as error:
            raise write_failed(self._folder / name, error) from error


def keep_probe_logs(run: RunDirectory, period: str, logs: Sequence[ProbeLog]) -> None:
    """Every datagram of a cell as `probes/<period>-pair-<n>.csv.gz`. Raises RecordError."""
    folder = run.path / "probes"
    for log in logs:
        path = folder / f"{period}-pair-{log.pair}.csv.gz"
        rows = (
            f"{each.sent_ns},{'' if each.latency_ns is None else each.latency_ns}\n"
            for each in log.samples
        )
        text = "sent_unix_ns,latency_ns\n" + "".join(rows)
        try:
            folder.mkdir(mode=0o750, exist_ok=True)
            path.write_bytes(gzip.compress(text.encode(), 6))
        except OSError as error:
            raise write_failed(path, error) from error


def write_metrics(
    run: RunDirectory,
    period: str,
    readings: Sequence[KpiReading],
    pods: Sequence[PodTimes],
    throughputs: Sequence[Throughput],
    *,
    probes: Sequence[ProbeLog] = (),
) -> None:
    """Write all that was measured in a period. Raises RecordError."""
    log = MetricLog(period, wall_minus_monotonic_ns())
    with MetricsWriter(run, period) as writer:
        for timed in _in_order(readings, pods, throughputs, probes):
            writer.append(log.samples(timed.samples, timed.begin_ns, timed.end_ns))
        writer.finish()


def _in_order(
    readings: Sequence[KpiReading],
    pods: Sequence[PodTimes],
    throughputs: Sequence[Throughput],
    probes: Sequence[ProbeLog],
) -> Iterator[TimedSamples]:
    yield from reading_metrics(readings)
    yield from pod_metrics(pods)
    yield from stream_metrics(throughputs)
    for log in probes:
        yield from probe_metrics(log)


def stream_metrics(throughputs: Sequence[Throughput]) -> Iterator[TimedSamples]:
    """What arrived of each pair in each interval."""
    for each in throughputs:
        names = {"pair": str(each.pair)}
        for begin_ns, end_ns, bps in zip(each.begin_ns, each.end_ns, each.bps, strict=True):
            sample = MetricSample(_THROUGHPUT, names, bps)
            yield TimedSamples(begin_ns, end_ns, (sample,))


def probe_metrics(log: ProbeLog) -> Iterator[TimedSamples]:
    """Latency and loss of one pair's probe in each second."""
    names = {"pair": str(log.pair)}
    for each in probe_seconds(log):
        latencies = {"p50": each.p50_us, "p99": each.p99_us, "max": each.max_us}
        samples = [
            MetricSample(_PROBE_RECEIVED, names, float(each.received)),
            MetricSample(_PROBE_LOST, names, float(each.lost)),
        ]
        samples += [
            MetricSample(_PROBED[name], names, value)
            for name, value in latencies.items()
            if value is not None
        ]
        yield TimedSamples(each.begin_ns, each.begin_ns + _S_NS, tuple(samples))
