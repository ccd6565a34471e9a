"""How much of the memory is used, from /proc/meminfo."""

from __future__ import annotations

import re

from plimsoll.observe.reading.host_files import RereadFile
from plimsoll.observe.reading.observer import ObservedHost, Observer
from plimsoll.observe.reading.readings import Readings
from plimsoll.record.samples.metric_type import MetricType

_USED = MetricType("sar-mem", "Memory-Used-Percent", "count", "%", "mean", carried=True)
_FIELD = re.compile(rb"^(MemTotal|MemFree|Buffers|Cached|Slab): *(\d+) kB$", re.MULTILINE)


class MemoryUsed(Observer):
    """The share that is neither free nor buffers, cache or slab: sar's %memused.

    That is what sar(1) of sysstat 12.6 says of kbmemused; earlier versions counted buffers,
    cache and slab as used.
    """

    source = "sar-mem"
    part = "used"
    summary = "how much of the memory is used, from /proc/meminfo"
    types = (_USED,)

    def __init__(self, host: ObservedHost, readings: Readings) -> None:
        self._file = RereadFile(host.files.proc / "meminfo")
        self._series = readings.series(_USED, {})

    def read(self, readings: Readings) -> None:
        """Tell what is used now."""
        kb = {name: int(value) for name, value in _FIELD.findall(self._file.read())}
        if b"MemTotal" not in kb:
            raise ValueError(f"{self._file.path} does not say how much memory there is")
        total = kb.pop(b"MemTotal")
        # The counters are not read at one moment, and may come to more than there is.
        readings.value(self._series, 100 * max(0, total - sum(kb.values())) / total)


OBSERVER = MemoryUsed
