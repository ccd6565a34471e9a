"""Arguments of every testpmd that we start, for DPDK's environment abstraction layer (EAL)."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from plimsoll.host.cpus import allowed_cpus, format_cpu_list
from plimsoll.host.ledger.hugepages import MemoryPlan


def eal_arguments(
    name: str,
    loop_cpus: Sequence[int],
    memory: MemoryPlan,
    megabytes: int,
    main_cpus: Collection[int] = (),
) -> tuple[str, ...]:
    """Of a program with a polling loop on each of `loop_cpus`, and `megabytes` of packet memory.

    Its main thread only sleeps: it is on `main_cpus`, or floats over all CPUs of this process.
    Neither kind of memory leaves files behind, nor needs hugetlbfs to be mounted.
    """
    main = f"0@({format_cpu_list(main_cpus or allowed_cpus())})"
    loops = (f"{lcore}@{cpu}" for lcore, cpu in enumerate(loop_cpus, start=1))
    ordinary = ("--no-huge", "-m", str(megabytes), "--no-shconf")
    return (
        *("--lcores", ",".join([main, *loops]), "--file-prefix", name),
        *(("--in-memory",) if memory.huge else ordinary),
    )
