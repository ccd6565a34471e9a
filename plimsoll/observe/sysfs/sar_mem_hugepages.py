"""Hugepages of each memory node and size: how many there are, and how many are free."""

from __future__ import annotations

from pathlib import Path

from plimsoll.observe.reading.host_files import HostFiles, RereadFile
from plimsoll.observe.reading.observer import NotObservable, ObservedHost, Observer
from plimsoll.observe.reading.readings import Readings
from plimsoll.record.samples.metric_type import MetricType


def _pages(kind: str) -> MetricType:
    return MetricType("sar-mem", kind, "count", "pages", "sum", carried=True)


# By the names of the files.
_TYPES = {"nr_hugepages": _pages("Hugepages-Total"), "free_hugepages": _pages("Hugepages-Free")}


class SarMemHugepages(Observer):
    """Hugepages by `node` (where memory has nodes) and `size`, such as 2048kB."""

    source = "sar-mem"
    part = "hugepages"
    summary = "hugepages by memory node and size, from /sys"
    types = tuple(_TYPES.values())

    def __init__(self, host: ObservedHost, readings: Readings) -> None:
        self._files = [
            (RereadFile(pool / name), readings.series(metric, {**node, "size": _size(pool)}))
            for pool, node in _pools(host.files)
            for name, metric in _TYPES.items()
        ]
        if not self._files:
            raise NotObservable("the kernel has no hugepages")

    def read(self, readings: Readings) -> None:
        """Tell how many there are now."""
        for file, series in self._files:
            readings.value(series, file.read_int())


def _pools(files: HostFiles) -> list[tuple[Path, dict[str, str]]]:
    nodes = sorted((files.sys / "devices/system/node").glob("node*/hugepages/hugepages-*"))
    if nodes:
        return [(pool, {"node": pool.parents[1].name.removeprefix("node")}) for pool in nodes]
    return [(pool, {}) for pool in sorted((files.sys / "kernel/mm/hugepages").glob("hugepages-*"))]


def _size(pool: Path) -> str:
    return pool.name.removeprefix("hugepages-")


OBSERVER = SarMemHugepages
