"""What the driver did and when: the phases of each cycle."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from plimsoll.benchmark.churn.joining.dips import TimeSpan

# "delete": from the first request until all were gone. "create": made until all pods were ready.
PhaseKind = Literal["delete", "create"]


@dataclass(frozen=True, slots=True)
class ChurnPhase:
    """A phase of a cycle, in ns since the epoch; `namespaces` are their numbers.

    `made_ns` is when the last object had been made, None of a deletion. `complete` is whether
    it came to its end in time.
    """

    cycle: int
    kind: PhaseKind
    namespaces: tuple[int, ...]
    begin_ns: int
    end_ns: int
    made_ns: int | None = None
    complete: bool = True

    def within(self, origin_ns: int) -> TimeSpan:
        """The same in s from `origin_ns` on."""
        return TimeSpan((self.begin_ns - origin_ns) / 1e9, (self.end_ns - origin_ns) / 1e9)
