"""The frequency of each CPU."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from plimsoll.host.cpus import parse_cpu_list
from plimsoll.observe.reading.host_files import HostFiles, RereadFile, cpu_names, read_text
from plimsoll.observe.reading.observer import NotObservable, ObservedHost, Observer
from plimsoll.observe.reading.readings import Readings
from plimsoll.record.samples.metric_type import MetricType

_MHZ = MetricType("cpufreq", "MHz", "count", "MHz", "mean", carried=True)
_KHZ_PER_MHZ = 1000
# The first x86 kernel in which a CPU notes its frequency in its own tick
# (arch/x86/kernel/cpu/aperfmperf.c). Before, reading it interrupted that CPU, and slept
# 10 ms when the last reading was over a second ago.
_FIRST_WITHOUT_INTERRUPTION = (5, 19)


class Cpufreq(Observer):
    """`scaling_cur_freq` in whole MHz, where reading it interrupts no CPU.

    That is so on all kernels but those for x86 before 5.19, where nothing is read at all.
    On x86 it is what the CPU ran at over its last tick. A CPU that has had none for 20 ms
    since it idles is reported at what its policy last requested; CPUs in nohz_full, which have
    none while they poll, would be too, and are left out. `cpuinfo_cur_freq` is never read:
    it asks the hardware on the CPU itself.
    """

    source = "cpufreq"
    summary = "frequency of each CPU, from scaling_cur_freq; x86 from kernel 5.19 on"
    types = (_MHZ,)

    def __init__(self, host: ObservedHost, readings: Readings) -> None:
        cpus = host.files.sys / "devices/system/cpu"
        if (read_text(cpus / "modalias") or "").startswith("cpu:type:x86"):
            _check_kernel(host.files)
            tickless = _cpu_list(cpus / "nohz_full")
        else:
            tickless = ()
        folders = sorted((cpus / "cpufreq").glob("policy*"))
        policies = (_policy(host.files, folder, tickless, readings) for folder in folders)
        self._policies = [policy for policy in policies if policy is not None]
        if not self._policies:
            raise NotObservable(
                "no CPU tells its frequency: the host has no cpufreq driver, as most guests, "
                "or all its CPUs are in nohz_full"
            )

    def read(self, readings: Readings) -> None:
        """Tell the frequencies that have changed by a MHz or more."""
        for policy in tuple(self._policies):
            try:
                mhz = round(policy.file.read_int() / _KHZ_PER_MHZ)
            except (OSError, ValueError):
                # Its CPUs have been taken offline, or its driver has gone.
                self._policies.remove(policy)
                for series in policy.series:
                    readings.absent(series)
                continue
            for series in policy.series:
                readings.value(series, mhz)


@dataclass(frozen=True, slots=True)
class _Policy:
    """CPUs that change their frequency together; on x86 mostly one."""

    file: RereadFile
    series: tuple[int, ...]


def _policy(
    files: HostFiles, folder: Path, tickless: tuple[int, ...], readings: Readings
) -> _Policy | None:
    cpus = [cpu for cpu in _cpu_list(folder / "affected_cpus") if cpu not in tickless]
    if not cpus:
        return None
    series = tuple(readings.series(_MHZ, cpu_names(files, cpu)) for cpu in cpus)
    return _Policy(RereadFile(folder / "scaling_cur_freq"), series)


def _check_kernel(files: HostFiles) -> None:
    release = read_text(files.proc / "sys/kernel/osrelease") or "unknown"
    version = re.match(r"(\d+)\.(\d+)", release)
    if version is None or (int(version[1]), int(version[2])) < _FIRST_WITHOUT_INTERRUPTION:
        raise NotObservable(
            f"kernel {release} interrupts a CPU to tell its frequency; 5.19 and later do not"
        )


def _cpu_list(path: Path) -> tuple[int, ...]:
    """Lists are "0 1" in a policy and "0-1" elsewhere; "(null)" and "" say none."""
    text = read_text(path) or ""
    return parse_cpu_list(text.replace(" ", ",")) if text[:1].isdigit() else ()


OBSERVER = Cpufreq
