"""What the end of a hunt says besides the load line."""

from __future__ import annotations

from ..text.units import format_pps
from .limit import Limit

# A forecast is contradicted by what passed so far above it, as a share of the load.
_CONTRADICTED = 0.02


def end_notes(
    limit: Limit | None, reported_pps: float, highest_passed_pps: float
) -> tuple[str, ...]:
    """What limits the load that is reported, and whether a higher one has passed."""
    return (
        *_of_a_higher_load(reported_pps, highest_passed_pps),
        *_of_the_limit(limit, reported_pps),
    )


def _of_a_higher_load(reported_pps: float, highest_passed_pps: float) -> tuple[str, ...]:
    if highest_passed_pps <= reported_pps:
        return ()
    return (
        f"{format_pps(highest_passed_pps)} also passed its validation, but is unlikely to pass a "
        f"second one, so {format_pps(reported_pps)} is reported.",
    )


def _of_the_limit(limit: Limit | None, reported_pps: float) -> tuple[str, ...]:
    if limit is None:
        return ()
    if limit.load_pps < reported_pps * (1.0 - _CONTRADICTED):
        passed = format_pps(reported_pps)
        return (f"{passed} passed, which contradicts this forecast: {limit.text}.",)
    limited = f"Limited by {limit.text}."
    return (limited,) if limit.cause is None else (limited, limit.cause)
