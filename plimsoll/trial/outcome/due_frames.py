"""How many frames a stream's schedule makes due in a span of time, and how exactly."""

from __future__ import annotations

import math
from dataclasses import replace

from plimsoll.traffic.plan import ALL_THE_TIME, StreamPlan

# Standard deviations: a Poisson schedule strays further once in two million trials.
_POISSON_STRAY = 5.0
# To which the end of an interval, and what was sent by then, belong together; a loop that is
# away for longer is as late with its frames.
_END_S = 1e-3


def due_frames(plan: StreamPlan, seconds: float, *, begin_s: float = 0.0) -> float | None:
    """Frames due in `seconds` of the trial from `begin_s` on; None where only the port says.

    That is so for back-to-back streams, and for probes of which one is in flight, which
    wait for the DUT whatever rate they must not exceed.
    """
    rate_pps, gaps = plan.rate_pps, plan.pacing.gaps
    if rate_pps is None or plan.pacing.kind in ("back-to-back", "one-in-flight"):
        return None
    if gaps is None:
        frames = rate_pps * plan.schedule.sending_s(begin_s, begin_s + seconds)
    else:
        frames = plan.schedule.added_up(
            begin_s, begin_s + seconds, lambda sending_s: gaps.due_before(sending_s, rate_pps)
        )
    return frames if plan.frame_count is None else min(frames, plan.frame_count)


def sends_nothing(plan: StreamPlan, seconds: float, *, begin_s: float = 0.0) -> bool:
    """Whether the stream's schedule leaves out all of these `seconds` of the trial."""
    if plan.schedule.always:
        return False
    return plan.schedule.sending_s(begin_s, begin_s + seconds) <= 0


def most_due_frames(plan: StreamPlan, seconds: float) -> float | None:
    """The most frames due in `seconds` in which the stream sends all the time; None as above."""
    frames = due_frames(replace(plan, schedule=ALL_THE_TIME), seconds)
    if frames is None:
        return None
    if plan.pacing.gaps is None or plan.rate_pps is None:
        return frames + scatter(plan, frames)
    most = plan.pacing.gaps.most_within(seconds, plan.rate_pps)
    return most if plan.frame_count is None else min(most, plan.frame_count)


def scatter(
    plan: StreamPlan, frames: float, seconds: float = 0.0, *, begin_s: float = 0.0
) -> float:
    """By how many frames a schedule that is kept to may differ from its mean of `frames`.

    Each repetition within `seconds` has whole frames and whole bursts. Of captured frames
    those that are due close to either end may fall on its other side.
    """
    repetitions = max(1, plan.schedule.repetitions(begin_s, begin_s + seconds))
    match plan.pacing.kind:
        case "burst":
            return repetitions * plan.pacing.burst_frames - 1
        case "poisson":
            return _POISSON_STRAY * math.sqrt(frames)
        case "captured":
            return 2 * repetitions * _most_at_an_end(plan)
        case _:
            return repetitions - 1.0


def _most_at_an_end(plan: StreamPlan) -> int:
    gaps, rate_pps = plan.pacing.gaps, plan.rate_pps
    return 0 if gaps is None or rate_pps is None else gaps.most_within(_END_S, rate_pps)
