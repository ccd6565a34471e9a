"""The environment of a run: what the numbers were measured with, as environment.json.

Everything is read from /proc and /sys; what this machine does not tell is null.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from plimsoll.record.calibrations.calibration import TesterCalibration
from plimsoll.record.calibrations.stored_calibration import StoredCalibration
from plimsoll.record.files.whole_file import read_whole, write_whole
from plimsoll.record.run.boot_time import BootLine
from plimsoll.record.run.observed_host import ObservedHostRecord


class HugepageFacts(BaseModel):
    """Hugepages of one size, over all NUMA nodes."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    size_kib: int
    total: int | None
    free: int | None


class Environment(BaseModel):
    """The host as the run found it; null means unknown. Lists of CPUs are as the kernel prints.

    `cmdline` is the kernel's command line, `<hidden>` for what may be secret.

    `calibration` is this run's own, `earlier_calibrations` what `plimsoll calibrate` had
    found of the same tester before. `observed` are the hosts whose figures were recorded
    during trials.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    host: str | None
    kernel: str | None
    kernel_version: str | None
    cmdline: BootLine | None
    cpu_model: str | None
    cpus_online: str | None
    cpus_isolated: str | None
    cpus_nohz_full: str | None
    cpus_allowed: str | None
    smt_active: bool | None
    numa_nodes: str | None
    governors: dict[str, int] | None
    memory_kib: int | None
    hugepages: tuple[HugepageFacts, ...]
    clocksource: str | None
    versions: dict[str, str | None]
    calibration: TesterCalibration | None
    earlier_calibrations: tuple[StoredCalibration, ...] = ()
    observed: tuple[ObservedHostRecord, ...] = ()

    def write(self, path: Path) -> None:
        """Write environment.json. Raises RecordError."""
        write_whole(path, self.model_dump_json(indent=2) + "\n")


def read_environment(
    versions: Mapping[str, str | None],
    calibration: TesterCalibration | None = None,
    earlier_calibrations: tuple[StoredCalibration, ...] = (),
    observed: tuple[ObservedHostRecord, ...] = (),
    *,
    proc: Path = Path("/proc"),
    sys: Path = Path("/sys"),
) -> Environment:
    """The facts of this machine. `versions` names python, plimsoll, engine, DPDK and the like."""
    cpu = sys / "devices/system/cpu"
    smt = _text(cpu / "smt/active")
    return Environment(
        host=_text(proc / "sys/kernel/hostname"),
        kernel=_text(proc / "sys/kernel/osrelease"),
        kernel_version=_text(proc / "sys/kernel/version"),
        cmdline=_text(proc / "cmdline"),
        cpu_model=_field(proc / "cpuinfo", "model name"),
        cpus_online=_text(cpu / "online"),
        cpus_isolated=_text(cpu / "isolated"),
        cpus_nohz_full=_cpu_list(cpu / "nohz_full"),
        cpus_allowed=_field(proc / "self/status", "Cpus_allowed_list"),
        smt_active=None if smt is None else smt == "1",
        numa_nodes=_text(sys / "devices/system/node/online"),
        governors=_governors(cpu),
        memory_kib=_kib(_field(proc / "meminfo", "MemTotal")),
        hugepages=_hugepages(sys / "kernel/mm/hugepages"),
        clocksource=_text(sys / "devices/system/clocksource/clocksource0/current_clocksource"),
        versions=dict(versions),
        calibration=calibration,
        earlier_calibrations=earlier_calibrations,
        observed=observed,
    )


def load_environment(path: Path) -> Environment | None:
    """The environment at `path`; None when the run had not written one. Raises RecordError."""
    return read_whole(path, Environment, "restore it from a copy of the run, or delete it")


def _text(path: Path) -> str | None:
    """The stripped content; None when there is no such file. An empty file is an empty list."""
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip("\0\n ")
    except OSError:
        return None


def _cpu_list(path: Path) -> str | None:
    # The kernel prints "(null)" where nohz_full was not set.
    text = _text(path)
    return "" if text == "(null)" else text


def _field(path: Path, name: str) -> str | None:
    for line in (_text(path) or "").splitlines():
        key, colon, value = line.partition(":")
        if colon and key.strip() == name:
            return value.strip()
    return None


def _kib(text: str | None) -> int | None:
    number = (text or "").removesuffix("kB").strip()
    return int(number) if number.isdecimal() else None


def _governors(cpu: Path) -> dict[str, int] | None:
    counts: dict[str, int] = {}
    for path in cpu.glob("cpu[0-9]*/cpufreq/scaling_governor"):
        governor = _text(path)
        if governor:
            counts[governor] = counts.get(governor, 0) + 1
    return counts or None


def _hugepages(folder: Path) -> tuple[HugepageFacts, ...]:
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return ()
    return tuple(
        HugepageFacts(
            size_kib=int(name.removeprefix("hugepages-").removesuffix("kB")),
            total=_kib(_text(folder / name / "nr_hugepages")),
            free=_kib(_text(folder / name / "free_hugepages")),
        )
        for name in names
        if name.startswith("hugepages-")
    )
