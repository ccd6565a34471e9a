"""Whether a trial was beyond the DUT's capacity, what it shows of it, and whether it left less.

Three signs. Loss that, once begun, does not end: frames leave at the capacity, and the
rest is lost. Latency that only grows: the queue takes what the capacity does not, and says
by its growth how much that is, seconds before the first frame is lost. Or a queue that
stands: half of the frames or more waited about as long as they do in plain overload.
"""

from __future__ import annotations

from typing import Literal

from .tried import Tried

# Of the intervals from the first loss on, so many have losses when it does not end. The
# last may be cut short.
_LOSSY_SHARE = 0.8
# An event of loss may fall on the border of two intervals.
_LOSSY_AT_LEAST = 3
# A queue that grows from the beginning to the end makes the latency's range; a slope that
# explains less than this share of it is a trend of something else.
_GROWTH_SHARE = 0.5
# Of the least latency: a queue that has not even doubled it may be the DUT's own habit.
_GROWTH_AT_LEAST = 1.0


def overload_capacity_pps(tried: Tried, width: float, full_queue: float) -> float | None:
    """The capacity of the worst direction; None where the trial shows no overload.

    `full_queue` frames wait in plain overload; 0 where none was seen. Where that is known,
    loss without a queue is no overload but a habit of the DUT at that load. Losses below a
    tenth of `width` do not move the capacity by as much as anybody asked to know it, so they
    alone are no overload, unless no latency is there to tell; growth is known ten times finer.
    """
    evidence = tried.evidence
    growth = evidence.latency_growth or 0.0
    if _grows(tried) and growth * 1e-9 > width / 100:
        return tried.load_pps / (1.0 + growth * 1e-9)
    if stands(tried, evidence.p50_ns, full_queue):
        return served_pps(tried)
    # What ended at once when it had failed may have had a stall in each interval.
    long_enough = evidence.lossy_intervals >= _LOSSY_AT_LEAST
    if loses_all_along(tried) and (
        evidence.loss_ratio > width
        or (evidence.loss_ratio > width / 10 and not full_queue)
        or evidence.p99_ns is None
        or (long_enough and stands(tried, evidence.p99_ns, full_queue))
    ):
        return served_pps(tried)
    return None


def stands(tried: Tried, latency_ns: int | None, full_queue: float) -> bool:
    """Whether frames of this latency waited behind at least half of a full queue."""
    waited_s = tried.above_least_s(latency_ns or 0)
    idle_s = (tried.evidence.min_ns or 0) * 1e-9
    # A queue no longer than the latency without one is nothing to go by.
    if not full_queue or waited_s <= _GROWTH_AT_LEAST * idle_s:
        return False
    # By Little's law.
    return tried.evidence.forwarded_pps * waited_s > full_queue / 2


def loses_all_along(tried: Tried) -> bool:
    """Whether loss, once begun, did not end."""
    evidence = tried.evidence
    if evidence.first_loss_s is None or not tried.interval_s:
        return False
    after_s = evidence.sending_s - evidence.first_loss_s
    lossy_s = evidence.lossy_intervals * tried.interval_s
    whole = evidence.lossy_intervals >= min(_LOSSY_AT_LEAST, evidence.intervals)
    return whole and lossy_s >= _LOSSY_SHARE * after_s


def served_pps(tried: Tried) -> float:
    """What left per second: frames that waited at the end came back in the drain."""
    evidence = tried.evidence
    queued_s = tried.above_least_s(evidence.p99_ns or 0)
    return evidence.forwarded_pps * evidence.sending_s / (evidence.sending_s + queued_s)


def _grows(tried: Tried) -> bool:
    evidence = tried.evidence
    if not evidence.latency_growth or evidence.p99_ns is None or evidence.min_ns is None:
        return False
    grown_ns = evidence.latency_growth * evidence.sending_s
    range_ns = evidence.p99_ns - evidence.min_ns
    return grown_ns > _GROWTH_SHARE * range_ns and grown_ns > _GROWTH_AT_LEAST * evidence.min_ns


# The first rest, until it is known what it takes; each further one is twice as long.
_FIRST_REST_S = 60.0
# Rests that begin with this one come to four hours.
_LONGEST_FIRST_S = 240.0
# After so many, about an hour at first, what the DUT has left counts as all it has.
_MAX_RESTS = 6
# What did not come back in that time is waited for once, the next time.
_RESTS_AFTER_THAT = 1

CheckOrRest = tuple[Literal["check", "rest"], float]


class Spent:
    """Checks by a short trial at a load that was carried, and rests while that is not.

    No constant says how long a DUT takes to cool or to come back: that it carries the load
    again does.
    """

    def __init__(self) -> None:
        self._load_pps: float | None = None
        self._rests = 0
        self._rested_s = 0.0
        self._first_rest_s = _FIRST_REST_S
        self._most_rests = _MAX_RESTS
        self._checking = False
        self._resting = False

    def begin(self, load_pps: float) -> None:
        """A trial has left the DUT so that it may not carry this load any more."""
        self._load_pps, self._rests, self._rested_s = load_pps, 0, 0.0
        self._checking, self._resting = False, False

    def next(self) -> CheckOrRest | None:
        """What to do, and at which load or for how long; None where the DUT is as it was."""
        if self._load_pps is None:
            return None
        if self._resting:
            return "rest", self._first_rest_s * 2.0 ** (self._rests - 1)
        self._checking = True
        return "check", self._load_pps

    def judge(self, tried: Tried, *, is_overloaded: bool) -> bool:
        """Take a trial; whether it was a check that says nothing but that more rest is due."""
        if self._load_pps is None:
            return False
        if self._resting:
            self._resting = False
            self._rested_s += tried.asked.duration_s
            return False
        if not self._checking:
            return False
        self._checking = False
        if not is_overloaded or self._rests >= self._most_rests:
            self._load_pps = None
            if is_overloaded:
                self._most_rests = _RESTS_AFTER_THAT
            else:
                # What it took is what it takes.
                self._first_rest_s = min(max(self._first_rest_s, self._rested_s), _LONGEST_FIRST_S)
            return False
        self._rests += 1
        self._resting = True
        return True
