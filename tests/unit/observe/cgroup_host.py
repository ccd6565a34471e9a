"""A host made of files: cgroups of v1, of v2, or of both at once."""

from pathlib import Path

from plimsoll.observe.reading.host_files import HostFiles
from plimsoll.observe.reading.observer import Observation, ObservedHost
from tests.unit.observe.cpu_tree import write

_V2 = "31 23 0:28 {root} {at} rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n"
_V1 = "32 31 0:29 / {at} rw,nosuid - cgroup cgroup rw,{controllers}\n"
OTHERS = "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n23 22 0:20 / /sys rw - sysfs sysfs rw\n"


class CgroupHost:
    """`v2` is where that is mounted, and `v1` where its controllers are; "" for nowhere."""

    def __init__(self, root: Path, *, v2: str = "", v1: dict[str, str] | None = None) -> None:
        self.files = HostFiles(root / "proc", root / "sys")
        self._v2 = v2
        self._v1 = v1 or {}
        mounts = "".join(_V1.format(at=at, controllers=each) for each, at in self._v1.items())
        self.mount(OTHERS + (_V2.format(root="/", at=v2) if v2 else "") + mounts)

    def mount(self, mountinfo: str) -> None:
        write(self.files.proc / "self/mountinfo", mountinfo.rstrip())

    def process(self, pid: int | str, v2: str = "", **v1: str) -> None:
        """Put a process into cgroups: `cpu="/a"` is v1's, by controllers."""
        lines = [f"{number}:{each}:{path}" for number, (each, path) in enumerate(v1.items(), 1)]
        lines += [f"0::{v2}"] if v2 else []
        write(self.files.proc / str(pid) / "cgroup", "\n".join(lines))

    def v2(self, cgroup: str) -> Path:
        return self._below(self._v2, cgroup)

    def v1(self, controllers: str, cgroup: str) -> Path:
        return self._below(self._v1[controllers], cgroup)

    def observed(self, **pids: int) -> ObservedHost:
        return ObservedHost(self.files, Observation(pids=pids))

    def _below(self, mount: str, cgroup: str) -> Path:
        return self.files.sys / mount.removeprefix("/sys/") / cgroup.removeprefix("/")


def v2_stat(usage: int, periods: int | None = None, throttled: int = 0, usec: int = 0) -> str:
    """cpu.stat; without periods as where the controller is off."""
    stat = f"usage_usec {usage}\nuser_usec {usage}\nsystem_usec 0\n"
    if periods is None:
        return stat.rstrip()
    return (
        stat + f"nr_periods {periods}\nnr_throttled {throttled}\nthrottled_usec {usec}\nnr_bursts 0"
    )


def v1_stat(periods: int, throttled: int, time_ns: int) -> str:
    return f"nr_periods {periods}\nnr_throttled {throttled}\nthrottled_time {time_ns}\nnr_bursts 0"


def pressure(some: int, full: int) -> str:
    return "\n".join(
        f"{kind} avg10=0.12 avg60=0.00 avg300=0.00 total={total}"
        for kind, total in (("some", some), ("full", full))
    )
