"""How long each CPU spent in which idle state, and how often it went there."""

from __future__ import annotations

from pathlib import Path

from plimsoll.host.cpus import online_cpus
from plimsoll.observe.reading.host_files import CounterFile, HostFiles, cpu_names, read_text
from plimsoll.observe.reading.observer import NotObservable, ObservedHost, Observer
from plimsoll.observe.reading.readings import Readings
from plimsoll.record.samples.metric_type import MetricType

# Counted in µs by the kernel, so that all states of all CPUs come to the CPUs that idled.
_RESIDENCY = MetricType(
    "cpuidle", "residency", "count", "CPUs", "sum", counted=True, carried=True, scale=1e-6
)
_ENTRIES = MetricType(
    "cpuidle", "entries-sec", "count", "entries/s", "sum", counted=True, carried=True
)


class Cpuidle(Observer):
    """Time and entries by CPU and idle state.

    The kernel counts a stay when it ends: one of several seconds appears in that in which the
    CPU woke, with more than a whole CPU. Reading the counters wakes no CPU, not even polled
    ones: they lie in memory (drivers/cpuidle/sysfs.c).
    """

    source = "cpuidle"
    summary = "time spent in idle states and entries into them, from /sys/devices/system/cpu"
    types = (_RESIDENCY, _ENTRIES)

    def __init__(self, host: ObservedHost, readings: Readings) -> None:
        cpus = host.files.sys / "devices/system/cpu"
        states = {
            cpu: [
                _IdleState(state, _names(host.files, cpu, state), readings)
                for state in sorted((cpus / f"cpu{cpu}/cpuidle").glob("state*"))
            ]
            for cpu in sorted(online_cpus(cpus / "online"))
        }
        self._states = {cpu: known for cpu, known in states.items() if known}
        if not self._states:
            raise NotObservable(
                "the kernel has no idle states of its own: the host is a guest whose "
                "hypervisor idles, or was booted with idle=poll or cpuidle.off=1"
            )

    def read(self, readings: Readings) -> None:
        """Tell time and entries of the states that were left since the last reading."""
        for cpu, states in tuple(self._states.items()):
            try:
                for state in states:
                    state.read(readings)
            except OSError:
                # The CPU has been taken offline.
                for state in self._states.pop(cpu):
                    state.absent(readings)


class _IdleState:
    def __init__(self, folder: Path, names: dict[str, str], readings: Readings) -> None:
        self._entries = CounterFile(folder / "usage", readings.series(_ENTRIES, names))
        self._time = CounterFile(folder / "time", readings.series(_RESIDENCY, names))

    def read(self, readings: Readings) -> None:
        # Both are counted when the state is left; a polling CPU leaves none for hours.
        if self._entries.read(readings):
            self._time.read(readings)

    def absent(self, readings: Readings) -> None:
        self._entries.absent(readings)
        self._time.absent(readings)


def _names(files: HostFiles, cpu: int, state: Path) -> dict[str, str]:
    return {**cpu_names(files, cpu), "state": read_text(state / "name") or state.name}


OBSERVER = Cpuidle
