"""The range of loads that may be asked for."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class LoadSpan:
    """From `minimum_pps` to `maximum_pps`, both included, and below `ceiling_pps`.

    The ceiling is the lowest load that the tester could not test; None while it could.
    `reach_pps` is the highest that it can offer, None while that is not known to be below
    the maximum. While `only_minimum`, nothing else is asked for.
    """

    minimum_pps: float
    maximum_pps: float
    ceiling_pps: float | None = None
    reach_pps: float | None = None
    only_minimum: bool = False

    @property
    def top_pps(self) -> float:
        """The highest load that may be asked for, if it is below the ceiling."""
        if self.only_minimum:
            return self.minimum_pps
        return self.maximum_pps if self.reach_pps is None else self.reach_pps

    def limited_to(self, reach_pps: float) -> LoadSpan:
        """The same, less what the tester cannot offer."""
        known = self.maximum_pps if self.reach_pps is None else self.reach_pps
        return replace(self, reach_pps=min(reach_pps, known))

    def barred_at(self, load_pps: float) -> LoadSpan:
        """The same, less what the tester cannot test."""
        ceiling = load_pps if self.ceiling_pps is None else min(load_pps, self.ceiling_pps)
        return replace(self, ceiling_pps=ceiling)
