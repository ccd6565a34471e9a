"""When a capture's frames follow each other, and how many are due at a rate, and when."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate


@dataclass(frozen=True)
class CapturedGaps:
    """The gaps between a capture's frames, sent over and over: a round has each once.

    `gaps_ns` has as many as there are frames, in ns, each the one after its frame; the last
    is from the last frame to the next round's first, and above 0. At a rate in frames a
    second all are scaled alike, so that this is their mean rate.
    """

    gaps_ns: tuple[int, ...]

    @property
    def round_ns(self) -> int:
        """From a round's first frame to the next round's, at the capture's own speed."""
        return sum(self.gaps_ns)

    @property
    def own_pps(self) -> float:
        """The mean rate at the capture's own speed, in frames a second."""
        return len(self.gaps_ns) * 1e9 / self.round_ns

    def due_before(self, seconds: float, rate_pps: float) -> int:
        """How many frames are due in the first `seconds`, of which round 0 is the begin."""
        frames = len(self.gaps_ns)
        rounds, rest = divmod(seconds * rate_pps, frames)
        return int(rounds) * frames + bisect_left(self._times_ns, rest / frames * self.round_ns)

    def most_within(self, seconds: float, rate_pps: float) -> int:
        """The most frames that are due within any `seconds`, both ends included."""
        frames, times_ns = len(self.gaps_ns), self._times_ns
        rounds, rest = divmod(seconds * rate_pps, frames)
        span_ns = rest / frames * self.round_ns
        most = last = 0
        for first, begin_ns in enumerate(times_ns):
            while times_ns[last % frames] + last // frames * self.round_ns <= begin_ns + span_ns:
                last += 1
            most = max(most, last - first)
        return int(rounds) * frames + most

    @cached_property
    def _times_ns(self) -> tuple[int, ...]:
        """When each frame of a round is due, from the round's begin on."""
        return tuple(accumulate(self.gaps_ns[:-1], initial=0))
