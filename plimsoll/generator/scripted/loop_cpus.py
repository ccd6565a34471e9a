"""Programs with a main thread, and a polling loop for each port."""

from __future__ import annotations

from collections.abc import Sequence

from plimsoll.generator.generator_plan import CpuWork
from plimsoll.traffic.plan import StreamPlan


def work_of_loops(
    cpus: Sequence[int], streams: tuple[StreamPlan, ...], port_count: int
) -> tuple[CpuWork, ...]:
    """Of each CPU: the first has the main thread, the others one port both ways each.

    A single CPU has all.
    """
    main, *loops = cpus
    if not loops:
        return (CpuWork(main, tuple(each.name for each in streams), tuple(range(port_count))),)
    works = (
        CpuWork(cpu, tuple(each.name for each in streams if each.tx_port == port), (port,))
        for port, cpu in enumerate(loops)
    )
    return (CpuWork(main, (), ()), *works)
