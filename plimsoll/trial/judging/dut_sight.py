"""Findings of what the DUT saw itself: at which hop frames were lost, and what it remarks."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from plimsoll.dut.sight import Hop
from plimsoll.trial.outcome.finding import Finding
from plimsoll.trial.outcome.outcome import Outcome

HOPS_RULE = "hops"


def dut_sight(outcome: Outcome) -> list[Finding]:
    """One for each direction whose hops the DUT counts, and one for each remark.

    They say where, and judge nothing: that the DUT's ends agree with the tester to the frame is
    what `dut_agreement` is for.
    """
    sight = outcome.dut_sight
    directions = dict.fromkeys(hop.direction for hop in sight.hops)
    return [
        *(
            _finding(direction, [hop for hop in sight.hops if hop.direction == direction])
            for direction in directions
        ),
        *(
            Finding(
                rule=each.rule,
                subject=each.subject,
                value=each.value,
                limit=each.limit,
                unit=each.unit,
                outcome="ok",
                text=each.text,
            )
            for each in sight.remarks
        ),
    ]


def losses_between(hops: Sequence[Hop]) -> list[tuple[str, int]]:
    """Where the hops of one direction counted fewer frames than the hop before, and how many.

    Negative where there are more than before: frames that came from elsewhere.
    """
    return [
        (f"between {before.place} and {after.place}", before.frames - after.frames)
        for before, after in pairwise(hops)
        if before.frames != after.frames
    ]


def _finding(direction: int, hops: Sequence[Hop]) -> Finding:
    first, last = hops[0], hops[-1]
    lost = losses_between(hops)
    where = "; ".join(f"{frames:,} {place}" for place, frames in lost)
    said = f"lost on the way: {where}" if lost else "none was lost on the way"
    return Finding(
        rule=HOPS_RULE,
        subject=f"direction {direction}",
        value=last.frames,
        limit=first.frames,
        unit="frames",
        outcome="ok",
        text=f"direction {direction}: {first.frames:,} frames at {first.place}, "
        f"{last.frames:,} at {last.place}; {said}",
    )
