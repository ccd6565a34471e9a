"""What a cell leaves as it was read: scrapes as they came, and its metrics as a period."""

from __future__ import annotations

import gzip
import time
from collections.abc import Iterator, Sequence

from plimsoll.benchmark.churn.driver.pod_times import PodTimes
from plimsoll.benchmark.churn.kpis.kpi_metrics import TimedSamples, pod_metrics, reading_metrics
from plimsoll.benchmark.churn.kpis.sampler import KpiReading
from plimsoll.benchmark.churn.kpis.scrape import Scrape
from plimsoll.benchmark.churn.streams.streams import IPERF3, Throughput
from plimsoll.record.files.record_error import write_failed
from plimsoll.record.metrics.metric_log import MetricLog
from plimsoll.record.metrics.metrics import MetricsWriter
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.record.samples.metric_sample import MetricSample
from plimsoll.record.samples.metric_type import MetricType

_THROUGHPUT = MetricType(IPERF3, "rx-bps", "throughput", "bps", "sum")


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


def write_metrics(
    run: RunDirectory,
    period: str,
    readings: Sequence[KpiReading],
    pods: Sequence[PodTimes],
    throughputs: Sequence[Throughput],
) -> None:
    """Write all that was measured in a period. Raises RecordError."""
    log = MetricLog(period, time.time_ns() - time.monotonic_ns())
    with MetricsWriter(run, period) as writer:
        for timed in _in_order(readings, pods, throughputs):
            writer.append(log.samples(timed.samples, timed.begin_ns, timed.end_ns))
        writer.finish()


def _in_order(
    readings: Sequence[KpiReading], pods: Sequence[PodTimes], throughputs: Sequence[Throughput]
) -> Iterator[TimedSamples]:
    yield from reading_metrics(readings)
    yield from pod_metrics(pods)
    yield from stream_metrics(throughputs)


def stream_metrics(throughputs: Sequence[Throughput]) -> Iterator[TimedSamples]:
    """What arrived of each pair in each interval."""
    for each in throughputs:
        names = {"pair": str(each.pair)}
        for begin_ns, end_ns, bps in zip(each.begin_ns, each.end_ns, each.bps, strict=True):
            sample = MetricSample(_THROUGHPUT, names, bps)
            yield TimedSamples(begin_ns, end_ns, (sample,))
