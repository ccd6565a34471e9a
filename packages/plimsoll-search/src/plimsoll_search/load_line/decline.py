"""A capacity that falls while the trial runs, extrapolated to the end of the validation.

In an overloaded trial, what comes back is the capacity, second by second. Where that
falls as whatever tires or warms up does, by D·(1 - exp(-t/τ)), the first losses say from
where, the last how far it has fallen and the sum of all losses how early. Together they
give D and τ.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from ..evidence.trial_evidence import LossSample
from .hypotheses import AT_ONCE, NEARLY, incidents_of
from .overload import stands
from .tried import Tried

# So many intervals without a loss make two lossy ones in a row no coincidence.
_QUIET_INTERVALS = 10
# The slowest hundredth of the frames is of intervals that are twice as many, or more.
_SEEN = 0.02
# The mean of so many of the first intervals is the beginning, of the last the end.
_FEW = 5
# A straight line has lost half of its fall in the mean; a little more, and τ would be
# longer than anything that the trial can show.
_STRAIGHT = 0.51
# A straight line is followed for so many times as long as it was seen.
_FOLLOWED = 2.0
_HALVINGS = 60
# A step may fall on the border of two intervals, and is then two falls.
_MAX_STEPS = 8
_MOSTLY = 0.8
_MOST = 0.9


@dataclass(frozen=True, slots=True)
class Decline:
    """A capacity of `before_pps` falls by the share `fall`, in `tau_s`; None: straight on.

    On a straight line, `fall` is that of a second, and the line was seen for `seen_s`.
    """

    before_pps: float
    fall: float
    tau_s: float | None
    seen_s: float

    def left_pps(self, duration_s: float) -> float:
        """The capacity after so long.

        A straight line is followed for as long again as it was seen. What comes then is known
        between no more and straight on: the geometric mean of the two is taken.
        """
        fallen = self.fall * self._on_the_line_s(duration_s)
        if self.tau_s is not None:
            fallen = -self.fall * math.expm1(-duration_s / self.tau_s)
        return self.before_pps * (1.0 - min(_MOST, fallen))

    def after(self, load_pps: float, seconds: float) -> Decline:
        """The same, where a load that it left for a while was not carried any longer then.

        So long a line is known by its end.
        """
        fallen = 1.0 - load_pps / self.before_pps
        if self.tau_s is not None or seconds <= self.seen_s or fallen <= 0.0:
            return self
        return Decline(self.before_pps, fallen / seconds, None, seconds)

    def _on_the_line_s(self, duration_s: float) -> float:
        followed_s = _FOLLOWED * self.seen_s
        return duration_s if duration_s < followed_s else math.sqrt(duration_s * followed_s)


def declined(tried: Tried, full_queue: float = 0.0) -> bool:
    """Whether losses began late and then did not end: not a stall, but a falling capacity.

    Then the queue stands from there on: `full_queue` frames wait in plain overload; 0 where
    that is not known, and then it is as long as the longest wait. A validation ends soon after
    its first loss, and a stall or two make the few intervals until then lossy as well; but a
    stall loses no more than came while it lasted.
    """
    evidence = tried.evidence
    if evidence.first_loss_s is None or not tried.interval_s:
        return False
    quiet = evidence.first_loss_s / tried.interval_s
    lossy_s = evidence.lossy_intervals * tried.interval_s
    after_s = evidence.sending_s - evidence.first_loss_s
    lasted = evidence.lossy_intervals >= 2 and lossy_s >= 0.8 * after_s
    # Else the queue stood for too little of the time to be seen.
    seen = evidence.lossy_intervals > _SEEN * evidence.intervals
    stood = not seen or _stood(tried, full_queue) or _overran(tried, full_queue)
    return quiet >= _QUIET_INTERVALS and lasted and stood


def _stood(tried: Tried, full_queue: float) -> bool:
    """Whether the slowest hundredth of the frames waited in a full queue.

    Where that is not known, half as long as the unluckiest frame at least. Where no frame has
    a latency, nothing speaks against it.
    """
    p99_ns, max_ns = tried.evidence.p99_ns, tried.evidence.max_ns
    if full_queue:
        return stands(tried, p99_ns, full_queue)
    if p99_ns is None or max_ns is None:
        return True
    return tried.above_least_s(p99_ns) >= tried.above_least_s(max_ns) / 2


def _overran(tried: Tried, full_queue: float) -> bool:
    """Whether an interval lost far more than came while frames waited behind a full queue."""
    return any(
        full_queue * NEARLY < each.came < full_queue / NEARLY and each.lost > AT_ONCE * each.came
        for each in incidents_of(tried)
    )


def falls_by_steps(tried: Tried, width: float) -> bool:
    """Whether the capacity of a trial that lost all along stayed the same, but for a few steps.

    What warms or tires falls by a little in every interval. `width` is the share of the load
    below which nothing counts as a fall.
    """
    lost_pps = [_lost_pps(tried, (loss,)) for loss in tried.evidence.losses]
    falls = [max(0.0, later - loss) for loss, later in pairwise(lost_pps)]
    if sum(falls) < width * tried.load_pps:
        return True
    largest = sorted(falls, reverse=True)[:_MAX_STEPS]
    return len(falls) > 2 * _MAX_STEPS and sum(largest) >= _MOSTLY * sum(falls)


def end_capacity_pps(tried: Tried) -> float:
    """What a trial that lost all along forwarded in its last intervals."""
    return tried.load_pps - _lost_pps(tried, tried.evidence.losses[-_FEW:])


def decline_of(tried: Tried) -> Decline:
    """By a trial that was overloaded to its end, from a load near the capacity."""
    evidence = tried.evidence
    duration_s = evidence.sending_s
    # It may have been tired to begin with.
    at_once = evidence.first_loss_s is not None and evidence.first_loss_s < tried.interval_s
    begin = _lost_pps(tried, evidence.losses[:_FEW]) if at_once else 0.0
    before = tried.load_pps - begin
    end_fall = 1.0 - (tried.load_pps - _lost_pps(tried, evidence.losses[-_FEW:])) / before
    mean_fall = 1.0 - evidence.forwarded_pps / before
    if end_fall <= 0.0 or mean_fall <= _STRAIGHT * end_fall:
        return Decline(before, max(0.0, end_fall) / duration_s, None, duration_s)
    tau_s = duration_s / _exponent(min(mean_fall / end_fall, 1.0))
    return Decline(before, -end_fall / math.expm1(-duration_s / tau_s), tau_s, duration_s)


def _lost_pps(tried: Tried, losses: Sequence[LossSample]) -> float:
    """Frames lost per second in these intervals, by the worst direction."""
    seconds = sum(loss.end_s - loss.begin_s for loss in losses)
    lost = sum(loss.frames for loss in losses) * tried.worst_direction_share
    return lost / seconds if seconds else 0.0


def _exponent(mean_of_end: float) -> float:
    """x = T/τ, where the mean fall is 1/(1 - exp(-x)) - 1/x of the one at the end."""
    low, high = 1e-3, 1e3
    for _ in range(_HALVINGS):
        middle = math.sqrt(low * high)
        if -1.0 / math.expm1(-middle) - 1.0 / middle < mean_of_end:
            low = middle
        else:
            high = middle
    return math.sqrt(low * high)
