"""What seeing no event says of how often such events can be."""

from __future__ import annotations

# Zero events in T, or in N samples: with 95 % confidence their rate is below 3/T, or 3/N (Poisson,
# -ln 0.05 = 3.0).
ZERO_EVENTS_BOUND = 3.0


def events_per_hour_below(seconds: float) -> float:
    """The rate that, with 95 % confidence, is not exceeded when `seconds` saw no event.

    Raises ValueError for a time that is not above zero.
    """
    if seconds <= 0:
        raise ValueError("no time has passed")
    return ZERO_EVENTS_BOUND / (seconds / 3600)
