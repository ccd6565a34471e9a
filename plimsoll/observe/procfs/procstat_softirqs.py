"""Softirqs of each kind and CPU, from /proc/softirqs."""

from __future__ import annotations

from plimsoll.observe.procfs.per_cpu_table import PerCpuTable
from plimsoll.observe.reading.host_files import printable
from plimsoll.observe.reading.observer import ObservedHost, Observer
from plimsoll.observe.reading.readings import Readings
from plimsoll.record.samples.metric_type import MetricType

_SOFTIRQS = MetricType(
    "procstat", "softirqs-sec", "throughput", "1/s", "sum", counted=True, carried=True
)


class Softirqs(Observer):
    """Each line of /proc/softirqs by CPU: `type` is NET_RX, TIMER and so on."""

    source = "procstat"
    part = "softirqs"
    summary = "softirqs by kind and CPU, from /proc/softirqs"
    types = (_SOFTIRQS,)

    def __init__(self, host: ObservedHost, readings: Readings) -> None:
        self._table = PerCpuTable(
            host.files.proc / "softirqs", _SOFTIRQS, lambda label, _: {"type": printable(label)}
        )

    def read(self, readings: Readings) -> None:
        """Tell how many there were since the last reading."""
        self._table.read(readings)


OBSERVER = Softirqs
