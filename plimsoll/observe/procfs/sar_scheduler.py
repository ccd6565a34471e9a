"""Tasks that run, wait and are blocked; names and meanings are those of sysstat's sar -q."""

from __future__ import annotations

from plimsoll.observe.reading.host_files import RereadFile, number_after
from plimsoll.observe.reading.observer import ObservedHost, Observer
from plimsoll.observe.reading.readings import Readings
from plimsoll.record.samples.metric_type import MetricType


def _tasks(kind: str) -> MetricType:
    return MetricType("sar-scheduler", kind, "count", "tasks", "sum", carried=True)


_QUEUE = _tasks("Run-Queue-Length")
_LIST = _tasks("Process-List-Size")
_LOADS = tuple(_tasks(f"Load-Average-{minutes}m") for minutes in ("01", "05", "15"))
_BLOCKED = _tasks("IO-Blocked-Tasks")


class SarScheduler(Observer):
    """The run queue and the load, from /proc/loadavg, and tasks blocked on I/O from /proc/stat.

    As in sar, the reader is not counted in the run queue, being itself the one task that
    certainly runs then; tasks are threads.
    """

    source = "sar-scheduler"
    summary = "the run queue, load averages and blocked tasks, from /proc/loadavg and /proc/stat"
    types = (_QUEUE, _LIST, *_LOADS, _BLOCKED)

    def __init__(self, host: ObservedHost, readings: Readings) -> None:
        self._loadavg = RereadFile(host.files.proc / "loadavg")
        self._stat = RereadFile(host.files.proc / "stat")
        self._loads = [readings.series(metric, {}) for metric in _LOADS]
        self._queue = readings.series(_QUEUE, {})
        self._list = readings.series(_LIST, {})
        self._blocked = readings.series(_BLOCKED, {})

    def read(self, readings: Readings) -> None:
        """Tell what stands there now."""
        *loads, tasks, _ = self._loadavg.read().split()
        for series, load in zip(self._loads, loads, strict=True):
            readings.value(series, float(load))
        running, _, listed = tasks.partition(b"/")
        readings.value(self._queue, max(0, int(running) - 1))
        readings.value(self._list, int(listed))
        readings.value(self._blocked, number_after(b"\nprocs_blocked ", self._stat.read()))


OBSERVER = SarScheduler
