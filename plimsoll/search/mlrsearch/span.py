"""The range of loads that may be asked for."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Span:
    """From `minimum_pps` to `maximum_pps`, both included, and below `ceiling_pps`.

    The ceiling is the lowest load that the tester could not test; None while it could.
    """

    minimum_pps: float
    maximum_pps: float
    ceiling_pps: float | None = None

    def barred_at(self, load_pps: float) -> Span:
        """The same, less what the tester cannot test."""
        ceiling = load_pps if self.ceiling_pps is None else min(load_pps, self.ceiling_pps)
        return replace(self, ceiling_pps=ceiling)
