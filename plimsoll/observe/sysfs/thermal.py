"""How often and how long CPUs were slowed down because they were too hot."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from plimsoll.host.cpus import online_cpus
from plimsoll.observe.reading.host_files import (
    CounterFile,
    HostFiles,
    RereadFile,
    cpu_names,
    read_text,
)
from plimsoll.observe.reading.observer import NotObservable, ObservedHost, Observer
from plimsoll.observe.reading.readings import Readings
from plimsoll.record.samples.metric_type import MetricType

# The threads of a core, and the cores of a package, may all count the same event: their sum
# is not a number of events.
_EVENTS = MetricType(
    "thermal", "throttle-events-sec", "count", "events/s", "max", counted=True, carried=True
)
_TIME = MetricType(
    "thermal", "throttled-msec-sec", "count", "ms/s", "max", counted=True, carried=True
)
_CELSIUS = MetricType("thermal", "temperature-celsius", "count", "°C", "max", carried=True)
_FILES = ((_EVENTS, "throttle_count"), (_TIME, "throttle_total_time_ms"))
_MILLI = 1000
# Reads the temperature over PCI. Others ask the CPU itself (coretemp and x86_pkg_temp by an
# interrupt), or the firmware (acpitz), which may stop all CPUs to answer.
_HARMLESS_SENSORS = frozenset({"k10temp"})


class Thermal(Observer):
    """Throttling as Intel CPUs report it, and the temperature of AMD CPUs.

    Of Intel's no temperature is read, since that interrupts the CPU; the counters of
    throttling lie in memory (drivers/thermal/intel/therm_throt.c). `domain` is core, for
    each CPU, or package, once for each.
    """

    source = "thermal"
    summary = "thermal throttling by core and package (Intel), temperature by k10temp (AMD)"
    types = (_EVENTS, _TIME, _CELSIUS)

    def __init__(self, host: ObservedHost, readings: Readings) -> None:
        self._counters = list(_counters(host.files, readings))
        self._sensors = list(_sensors(host.files, readings))
        if not self._counters and not self._sensors:
            raise NotObservable(
                "no CPU tells of throttling (Intel's do, outside guests), and no sensor of "
                "AMD's driver k10temp is there"
            )

    def read(self, readings: Readings) -> None:
        """Tell counters that have changed, and temperatures."""
        for counter in tuple(self._counters):
            try:
                counter.read(readings)
            except (OSError, ValueError):
                # The CPU has been taken offline: then the file is empty, or gone.
                self._counters.remove(counter)
                counter.absent(readings)
        for sensor, series in tuple(self._sensors):
            try:
                readings.value(series, sensor.read_int() / _MILLI)
            except OSError:
                self._sensors.remove((sensor, series))
                readings.absent(series)


def _counters(files: HostFiles, readings: Readings) -> Iterator[CounterFile]:
    cpus = files.sys / "devices/system/cpu"
    packages: set[str] = set()
    for cpu in sorted(online_cpus(cpus / "online")):
        folder = cpus / f"cpu{cpu}/thermal_throttle"
        names = dict(cpu_names(files, cpu))
        yield from _of_domain(folder, "core", names, readings)
        # Every CPU of a package counts what happens to the package.
        if (package := names.get("package", "")) not in packages:
            packages.add(package)
            yield from _of_domain(folder, "package", {"package": package}, readings)


def _of_domain(
    folder: Path, domain: str, names: dict[str, str], readings: Readings
) -> Iterator[CounterFile]:
    for metric, kind in _FILES:
        path = folder / f"{domain}_{kind}"
        # The times came with kernel 5.6, and not all CPUs tell of their package.
        if path.exists():
            yield CounterFile(path, readings.series(metric, {**names, "domain": domain}))


def _sensors(files: HostFiles, readings: Readings) -> Iterator[tuple[RereadFile, int]]:
    for chip in sorted((files.sys / "class/hwmon").glob("hwmon*")):
        if read_text(chip / "name") not in _HARMLESS_SENSORS:
            continue
        for path in sorted(chip.glob("temp*_input")):
            label = read_text(path.with_name(path.name.replace("_input", "_label")))
            names = {"chip": (chip / "device").resolve().name, "sensor": label or path.name}
            yield RereadFile(path), readings.series(_CELSIUS, names)


OBSERVER = Thermal
