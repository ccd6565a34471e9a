"""Where the kernel's trace is complete: only there may "no kernel event" be said."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class TraceCoverage:
    """By CPU, from when to when (TSC) no event of it was lost. CPUs without a trace are absent."""

    complete: Mapping[int, tuple[int, int]] = field(default_factory=dict)

    def covers(self, cpu: int, begin_tsc: int, end_tsc: int) -> bool:
        """Whether every event of the CPU in this time is known."""
        span = self.complete.get(cpu)
        return span is not None and span[0] <= begin_tsc and end_tsc <= span[1]


NO_TRACE = TraceCoverage()
