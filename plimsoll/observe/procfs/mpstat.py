"""What each CPU did with its time, from /proc/stat."""

from __future__ import annotations

from plimsoll.observe.reading.host_files import RereadFile, cpu_names
from plimsoll.observe.reading.observer import ObservedHost, Observer
from plimsoll.observe.reading.readings import Readings
from plimsoll.record.samples.metric_type import MetricType

_BUSY = MetricType("mpstat", "Busy-CPU", "count", "CPUs", "sum", carried=True)
_NON_BUSY = MetricType("mpstat", "NonBusy-CPU", "count", "CPUs", "sum", carried=True)
# In the order of _shares; the names are those of sysstat's mpstat.
_STATES = (
    (_BUSY, "usr"),
    (_BUSY, "nice"),
    (_BUSY, "sys"),
    (_NON_BUSY, "idle"),
    (_NON_BUSY, "iowait"),
    (_BUSY, "irq"),
    (_BUSY, "soft"),
    (_BUSY, "steal"),
    (_BUSY, "guest"),
    (_BUSY, "gnice"),
)


class Mpstat(Observer):
    """Shares of each CPU's time, from 0 to 1: what it did, by kind."""

    source = "mpstat"
    summary = "what each CPU did with its time, from /proc/stat"
    types = (_BUSY, _NON_BUSY)

    def __init__(self, host: ObservedHost, readings: Readings) -> None:
        self._files = host.files
        self._stat = RereadFile(host.files.proc / "stat")
        self._lines: dict[bytes, bytes] = {}
        self._times: dict[bytes, list[int]] = {}
        self._series: dict[bytes, list[int]] = {}

    def read(self, readings: Readings) -> None:
        """Tell the shares since the last reading of every CPU that is online."""
        # The first line is the sum of all CPUs, and what follows them is not of a CPU.
        stat = self._stat.read()
        lines = stat[stat.index(b"\n") + 1 : stat.index(b"intr")].splitlines()
        online = dict(line.split(b" ", 1) for line in lines)
        for gone in self._lines.keys() - online.keys():
            self._forget(gone, readings)
        for cpu, line in online.items():
            # A clock tick may not have passed since the last reading.
            if self._lines.get(cpu) != line:
                self._lines[cpu] = line
                self._tell(cpu, [int(ticks) for ticks in line.split()], readings)

    def _tell(self, cpu: bytes, ticks: list[int], readings: Readings) -> None:
        times = _states(ticks)
        before = self._times.get(cpu)
        self._times[cpu] = times
        if before is None:
            self._series[cpu] = self._series_of(int(cpu[3:]), readings)
            return
        # The kernel may count idle and iowait back by a tick or two.
        spent = [max(0, now - then) for now, then in zip(times, before, strict=True)]
        if whole := sum(spent):
            for series, ticks_spent in zip(self._series[cpu], spent, strict=True):
                readings.value(series, ticks_spent / whole)

    def _series_of(self, cpu: int, readings: Readings) -> list[int]:
        names = cpu_names(self._files, cpu)
        return [readings.series(metric, {**names, "type": state}) for metric, state in _STATES]

    def _forget(self, cpu: bytes, readings: Readings) -> None:
        del self._lines[cpu], self._times[cpu]
        for series in self._series.pop(cpu):
            readings.absent(series)


def _states(ticks: list[int]) -> list[int]:
    """The times by state: the kernel counts guests' time as user time too (proc(5))."""
    user, nice, system, idle, iowait, irq, softirq, steal, guest, guest_nice = ticks[:10]
    own, own_nice = user - guest, nice - guest_nice
    return [own, own_nice, system, idle, iowait, irq, softirq, steal, guest, guest_nice]


OBSERVER = Mpstat
