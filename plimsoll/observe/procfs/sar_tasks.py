"""Context switches and new tasks, from /proc/stat; the meanings are those of sysstat's sar -w."""

from __future__ import annotations

from plimsoll.observe.reading.host_files import RereadFile, number_after
from plimsoll.observe.reading.observer import ObservedHost, Observer
from plimsoll.observe.reading.readings import Readings
from plimsoll.record.samples.metric_type import MetricType


def _rate(kind: str) -> MetricType:
    return MetricType("sar-tasks", kind, "throughput", "1/s", "sum", counted=True, carried=True)


# By how the lines begin, behind the end of the line before.
_TYPES = {
    b"\nctxt ": _rate("Context-switches-sec"),
    b"\nprocesses ": _rate("Processes-created-sec"),
}


class SarTasks(Observer):
    """Switches from task to task on all CPUs, and processes and threads that were begun."""

    source = "sar-tasks"
    summary = "context switches and new tasks, from /proc/stat"
    types = tuple(_TYPES.values())

    def __init__(self, host: ObservedHost, readings: Readings) -> None:
        self._stat = RereadFile(host.files.proc / "stat")
        self._series = {word: readings.series(metric, {}) for word, metric in _TYPES.items()}

    def read(self, readings: Readings) -> None:
        """Tell what was counted since the last reading."""
        stat = self._stat.read()
        for word, series in self._series.items():
            readings.total(series, number_after(word, stat))


OBSERVER = SarTasks
