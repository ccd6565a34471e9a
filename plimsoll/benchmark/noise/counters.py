"""Counters of what stops a CPU unseen by its kernel: time stolen by a hypervisor, SMIs."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from plimsoll.attribution.explanation.counters import PROC_STAT_UNIT_NS, CounterMove
from plimsoll.host.processes.affinity import housekeeping_cpus, leaves_no_cpu
from plimsoll.observe.reading.observer import NotObservable
from plimsoll.observe.sysfs.smi import SmiCount
from plimsoll.record.trials.clock_fit import ClockFit

_STAT = Path("/proc/stat")
_MSR = "/dev/cpu/{cpu}/msr"
# Of a line of /proc/stat: cpuN user nice system idle iowait irq softirq steal (proc(5)).
_STEAL = 8
_SMIS = 1 << 32


@dataclass(frozen=True, slots=True)
class CounterReading:
    """When it was read (wall clock), ticks stolen of each CPU, and SMIs where they are known."""

    unix_ns: int
    stolen: Mapping[int, int]
    smis: int | None


def stolen_ticks(stat: str, cpus: Collection[int]) -> dict[int, int]:
    """Ticks (USER_HZ) that a hypervisor ran something else on these CPUs, from /proc/stat."""
    found = {}
    for line in stat.splitlines():
        words = line.split()
        if len(words) > _STEAL and words[0].startswith("cpu") and words[0][3:].isdigit():
            found[int(words[0][3:])] = int(words[_STEAL])
    return {cpu: ticks for cpu, ticks in found.items() if cpu in cpus}


def smi_count(cpus: Collection[int]) -> SmiCount | None:
    """The count of SMIs, read on a CPU that is not among `cpus`; None where it cannot be.

    Reading it interrupts the CPU it is read of.
    """
    if leaves_no_cpu(cpus):
        return None
    try:
        return SmiCount(Path(_MSR.format(cpu=min(housekeeping_cpus(cpus)))))
    except NotObservable:
        return None


class NoiseCounters:
    """Readings in the order in which they were taken, and what moved between them."""

    def __init__(self, cpus: Collection[int], smis: SmiCount | None) -> None:
        self._cpus = cpus
        self._smis = smis
        self.readings: list[CounterReading] = []

    def read(self, unix_ns: int) -> None:
        """Take one now, which is `unix_ns`."""
        stolen = stolen_ticks(_STAT.read_text(), self._cpus)
        smis = None if self._smis is None else self._smis.read()
        self.readings.append(CounterReading(unix_ns, stolen, smis))

    def moves(self, clock: ClockFit) -> tuple[CounterMove, ...]:
        """What moved, in ticks of the time stamp counter."""
        return tuple(
            move
            for before, after in pairwise(self.readings)
            for move in _moves(before, after, clock)
        )


def _moves(before: CounterReading, after: CounterReading, clock: ClockFit) -> Iterator[CounterMove]:
    begin, end = clock.tsc(before.unix_ns), clock.tsc(after.unix_ns)
    for cpu, ticks in after.stolen.items():
        stolen_ns = (ticks - before.stolen.get(cpu, ticks)) * PROC_STAT_UNIT_NS
        if stolen_ns > 0:
            name = f"steal of CPU {cpu}"
            yield CounterMove(
                "hypervisor-steal", name, cpu, begin, end, stolen_ns, PROC_STAT_UNIT_NS
            )
    if before.smis is not None and after.smis is not None:
        smis = (after.smis - before.smis) % _SMIS
        if smis:
            yield CounterMove("hardware", "SMIs", None, begin, end, events=smis)
