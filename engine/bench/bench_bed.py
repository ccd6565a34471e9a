"""What all contests share: memory, CPUs, time, and the list of what to clean up."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from plimsoll.dut.labs.testpmd_memif import TestpmdSettings
from plimsoll.host.cpus import check_cpus
from plimsoll.host.ledger.hugepages import MemoryPlan, plan_memory
from plimsoll.host.ledger.janitor import swept_ledger
from plimsoll.host.ledger.ledger import Ledger

# For our engine and the peer alike: more than either needs for two ports.
GENERATOR_MEGABYTES = 256


@dataclass(frozen=True)
class BenchBed:
    """`generator_cpu` and `other_cpu` poll, `seconds` is the length of one measurement.

    The DUT and the second lcore of a two-lcore generator run on the other CPU.
    """

    ledger: Ledger
    generator_memory: MemoryPlan
    dut_memory: MemoryPlan
    generator_cpu: int
    other_cpu: int
    seconds: float


@contextmanager
def bench_bed(generator_cpu: int, other_cpu: int, seconds: float) -> Iterator[BenchBed]:
    """Reserve memory, and give everything back at the end. Raises InputError, MachineError."""
    check_cpus([("--generator-cpu", generator_cpu), ("--other-cpu", other_cpu)])
    with swept_ledger("bench") as ledger:
        yield BenchBed(
            ledger,
            plan_memory(GENERATOR_MEGABYTES, ledger),
            plan_memory(TestpmdSettings().megabytes, ledger),
            generator_cpu,
            other_cpu,
            seconds,
        )
