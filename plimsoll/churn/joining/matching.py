"""Which dips fell together with churn, and how many would have by chance alone.

Chance: the churn's intervals keep their lengths and distances, and are shifted together, all
the way round, over the time of the cell (a circular shift). What the dips have in common with
the churn on average over all shifts is what they would have in common with something that does
not concern them; the share of shifts that match at least as many is the p-value.
"""

from __future__ import annotations

from collections.abc import Sequence

from plimsoll.churn.joining.dips import TimeSpan, span_of
from plimsoll.churn.results.churn_result import Dip, Match

_MOST_SHIFTS = 1000


def match(dips: Sequence[Dip], churn: Sequence[TimeSpan], whole: TimeSpan, lag_s: float) -> Match:
    """Match dips with churn: a dip counts where it touches an interval or begins `lag_s` after.

    All dips and intervals lie within `whole`.
    """
    spans = _extended(churn, whole, lag_s)
    matched = sum(_touches(span_of(dip), spans) for dip in dips)
    if not dips or not spans:
        return Match(dips=len(dips), matched=matched, chance=None, p=None)
    counts = [
        sum(_touches(span_of(dip), shifted) for dip in dips)
        for shifted in (_shifted(spans, whole, shift_s) for shift_s in _shifts(whole))
    ]
    return Match(
        dips=len(dips),
        matched=matched,
        chance=sum(counts) / len(counts) / len(dips),
        p=sum(n >= matched for n in counts) / len(counts),
    )


def matched_event(dip: Dip, churn: Sequence[TimeSpan], lag_s: float) -> int | None:
    """The place of the interval that a dip has most in common with; None where with none."""
    ends = [TimeSpan(each.begin_s, each.end_s + lag_s) for each in churn]
    common = [span_of(dip).overlap_s(each) for each in ends]
    best = max(range(len(common)), key=common.__getitem__, default=None)
    return None if best is None or common[best] <= 0 else best


def _extended(churn: Sequence[TimeSpan], whole: TimeSpan, lag_s: float) -> list[TimeSpan]:
    return [TimeSpan(each.begin_s, min(each.end_s + lag_s, whole.end_s)) for each in churn]


def _shifts(whole: TimeSpan) -> list[float]:
    """Every second or finer, and not finer than is of use; 0 among them."""
    steps = min(_MOST_SHIFTS, max(100, round(whole.length_s)))
    return [whole.length_s * step / steps for step in range(steps)]


def _shifted(spans: Sequence[TimeSpan], whole: TimeSpan, shift_s: float) -> list[TimeSpan]:
    """What runs out at the end comes in again at the beginning."""
    moved: list[TimeSpan] = []
    for span in spans:
        begin_s = whole.begin_s + (span.begin_s - whole.begin_s + shift_s) % whole.length_s
        end_s = begin_s + span.length_s
        moved.append(TimeSpan(begin_s, min(end_s, whole.end_s)))
        if end_s > whole.end_s:
            moved.append(TimeSpan(whole.begin_s, whole.begin_s + end_s - whole.end_s))
    return moved


def _touches(dip: TimeSpan, spans: Sequence[TimeSpan]) -> bool:
    return any(dip.overlap_s(span) > 0 for span in spans)
