"""CPU time of the cgroups of processes under test, and how long it was withheld."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from plimsoll.observe.cgroups.cgroup_tree import V2, CgroupTree
from plimsoll.observe.reading.host_files import PassingFile, RereadFile, read_present, read_text
from plimsoll.observe.reading.observer import NotObservable, ObservedHost, Observer
from plimsoll.observe.reading.readings import Readings
from plimsoll.record.samples.metric_type import MetricType

_PERIODS = MetricType(
    "cgroup", "cpu-periods-sec", "count", "periods/s", "sum", counted=True, carried=True
)
_THROTTLED_PERIODS = MetricType(
    "cgroup", "cpu-throttled-periods-sec", "count", "periods/s", "sum", counted=True, carried=True
)
_THROTTLED_USEC = MetricType(
    "cgroup", "cpu-throttled-usec-sec", "count", "us/s", "sum", counted=True, carried=True
)
# A cgroup's usage holds that of those below it, which may be watched too.
_USAGE_USEC = MetricType(
    "cgroup", "cpu-usage-usec-sec", "count", "us/s", "max", counted=True, carried=True
)
# By the kernel's name of a counter: what it is, and how many of its units make one of ours.
_Counters = Mapping[bytes, tuple[MetricType, int]]
_V2_STAT: _Counters = {
    b"nr_periods": (_PERIODS, 1),
    b"nr_throttled": (_THROTTLED_PERIODS, 1),
    b"throttled_usec": (_THROTTLED_USEC, 1),
    b"usage_usec": (_USAGE_USEC, 1),
}
_NS_PER_USEC = 1000
_V1_STAT: _Counters = {
    b"nr_periods": (_PERIODS, 1),
    b"nr_throttled": (_THROTTLED_PERIODS, 1),
    b"throttled_time": (_THROTTLED_USEC, _NS_PER_USEC),
}
# It holds a number without a name.
_V1_USAGE: _Counters = {b"": (_USAGE_USEC, _NS_PER_USEC)}


class CgroupCpu(Observer):
    """CPU bandwidth control as Documentation/scheduler/sched-bwc.rst tells it.

    Watched are the cgroup of each process, the agent's too, and those above it that had a
    limit when the trial began: a pod's slice throttles its containers. Where the controller
    is off for a cgroup nothing can throttle it, and 0 is recorded.
    """

    source = "cgroup"
    summary = "CPU use and throttling of the cgroups of processes under test, v1 and v2"
    types = (_PERIODS, _THROTTLED_PERIODS, _THROTTLED_USEC, _USAGE_USEC)

    def __init__(self, host: ObservedHost, readings: Readings) -> None:
        tree = CgroupTree(host.files, host.observation)
        self._files: list[PassingFile] = list(
            _v1(tree, readings) if tree.has("cpu") else _v2(tree, readings)
        )
        if not self._files:
            raise NotObservable("no cgroup with CPU accounting is mounted where we may read it")

    def read(self, readings: Readings) -> None:
        """Tell the counters that have changed."""
        read_present(self._files, readings)


class _StatFile:
    """Lines of a name and a number each, of one cgroup."""

    def __init__(
        self, path: Path, counters: _Counters, names: Mapping[str, str], readings: Readings
    ) -> None:
        self._file = RereadFile(path)
        self._series = [
            (name, readings.series(metric, names), units)
            for name, (metric, units) in counters.items()
        ]
        self._content = b""

    def read(self, readings: Readings) -> None:
        content = self._file.read()
        if content == self._content:
            return
        self._content = content
        fields = (line.rpartition(b" ") for line in content.splitlines())
        totals = {name: int(total) for name, _, total in fields}
        for name, series, units in self._series:
            # Periods are there only where the controller is on.
            readings.total(series, totals.get(name, 0) // units)

    def absent(self, readings: Readings) -> None:
        for _, series, _ in self._series:
            readings.absent(series)


def _v2(tree: CgroupTree, readings: Readings) -> Iterator[_StatFile]:
    return _stat_files(tree, V2, "cpu.stat", _V2_STAT, readings)


def _v1(tree: CgroupTree, readings: Readings) -> Iterator[_StatFile]:
    yield from _stat_files(tree, "cpu", "cpu.stat", _V1_STAT, readings)
    yield from _stat_files(tree, "cpuacct", "cpuacct.usage", _V1_USAGE, readings)


def _stat_files(
    tree: CgroupTree, controller: str, file: str, counters: _Counters, readings: Readings
) -> Iterator[_StatFile]:
    for cgroup in tree.watched(controller, has_cpu_limit):
        path = cgroup.directory / file
        # Not there in the root of older kernels, nor once the cgroup has been removed.
        if path.exists():
            yield _StatFile(path, counters, cgroup.names, readings)


def has_cpu_limit(cgroup: Path) -> bool:
    """Whether CPU time is withheld from it beyond a quota: v2's cpu.max or v1's is set."""
    quota = read_text(cgroup / "cpu.max") or read_text(cgroup / "cpu.cfs_quota_us")
    return quota is not None and quota.split(" ")[0] not in ("max", "-1")


OBSERVER = CgroupCpu
