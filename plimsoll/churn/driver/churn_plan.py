"""Which namespaces are churned when, with kube-burner's semantics; pure.

A cycle deletes a contiguous window of the iterations' namespaces, waits until they are gone,
pauses for the deletion delay, makes them again, waits until their pods are ready, and pauses for
the delay. Cycles follow each other until the duration is over or there were enough of them.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Literal

from plimsoll.churn.joining.dips import TimeSpan

# "delete": from the first request until all were gone. "create": made until all pods were ready.
PhaseKind = Literal["delete", "create"]


@dataclass(frozen=True, slots=True)
class ChurnPlan:
    """How one level is churned. `percent` 0 churns nothing: kube-burner's own 0 churns one.

    `cycles` and `duration_s` bound it, whichever comes first; 0 cycles are no bound.
    """

    iterations: int
    percent: float
    duration_s: float
    cycles: int
    delay_s: float
    deletion_delay_s: float

    @property
    def churned(self) -> int:
        """How many namespaces each cycle churns."""
        if self.percent == 0:
            return 0
        return max(int(self.percent * self.iterations / 100), 1)

    def goes_on(self, cycles_done: int, since_s: float) -> bool:
        """Whether another cycle begins, `since_s` after the first began.

        As with kube-burner a cycle that has begun is gone through with.
        """
        if self.churned == 0 or since_s >= self.duration_s:
            return False
        return self.cycles == 0 or cycles_done < self.cycles

    def window(self, chance: random.Random) -> range:
        """The iterations of a cycle: contiguous, begun anywhere that they all fit in."""
        begin = chance.randrange(self.iterations - self.churned + 1)
        return range(begin, begin + self.churned)


# What the driver did and when: the phases of each cycle.
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
