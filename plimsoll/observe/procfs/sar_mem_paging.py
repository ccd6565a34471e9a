"""Paging and page faults, from /proc/vmstat; names and units are those of sysstat's sar -B."""

from __future__ import annotations

from plimsoll.observe.reading.host_files import RereadFile, number_after
from plimsoll.observe.reading.observer import NotObservable, ObservedHost, Observer
from plimsoll.observe.reading.readings import Readings
from plimsoll.record.samples.metric_type import MetricType


def _rate(kind: str, unit: str) -> MetricType:
    return MetricType("sar-mem", kind, "throughput", unit, "sum", counted=True, carried=True)


# By the file's words. The kernel tells pgpgin and pgpgout in KiB there (mm/vmstat.c halves
# its sectors), and major faults are among all faults.
_TYPES = {
    b"pgpgin": _rate("KB-Paged-in-sec", "KiB/s"),
    b"pgpgout": _rate("KB-Paged-out-sec", "KiB/s"),
    b"pgfault": _rate("Page-faults-sec", "1/s"),
    b"pgmajfault": _rate("Page-major-faults-sec", "1/s"),
}


class Paging(Observer):
    """What went between memory and disks, and faults that processes met with.

    The kernel sums up the CPUs' own counters where they lie (mm/vmstat.c): no CPU is
    interrupted for them.
    """

    source = "sar-mem"
    part = "paging"
    summary = "paging and page faults, from /proc/vmstat"
    types = tuple(_TYPES.values())

    def __init__(self, host: ObservedHost, readings: Readings) -> None:
        self._file = RereadFile(host.files.proc / "vmstat")
        counters = dict(line.split() for line in self._file.read().splitlines())
        # As they stand in the file: behind the end of the line before.
        self._series = {
            b"\n%s " % word: readings.series(metric, {})
            for word, metric in _TYPES.items()
            if word in counters
        }
        if not self._series:
            raise NotObservable(f"{self._file.path} counts no paging")

    def read(self, readings: Readings) -> None:
        """Tell what was counted since the last reading."""
        text = self._file.read()
        for word, series in self._series.items():
            readings.total(series, number_after(word, text))


OBSERVER = Paging
