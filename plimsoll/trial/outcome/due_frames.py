"""How many frames a stream's schedule makes due in a span of time, and how exactly."""

from __future__ import annotations

import math

from plimsoll.traffic.plan import StreamPlan

# Standard deviations: a Poisson schedule strays further once in two million trials.
_POISSON_STRAY = 5.0


def due_frames(plan: StreamPlan, seconds: float) -> float | None:
    """Frames due in `seconds` from the stream's start; None where nothing but the port says.

    That is so for back-to-back streams, and for probes of which one is in flight, which
    wait for the DUT whatever rate they must not exceed.
    """
    if plan.rate_pps is None or plan.pacing.kind in ("back-to-back", "one-in-flight"):
        return None
    frames = plan.rate_pps * seconds
    return frames if plan.frame_count is None else min(frames, plan.frame_count)


def scatter(plan: StreamPlan, frames: float) -> float:
    """By how many frames a schedule that is kept to may differ from its mean of `frames`."""
    match plan.pacing.kind:
        case "burst":
            return plan.pacing.burst_frames - 1
        case "poisson":
            return _POISSON_STRAY * math.sqrt(frames)
        case _:
            return 0.0
