"""Whether a trial was beyond the DUT's capacity, and what capacity it shows.

Three signs. Loss that, once begun, does not end: frames leave at the capacity, and the
rest is lost. Latency that only grows: the queue takes what the capacity does not, and says
by its growth how much that is, seconds before the first frame is lost. Or a queue that
stands: half of the frames or more waited about as long as they do in plain overload.
"""

from __future__ import annotations

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
