"""The CPUs that an event of an inter-processor interrupt names."""

from __future__ import annotations

from collections.abc import Collection

from plimsoll.observe.kernel_trace.event import KernelEvent

# No machine has more: include/linux/threads.h allows 8192 CPUs.
_MOST_MASK_DIGITS = 8192 // 4 + 8192 // 32


def targets_of(event: KernelEvent, known: Collection[int]) -> tuple[int, ...]:
    """Those of the `known` CPUs that the event interrupts; empty for any other event."""
    if event.name == "ipi_send_cpu":
        target = event.fields.get("cpu", event.fields.get("target_cpu"))
        return (target,) if isinstance(target, int) and target in known else ()
    if event.name in ("ipi_send_cpumask", "ipi_raise"):
        mask = event.fields.get("cpumask", event.fields.get("target_cpus"))
        return tuple(cpu for cpu in known if _holds(mask, cpu))
    return ()


def _holds(mask: int | str | None, cpu: int) -> bool:
    """Masks are numbers, or hexadecimal text in groups of 32 bits: "00000000,00000003"."""
    if isinstance(mask, str):
        digits = mask.replace(",", "").strip()
        if not digits or len(mask) > _MOST_MASK_DIGITS:
            return False
        try:
            mask = int(digits, 16)
        except ValueError:
            return False
    return mask is not None and mask >= 0 and bool(mask >> cpu & 1)
