"""What a binary search does, with every load in pps per direction."""

from __future__ import annotations

from dataclasses import dataclass

from ..strategy.question import TrialManner
from ..text.errors import InputError
from ..text.units import format_pps


@dataclass(frozen=True, slots=True)
class BinaryPlan:
    """BinarySettings with every load in pps per direction.

    `rise` multiplies the load until one fails; None stands for the maximum at once.
    `sniff` is the manner of the trials that look first, None where there are none.
    `reach_pps` is the highest load that the tester can offer, where that is below the maximum.
    """

    minimum_pps: float
    maximum_pps: float
    start_pps: float
    granularity: float
    rise: float | None
    sniff: TrialManner | None
    search: TrialManner
    validation: TrialManner
    reach_pps: float | None = None

    def __post_init__(self) -> None:
        if not self.minimum_pps <= self.start_pps <= self.maximum_pps:
            raise InputError(
                f"is {format_pps(self.start_pps)}, outside {format_pps(self.minimum_pps)} to "
                f"{format_pps(self.maximum_pps)}",
                where="search.start",
                remedy="start between minimum and maximum",
            )
