"""Cache occupancy and memory bandwidth of the experiment's resctrl groups."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from plimsoll.host.cpus import format_cpu_list, parse_cpu_list
from plimsoll.observe.reading.host_files import HostFiles, RereadFile, read_text
from plimsoll.observe.reading.observer import NotObservable, ObservedHost, Observer
from plimsoll.observe.reading.readings import Readings
from plimsoll.record.samples.metric_type import MetricType

_OCCUPANCY = MetricType(
    "resctrl", "llc-occupancy-bytes", "count", "bytes", "sum", counted=False, carried=True
)
_TOTAL = MetricType(
    "resctrl", "mbm-total-bytes-sec", "throughput", "bytes/s", "sum", counted=True, carried=True
)
_LOCAL = MetricType(
    "resctrl", "mbm-local-bytes-sec", "throughput", "bytes/s", "sum", counted=True, carried=True
)
_EVENTS = {"llc_occupancy": _OCCUPANCY, "mbm_total_bytes": _TOTAL, "mbm_local_bytes": _LOCAL}
_DOMAIN = "mon_L3_"


class ResctrlCounters(Observer):
    """The counters in each group's `mon_data`, by the id of the L3 cache.

    The kernel reads them on a CPU that shares the cache: by an interrupt or, in newer kernels,
    by a worker on any that is not nohz_full. So a cache is left out where one of its CPUs is
    under test and not nohz_full.
    """

    source = "resctrl"
    summary = "cache occupancy and memory bandwidth of the experiment's resctrl groups (CMT, MBM)"
    types = tuple(_EVENTS.values())

    def __init__(self, host: ObservedHost, readings: Readings) -> None:
        groups = host.observation.resctrl
        if not groups:
            raise NotObservable("the experiment has no resctrl groups")
        disturbed = _disturbed(host)
        folders = {
            name: sorted(Path(folder, "mon_data").glob(f"{_DOMAIN}*"))
            for name, folder in groups.items()
        }
        if not any(folders.values()):
            raise NotObservable("the CPU does not count for resctrl groups (no mon_data)")
        self._counters = [
            _Counter(file, metric, {"group": name, "cache": str(_id(domain))}, readings)
            for name, domains in folders.items()
            for domain in domains
            if _id(domain) not in disturbed
            for event, metric in _EVENTS.items()
            if (file := domain / event).exists()
        ]
        if not self._counters:
            cpus = format_cpu_list(set().union(*disturbed.values()))
            raise NotObservable(
                f"reading the counters could interrupt CPU {cpus}, under test: boot with nohz_full "
                "for them"
            )

    def read(self, readings: Readings) -> None:
        """Tell all of them."""
        for counter in self._counters:
            counter.read(readings)


class _Counter:
    """One event of one group and cache."""

    def __init__(
        self, file: Path, metric: MetricType, names: dict[str, str], readings: Readings
    ) -> None:
        self._file = RereadFile(file)
        self._series = readings.series(metric, names)
        self._counted = metric.counted

    def read(self, readings: Readings) -> None:
        text = self._file.read().strip()
        # "Unavailable" or "Error" while the hardware has no counter for it.
        if not text.isdigit():
            readings.absent(self._series)
        elif self._counted:
            readings.total(self._series, int(text))
        else:
            readings.value(self._series, int(text))


def _disturbed(host: ObservedHost) -> dict[int, set[int]]:
    """By L3 cache, the CPUs under test that a reading could interrupt."""
    full = read_text(host.files.sys / "devices/system/cpu/nohz_full") or ""
    # "(null)" where the kernel was booted without.
    spared = parse_cpu_list(full) if full[:1].isdigit() else ()
    found: dict[int, set[int]] = {}
    for cpu in host.observation.polled_cpus:
        for cache in _l3_of(host.files, cpu):
            if cpu not in spared:
                found.setdefault(cache, set()).add(cpu)
    return found


def _l3_of(files: HostFiles, cpu: int) -> Iterator[int]:
    for index in (files.sys / f"devices/system/cpu/cpu{cpu}/cache").glob("index*"):
        if read_text(index / "level") == "3" and (id_ := read_text(index / "id")) is not None:
            yield int(id_)


def _id(domain: Path) -> int:
    return int(domain.name.removeprefix(_DOMAIN))


OBSERVER = ResctrlCounters
