"""What a validation without a loss proves, and what it does not."""

from __future__ import annotations

from plimsoll.traffic.units import format_duration

# -ln 0.05: with no event in T, a Poisson rate is below this ÷ T at 95 %.
_RULE_OF_THREE = 3.0


def confidence_notes(validation_s: float) -> tuple[str, ...]:
    """A sentence for the result."""
    at_most_every_s = validation_s / _RULE_OF_THREE
    return (
        f"no failure in {format_duration(validation_s)}: events that fail the criteria are at "
        f"95 % confidence rarer than one in {format_duration(at_most_every_s)}",
    )
