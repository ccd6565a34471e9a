"""Arguments of the DPDK programs that we start, for DPDK's environment abstraction layer (EAL)."""

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
    return ("--lcores", ",".join([main, *loops]), *memory_arguments(name, memory, megabytes))


def memory_arguments(name: str, memory: MemoryPlan, megabytes: int) -> tuple[str, ...]:
    """Those of `eal_arguments` that are not of CPUs."""
    ordinary = ("--no-huge", "-m", str(megabytes), "--no-shconf")
    return ("--file-prefix", name, *(("--in-memory",) if memory.huge else ordinary))


def device_arguments(devargs: Sequence[str]) -> tuple[str, ...]:
    """Vdevs are made; what is not one is on a bus, and nothing else there is opened."""
    vdevs = [each for each in devargs if each.startswith("net_")]
    others = [each for each in devargs if each not in vdevs]
    words = [word for each in vdevs for word in ("--vdev", each)]
    allowed = [word for each in others for word in ("-a", each)]
    return (*words, *(allowed or ["--no-pci"]))
