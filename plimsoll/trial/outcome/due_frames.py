"""How many frames a stream's schedule makes due in a span of time, and how exactly."""

from __future__ import annotations

import math

from plimsoll.traffic.plan import StreamPlan

# Standard deviations: a Poisson schedule strays further once in two million trials.
_POISSON_STRAY = 5.0


def due_frames(plan: StreamPlan, seconds: float, *, begin_s: float = 0.0) -> float | None:
    """Frames due in `seconds` of the trial from `begin_s` on; None where only the port says.

    That is so for back-to-back streams, and for probes of which one is in flight, which
    wait for the DUT whatever rate they must not exceed.
    """
    return most_due_frames(plan, plan.schedule.sending_s(begin_s, begin_s + seconds))


def sends_nothing(plan: StreamPlan, seconds: float, *, begin_s: float = 0.0) -> bool:
    """Whether the stream's schedule leaves out all of these `seconds` of the trial."""
    if plan.schedule.always:
        return False
    return plan.schedule.sending_s(begin_s, begin_s + seconds) <= 0


def most_due_frames(plan: StreamPlan, seconds: float) -> float | None:
    """Frames due in `seconds` in which the stream sends all the time; None as above."""
    if plan.rate_pps is None or plan.pacing.kind in ("back-to-back", "one-in-flight"):
        return None
    frames = plan.rate_pps * seconds
    return frames if plan.frame_count is None else min(frames, plan.frame_count)


def scatter(
    plan: StreamPlan, frames: float, seconds: float = 0.0, *, begin_s: float = 0.0
) -> float:
    """By how many frames a schedule that is kept to may differ from its mean of `frames`.

    Each repetition within `seconds` has whole frames and whole bursts.
    """
    repetitions = max(1, plan.schedule.repetitions(begin_s, begin_s + seconds))
    match plan.pacing.kind:
        case "burst":
            return repetitions * plan.pacing.burst_frames - 1
        case "poisson":
            return _POISSON_STRAY * math.sqrt(frames)
        case _:
            return repetitions - 1.0
