"""Events of a trace whose clock counts nanoseconds, on the time stamp counter."""

from __future__ import annotations

from collections.abc import Iterable

from plimsoll.observe.kernel_trace.event import KernelEvent
from plimsoll.record.trials.clock_fit import ClockFit


def on_tsc(events: Iterable[KernelEvent], fit: ClockFit) -> list[KernelEvent]:
    """The events of a mono_raw trace with their times as ticks."""
    return [
        KernelEvent(fit.raw.tsc(event.tsc), event.cpu, event.name, event.fields) for event in events
    ]
