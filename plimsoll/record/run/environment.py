"""The environment of a run: what the numbers were measured with, as environment.json.

Everything is read from /proc and /sys; what this machine does not tell is null.

A time that is never set, next to the wall clock's: how long after the boot an event was. By it the
time between two trials is right also where the wall clock was set between them.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, TypeAlias

from pydantic import AfterValidator, BaseModel, ConfigDict

from plimsoll.host.ledger.record import boot_id
from plimsoll.record.calibrations.calibration import TesterCalibration
from plimsoll.record.calibrations.stored_calibration import StoredCalibration
from plimsoll.record.files.whole_file import read_whole, write_whole
from plimsoll.record.run.journal import JournalEvent
from plimsoll.tune.host.boot.kernel_command_line import without_unknown_values

_BOOT, _SINCE = "boot", "since_boot_ns"
BootLine: TypeAlias = Annotated[str, AfterValidator(without_unknown_values)]


def time_since_boot() -> dict[str, object]:
    """Fields for an event that happens now: which boot this is, and the ns since it.

    The boot's id is random and new each time; of it only so much is kept as tells two apart.
    """
    try:
        boot = hashlib.sha256(boot_id().encode()).hexdigest()[:16]
    except OSError:
        return {}
    return {_BOOT: boot, _SINCE: time.clock_gettime_ns(time.CLOCK_BOOTTIME)}


def clock_set_between(earlier: JournalEvent, later: JournalEvent) -> int | None:
    """By how many ns the wall clock was set between two events of one boot: less than 0 if back.

    None where they are of two boots, or do not tell.
    """
    begin, end = earlier.fields.get(_SINCE), later.fields.get(_SINCE)
    if not isinstance(begin, int) or not isinstance(end, int):
        return None
    if earlier.fields.get(_BOOT) != later.fields.get(_BOOT):
        return None
    return later.at_unix_ns - earlier.at_unix_ns - (end - begin)


@dataclass(frozen=True, slots=True)
class SentTime:
    """A trial by its event `trial-started`, and from when (wall clock) and how long it sent."""

    started: JournalEvent
    begin_unix_ns: int
    sending_s: float


def pause_s(earlier: SentTime | None, later: SentTime) -> float:
    """For how many s nothing was sent between two trials; 0 without an earlier one.

    It is 0, too, where nothing tells: the clock was set back, and the machine booted anew.
    """
    if earlier is None:
        return 0.0
    set_ns = clock_set_between(earlier.started, later.started) or 0
    apart_ns = later.begin_unix_ns - earlier.begin_unix_ns - set_ns
    return max(0.0, apart_ns / 1e9 - earlier.sending_s)


class ObservedHostRecord(BaseModel):
    """One host. CPUs are lists in the kernel's form.

    The agent that read the figures ran on `ran_on`. `polled` are the CPUs of polling loops
    by role ("tester", "dut"). `missing` says of each source that was not read why.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    hostname: str
    interval_s: float
    ran_on: str
    polled: dict[str, str]
    sources: tuple[str, ...]
    missing: dict[str, str]


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
