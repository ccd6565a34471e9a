"""What `plimsoll osnoise` is to measure."""

from __future__ import annotations

from dataclasses import dataclass

from plimsoll.errors import InputError
from plimsoll.host.cpus import check_cpus
from plimsoll.text.units import format_ns

# The engine's own bounds (docs/engine-protocol.md).
LEAST_THRESHOLD_NS = 1_000
MOST_THRESHOLD_NS = 1_000_000_000
_MOST_CPUS = 64
_LEAST_S = 0.1
_MOST_S = 7 * 86_400.0


@dataclass(frozen=True, slots=True)
class NoiseSettings:
    """CPUs to measure, for how long, and what counts.

    A gap of `threshold_ns` or more between two looks at the clock is a stall. `max_ns` is the
    longest that passes; None where any does. With `trace` kernel events are recorded.
    """

    cpus: tuple[int, ...]
    duration_s: float = 60.0
    threshold_ns: int = LEAST_THRESHOLD_NS
    max_ns: int | None = None
    trace: bool = True

    def check(self) -> None:
        """Raise InputError for what cannot be measured here."""
        check_cpus([("--cpus", cpu) for cpu in self.cpus])
        if len(self.cpus) > _MOST_CPUS:
            raise InputError(
                f"{len(self.cpus)} CPUs are more than the engine has loops for",
                where="--cpus",
                remedy=f"measure at most {_MOST_CPUS} at once",
            )
        if not _LEAST_S <= self.duration_s <= _MOST_S:
            raise InputError(
                f"{self.duration_s:g} s is too {'short' if self.duration_s < _LEAST_S else 'long'}",
                where="--duration",
                remedy="give 100ms to 7d",
            )
        if not LEAST_THRESHOLD_NS <= self.threshold_ns <= MOST_THRESHOLD_NS:
            raise InputError(
                f"stalls cannot begin at {format_ns(self.threshold_ns)}",
                where="--threshold",
                remedy="give 1us to 1s",
            )
        if self.max_ns is not None and self.max_ns < self.threshold_ns:
            raise InputError(
                f"{format_ns(self.max_ns)} is below the threshold of "
                f"{format_ns(self.threshold_ns)}, so what breaks it would not be looked into",
                where="--max",
                remedy="raise it, or lower --threshold",
            )
