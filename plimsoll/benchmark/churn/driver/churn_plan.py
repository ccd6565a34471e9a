"""Which namespaces are churned when, with kube-burner's semantics; pure.

A cycle deletes a contiguous window of the iterations' namespaces, waits until they are gone,
pauses for the deletion delay, makes them again, waits until their pods are ready, and pauses for
the delay. Cycles follow each other until the duration is over or there were enough of them.
"""

from __future__ import annotations

import random
from dataclasses import dataclass


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
