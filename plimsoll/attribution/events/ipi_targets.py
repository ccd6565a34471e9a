"""The CPUs that an event of an inter-processor interrupt names."""

from __future__ import annotations

from collections.abc import Collection

from plimsoll.errors import InputError
from plimsoll.host.cpus import parse_cpu_list
from plimsoll.observe.kernel_trace.event import KernelEvent


def targets_of(event: KernelEvent, known: Collection[int]) -> tuple[int, ...]:
    """Those of the `known` CPUs that the event interrupts; empty for any other event."""
    if event.name == "ipi_send_cpu":
        target = event.fields.get("cpu")
        return (target,) if isinstance(target, int) and target in known else ()
    if event.name == "ipi_send_cpumask":
        try:
            named = parse_cpu_list(str(event.fields.get("cpumask", "")))
        except InputError:
            return ()
        return tuple(cpu for cpu in known if cpu in named)
    return ()
