"""A host made of files for every observer there is: tables, CPUs' states, a DUT in a pod.

Such files take the kernel no time to write: what a real one spends on them comes on top.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from plimsoll.observe.reading.observer import Observation, ObservedHost
from tests.unit.observe.cgroup_host import CgroupHost, pressure, v2_stat
from tests.unit.observe.cpu_tree import CpuTree, write
from tests.unit.observe.trees import HostTree

_MEMORY = Path("/dev/shm")  # noqa: S108 - in memory, for a folder with a name of its own
_POLLED = (5, 9)
_DUT_PID = 77
_POD = "/kubepods.slice/pod.slice"


class ForwardingHost:
    """40 CPUs, say, of which two poll for a DUT in a pod with a limit on its CPU time."""

    def __init__(self, root: Path, *, cpus: int, interrupts: int, devices: int = 10) -> None:
        """Write all files below `root`."""
        self._cpus = CpuTree(root, cpus)
        self._cgroups = CgroupHost(root, v2="/sys/fs/cgroup")
        self._cgroups.process(_DUT_PID, v2=_POD)
        self._cgroups.process("self", v2=_POD)
        write(self._cgroups.v2(_POD) / "cpu.max", "200000 100000")
        self._tree = HostTree(root, cpus=cpus, interrupts=interrupts, devices=devices)
        self._second = 0
        self.advance()
        observation = Observation(polled_cpus=_POLLED, pids={"dut": _DUT_PID})
        self.observed = ObservedHost(self._cpus.files, observation)

    def advance(self) -> None:
        """A second passes."""
        self._second += 1
        self._cpus.advance(_POLLED)
        self._tree.advance()
        self._tree.write()
        pod = self._cgroups.v2(_POD)
        write(pod / "cpu.stat", v2_stat(2_000_000 * self._second, 10 * self._second))
        for resource in ("cpu", "memory", "io"):
            stalled = pressure(1_000 * self._second, 0)
            write(pod / f"{resource}.pressure", stalled)
            write(self._cpus.files.proc / "pressure" / resource, stalled)

    @property
    def interrupts(self) -> int:
        """All that there have been."""
        lines = self._tree.tables.interrupts.values()
        return sum(sum(line.counts.values()) for line in lines)


@contextmanager
def forwarding_host(*, cpus: int, interrupts: int, devices: int = 10) -> Iterator[ForwardingHost]:
    """One in memory where there is room in memory, for the length of a `with`."""
    in_memory = _MEMORY if _MEMORY.is_dir() else None
    with tempfile.TemporaryDirectory(dir=in_memory) as folder:
        yield ForwardingHost(Path(folder), cpus=cpus, interrupts=interrupts, devices=devices)
