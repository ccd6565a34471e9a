"""What each CPU did with received packets, from /proc/net/softnet_stat."""

from __future__ import annotations

from collections.abc import Sequence

from plimsoll.host.cpus import online_cpus
from plimsoll.observe.procfs.per_cpu_table import continued
from plimsoll.observe.reading.host_files import RereadFile
from plimsoll.observe.reading.observer import ObservedHost, Observer
from plimsoll.observe.reading.readings import Readings
from plimsoll.record.samples.metric_type import MetricType


def _rate(kind: str) -> MetricType:
    return MetricType("procstat", kind, "throughput", "1/s", "sum", counted=True, carried=True)


# In the order of the file's first columns (net/core/net-procfs.c). All are of 32 bits.
_TYPES = (
    _rate("softnet-processed-sec"),
    _rate("softnet-dropped-sec"),
    _rate("softnet-time-squeeze-sec"),
)
# The column that names the CPU, in newer kernels.
_CPU_COLUMN = 12


class Softnet(Observer):
    """Packets taken off the CPU's queues, packets dropped there, and budgets that ran out."""

    source = "procstat"
    part = "softnet"
    summary = "packets through each CPU's network stack, from /proc/net/softnet_stat"
    types = _TYPES

    def __init__(self, host: ObservedHost, readings: Readings) -> None:
        self._file = RereadFile(host.files.proc / "net/softnet_stat")
        self._online = host.files.sys / "devices/system/cpu/online"
        self._lines: list[bytes] = []
        self._cpus: dict[int, _Cpu] = {}

    def read(self, readings: Readings) -> None:
        """Tell what was counted since the last reading; CPUs that are offline have no line."""
        lines = self._file.read().splitlines()
        if lines == self._lines:
            return
        self._lines = lines
        found = self._by_cpu([line.split() for line in lines])
        for gone in self._cpus.keys() - found.keys():
            self._cpus.pop(gone).forget(readings)
        for cpu, fields in found.items():
            counts = fields[: len(_TYPES)]
            if cpu in self._cpus:
                self._cpus[cpu].tell(counts, readings)
            else:
                self._cpus[cpu] = _Cpu(cpu, counts, readings)

    def _by_cpu(self, lines: Sequence[list[bytes]]) -> dict[int, list[bytes]]:
        if all(len(fields) > _CPU_COLUMN for fields in lines):
            return {int(fields[_CPU_COLUMN], 16): fields for fields in lines}
        # Older kernels: the CPUs that are online, in order.
        return dict(zip(sorted(online_cpus(self._online)), lines, strict=True))


class _Cpu:
    """What one CPU's counters stand at."""

    def __init__(self, cpu: int, counts: list[bytes], readings: Readings) -> None:
        self._counts = counts
        self._totals = [int(count, 16) for count in counts]
        self._series = [readings.series(metric, {"cpu": str(cpu)}) for metric in _TYPES]
        for series, total in zip(self._series, self._totals, strict=True):
            readings.total(series, total)

    def tell(self, counts: list[bytes], readings: Readings) -> None:
        """Tell what has counted."""
        if counts == self._counts:
            return
        self._counts = counts
        self._totals = [
            continued(total, int(count, 16))
            for total, count in zip(self._totals, counts, strict=True)
        ]
        for series, total in zip(self._series, self._totals, strict=True):
            readings.total(series, total)

    def forget(self, readings: Readings) -> None:
        """The CPU is offline now."""
        for series in self._series:
            readings.absent(series)


OBSERVER = Softnet
