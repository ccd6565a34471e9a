"""The DUT's stalls, as load frames saw them, and what its buffer holds meanwhile.

While a DUT is away for s seconds, load·s frames come. The first of them waits for s, so
the worst latency of an interval, less the least there is, is the length of its longest
stall. What the buffer of B frames does not hold is lost: load·s - B. So an interval with a
loss and a peak says what B is, and one with a peak and no loss how much it is at least.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from statistics import median

from plimsoll.record.trials.trial_evidence import LossSample
from plimsoll.search.load_line.stall_cause import StallCause
from plimsoll.search.load_line.tried import Tried

# A third.
_BEST_SHARE = 3
# What waits in overload is known about so well.
_NEARLY = 0.97
# So many directions may lose frames in the same stall, and a little more.
_AT_ONCE = 3


@dataclass(frozen=True, slots=True)
class Stall:
    """The longest stall of an interval, and the frames that all directions lost in it.

    They count as those of one direction: where several stalled at once, `held` is too
    little by what the others lost.
    """

    at_s: float
    length_s: float
    load_pps: float
    lost: float
    cause: StallCause | None = None

    @property
    def came(self) -> float:
        """Frames that came while the DUT was away."""
        return self.load_pps * self.length_s

    @property
    def held(self) -> float:
        """Frames that the buffer held: all of it, where some were lost."""
        return self.came - self.lost


def stalls_of(tried: Tried) -> Iterator[Stall]:
    """The longest stall of each interval that the evidence keeps, by time."""
    losses = {loss.begin_s: loss for loss in tried.evidence.losses}
    for peak, cause in zip(tried.evidence.peaks, tried.peak_causes, strict=True):
        if peak.at_s >= tried.evidence.sending_s:
            continue
        loss = losses.get(peak.at_s)
        lost = float(loss.frames) if loss else 0.0
        length_s = tried.above_least_s(peak.max_ns)
        yield Stall(peak.at_s, length_s, tried.load_pps, lost, cause)


def explains(stall: Stall, full_queue: float) -> bool:
    """Whether so many frames can have been lost for want of room during the stall.

    Then it was longer than it takes to fill the queue, and by as much as lost the frames.
    `full_queue` are the frames that wait in plain overload, 0 where that is not known.
    """
    if not 0 < stall.lost < stall.came or stall.came < full_queue * _NEARLY:
        return False
    return not full_queue or stall.came - full_queue * _NEARLY > stall.lost / _AT_ONCE


def unexplained_losses(tried: Tried, full_queue: float) -> list[LossSample]:
    """The losses in intervals without a stall that could have caused them."""
    explained = {stall.at_s for stall in stalls_of(tried) if explains(stall, full_queue)}
    return [loss for loss in tried.evidence.losses if loss.begin_s not in explained]


def buffer_frames(stalls: Iterable[Stall], full_queue: float) -> float | None:
    """What the buffer holds, by the stalls that it did not hold; None where it held all.

    Where an interval had several stalls, its losses are those of all of them, and `held` is
    too little by as much. So those say it best that lost least: a third of them.
    """
    overflowed = sorted(
        (stall for stall in stalls if explains(stall, full_queue)),
        key=lambda stall: stall.lost / stall.came,
    )
    best = overflowed[: -(-len(overflowed) // _BEST_SHARE)]
    return median(stall.held for stall in best) if best else None


def held_frames(stalls: Iterable[Stall]) -> float:
    """The most that the buffer is known to have held without a loss."""
    return max((stall.came for stall in stalls if not stall.lost), default=0.0)
