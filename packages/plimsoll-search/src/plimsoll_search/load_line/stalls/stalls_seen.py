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

from ..hypotheses import NEARLY, LossIncident, incidents_of
from ..tried import Tried
from ..weigh import Weighed
from .cause import StallCause

# An explanation this likely bounds the load, whatever else is likelier.
_NOT_UNLIKELY = 0.1
# A third.
_BEST_SHARE = 3


@dataclass(frozen=True, slots=True)
class SeenStall:
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


def stalls_of(tried: Tried) -> Iterator[SeenStall]:
    """The longest stall of each interval that the evidence keeps, by time."""
    losses = {loss.begin_s: loss for loss in tried.evidence.losses}
    for peak, cause in zip(tried.evidence.peaks, tried.peak_causes, strict=True):
        if peak.at_s >= tried.evidence.sending_s:
            continue
        loss = losses.get(peak.at_s)
        lost = float(loss.frames) if loss else 0.0
        length_s = tried.above_least_s(peak.max_ns)
        yield SeenStall(peak.at_s, length_s, tried.load_pps, lost, cause)


def overflows(tried: Tried, weighed: Weighed) -> Iterator[SeenStall]:
    """The stalls that explain losses: each longer than the buffer could hold."""
    lossy = {each.at_s for each in incidents_of(tried) if weighed.explanation(each) == "stall"}
    return (stall for stall in stalls_of(tried) if stall.at_s in lossy)


def small_overflows(tried: Tried, weighed: Weighed) -> Iterator[SeenStall]:
    """The stalls that lost frames while the buffer was smaller than at other times."""
    lossy = {
        each.at_s
        for each in incidents_of(tried)
        if weighed.odds(each)["small-buffer"] > _NOT_UNLIKELY
    }
    return (stall for stall in stalls_of(tried) if stall.at_s in lossy)


def unexplained_losses(tried: Tried, weighed: Weighed) -> list[LossIncident]:
    """The losses that frames met with without having waited."""
    return [each for each in incidents_of(tried) if weighed.explanation(each) == "sporadic"]


def buffer_frames(overflowed: Iterable[SeenStall], full_queue: float = 0.0) -> float | None:
    """What the buffer holds, by the stalls that it did not hold; None where it held all.

    Where an interval had several stalls, its losses are those of all of them, and `held` is
    too little by as much. So those say it best that lost least: a third of them. Whether one
    direction lost the frames or both did together is known from `full_queue`, the frames that
    wait in plain overload, where that is not 0. Far less than that is the mark of several stalls
    in each interval; then that is what the buffer holds, and None where it is not known either.
    """
    by_loss = sorted(overflowed, key=lambda stall: stall.lost / stall.came)
    best = by_loss[: -(-len(by_loss) // _BEST_SHARE)]
    if not best:
        return None
    held = median(_held(stall, full_queue) for stall in best)
    held = held if held >= NEARLY * full_queue else full_queue
    return held if held > 0.0 else None


def _held(stall: SeenStall, full_queue: float) -> float:
    if not full_queue:
        return stall.held
    each = (stall.came - stall.lost / directions for directions in (1, 2))
    return min(each, key=lambda held: abs(held - full_queue))


def held_frames(stalls: Iterable[SeenStall]) -> float:
    """The most that the buffer is known to have held without a loss."""
    return max((stall.came for stall in stalls if not stall.lost), default=0.0)
