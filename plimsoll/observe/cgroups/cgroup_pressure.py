"""Time that tasks waited for CPU, memory or I/O: the kernel's pressure stall information."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from pathlib import Path

from plimsoll.observe.cgroups.cgroup_cpu import has_cpu_limit
from plimsoll.observe.cgroups.cgroup_tree import V2, CgroupTree
from plimsoll.observe.reading.host_files import PassingFile, RereadFile, read_present
from plimsoll.observe.reading.observer import NotObservable, ObservedHost, Observer
from plimsoll.observe.reading.readings import Readings
from plimsoll.record.samples.metric_type import MetricType

# What presses on a cgroup presses on those above it too.
_PRESSURE = MetricType(
    "cgroup", "pressure-usec-sec", "count", "us/s", "max", counted=True, carried=True
)
_RESOURCES = ("cpu", "memory", "io")
_HOST = {"cgroup": "host"}
# The kernel tells 0 there for older readers (psi.rst).
_UNDEFINED = {**_HOST, "resource": "cpu", "kind": "full"}


class CgroupPressure(Observer):
    """Totals of Documentation/accounting/psi.rst, of the host and of watched v2 cgroups.

    `kind` is some (at least one task waited) or full (all that were not idle did), `cgroup`
    is host for the whole host. Of the host's CPUs full is not defined, and not recorded.
    """

    source = "cgroup"
    part = "pressure"
    summary = "pressure stall information of the host and of the cgroups under test"
    types = (_PRESSURE,)

    def __init__(self, host: ObservedHost, readings: Readings) -> None:
        places: list[tuple[Path, str, Mapping[str, str]]] = [
            (host.files.proc / "pressure", "", _HOST),
            *_cgroups(CgroupTree(host.files, host.observation)),
        ]
        self._files: list[PassingFile] = []
        for folder, ending, names in places:
            for resource in _RESOURCES:
                # Without psi=1 some kernels have no such files, others refuse to open them.
                with contextlib.suppress(OSError):
                    path = folder / f"{resource}{ending}"
                    series = {**names, "resource": resource}
                    self._files.append(_PressureFile(path, series, readings))
        if not self._files:
            raise NotObservable("the kernel tells no pressure: boot it with psi=1")

    def read(self, readings: Readings) -> None:
        """Tell the totals that have changed."""
        read_present(self._files, readings)


class _PressureFile:
    """A line for each kind, such as `some avg10=0.00 avg60=0.00 avg300=0.00 total=0`."""

    def __init__(self, path: Path, names: Mapping[str, str], readings: Readings) -> None:
        self._file = RereadFile(path)
        kinds = (line.split(b" ")[0] for line in self._file.read().splitlines())
        self._series = {
            kind: readings.series(_PRESSURE, {**names, "kind": kind.decode()})
            for kind in kinds
            if {**names, "kind": kind.decode()} != _UNDEFINED
        }

    def read(self, readings: Readings) -> None:
        for line in self._file.read().splitlines():
            kind, _, values = line.partition(b" ")
            if kind in self._series:
                readings.total(self._series[kind], int(values.rpartition(b"total=")[2]))

    def absent(self, readings: Readings) -> None:
        for series in self._series.values():
            readings.absent(series)


def _cgroups(tree: CgroupTree) -> Iterator[tuple[Path, str, Mapping[str, str]]]:
    for cgroup in tree.watched(V2, has_cpu_limit):
        # The root of all, which alone has no type, is the host.
        if (cgroup.directory / "cgroup.type").exists():
            yield cgroup.directory, ".pressure", cgroup.names


OBSERVER = CgroupPressure
