"""How the latencies of frames through a simulated DUT are distributed.

A floor that jitters (log-normally, as the product of many small things does), and an
exponential wait for whatever is served first. Quantiles of the two are added, so a frame
that is slow in one is so in both.
"""

from __future__ import annotations

import math
from random import Random
from statistics import NormalDist
from typing import NamedTuple

_STANDARD_NORMAL = NormalDist()


class LatencyShape(NamedTuple):
    """Floor (a median) and its relative deviation, a mean wait and its most; times in ns.

    `queue_ns` is what every frame waits alike.
    """

    floor_ns: float
    deviation: float
    wait_ns: float = 0.0
    most_wait_ns: float = math.inf
    queue_ns: float = 0.0

    def value_ns(self, normal: float, exponential: float) -> int:
        """The latency at the same quantile of both standard distributions."""
        body_ns = self.floor_ns * math.exp(self.deviation * normal)
        wait_ns = min(self.wait_ns * exponential, self.most_wait_ns)
        return max(1, int(body_ns + wait_ns + self.queue_ns))

    def exceeded_ns(self, share: float) -> int:
        """The latency that so large a share of the frames exceeds."""
        return self.value_ns(*standard_values(share))

    def slowest_ns(self, frames: int, chance: Random) -> int:
        """The latency of the slowest of so many frames, drawn each time."""
        return self.exceeded_ns((1.0 - chance.random()) / frames)


def standard_values(beyond: float) -> tuple[float, float]:
    """The standard normal's and exponential's value that a share of `beyond` exceeds."""
    beyond = min(max(beyond, 1e-15), 1.0 - 1e-15)
    return -_STANDARD_NORMAL.inv_cdf(beyond), -math.log(beyond)
