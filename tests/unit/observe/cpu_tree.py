"""A host made of files: the CPUs' part of /sys, with idle states, policies and throttling."""

from __future__ import annotations

import errno
import struct
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from plimsoll.host.cpus import format_cpu_list
from plimsoll.observe.reading.host_files import HostFiles, RereadFile
from plimsoll.observe.reading.observer import Observation, ObservedHost

if TYPE_CHECKING:
    # Benchmarks use the tree too, where pytest need not be.
    import pytest

STATES = ("POLL", "C1", "C1E", "C3", "C6")


class CpuTree:
    """CPUs in two packages of consecutive numbers, without hyperthreading."""

    def __init__(self, root: Path, cpus: int) -> None:
        self.files = HostFiles(root / "proc", root / "sys", root / "dev")
        self.folder = self.files.sys / "devices/system/cpu"
        self._gone: list[Path] = []
        self._cpus = cpus
        self._second = 0
        self.write("online", format_cpu_list(range(cpus)))
        self.write("modalias", "cpu:type:x86,ven0000fam0006mod0055:feature:,0000,0001")
        self.write("nohz_full", "(null)")
        write(self.files.proc / "sys/kernel/osrelease", "6.12.0-65.el10.x86_64")
        for cpu in range(cpus):
            self.write(f"cpu{cpu}/topology/physical_package_id", cpu * 2 // cpus)
            self.write(f"cpu{cpu}/topology/core_id", cpu)
            self.write(f"cpu{cpu}/topology/thread_siblings_list", cpu)

    def host(self, **observation: object) -> ObservedHost:
        return ObservedHost(self.files, Observation.model_validate(observation))

    def write(self, name: str, value: object) -> None:
        """One file below /sys/devices/system/cpu."""
        write(self.folder / name, value)

    def idle(self, cpu: int, state: int, entries: int, usec: int) -> None:
        folder = f"cpu{cpu}/cpuidle/state{state}"
        self.write(f"{folder}/name", STATES[state])
        self.write(f"{folder}/usage", entries)
        self.write(f"{folder}/time", usec)

    def frequency(self, cpus: tuple[int, ...], khz: object) -> None:
        folder = f"cpufreq/policy{cpus[0]}"
        self.write(f"{folder}/affected_cpus", " ".join(map(str, cpus)))
        self.write(f"{folder}/scaling_cur_freq", khz)

    def throttled(self, cpu: int, core: tuple[int, int], package: tuple[int, int]) -> None:
        """Events and ms of a core and of its package, as this CPU counts them."""
        folder = f"cpu{cpu}/thermal_throttle"
        for domain, (events, msec) in (("core", core), ("package", package)):
            self.write(f"{folder}/{domain}_throttle_count", events)
            self.write(f"{folder}/{domain}_throttle_total_time_ms", msec)

    def smis(self, cpu: int, count: int) -> None:
        path = self.files.dev / f"cpu/{cpu}/msr"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(bytes(0x34) + struct.pack("<Q", count))

    def advance(self, polled: tuple[int, ...] = (5, 9)) -> None:
        """A second passes, in which every CPU but the polled ones uses all its idle states."""
        self._second += 1
        for cpu in range(self._cpus):
            at = 0 if cpu in polled else self._second
            self.frequency((cpu,), 2_000_000 + 7_919 * at)
            self.throttled(cpu, core=(0, 0), package=(0, 0))
            self.smis(cpu, 12)
            for state in range(len(STATES)):
                self.idle(cpu, state, entries=100 * at + state, usec=150_000 * at + state)

    def remove(self, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
        """Let the kernel withdraw what lies below: open files answer ENODEV, unlike a file's."""
        self._gone.append(self.folder / name)
        monkeypatch.setattr(RereadFile, "read", _withdrawn(self._gone))


def write(path: Path, value: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{value}\n")


def _withdrawn(gone: list[Path]) -> Callable[[RereadFile], bytes]:
    def read(file: RereadFile) -> bytes:
        if any(file.path.is_relative_to(folder) for folder in gone):
            raise OSError(errno.ENODEV, "No such device")
        return file.path.read_bytes()

    return read
