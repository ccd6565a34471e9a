"""How a search ended for one of its goals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

# What kept a load line from being higher: a load that failed, by the DUT or because the
# platform took its CPU away, one that the tester could not test, or the end of the range.
LimitedBy = Literal["dut", "platform", "tester", "maximum"]
# By these the load line is a lower bound: the DUT may carry more.
BEYOND_THE_DUT: tuple[LimitedBy, ...] = ("tester", "maximum")


@dataclass(frozen=True, slots=True)
class GoalEnd:
    """How the search for one goal ended.

    `load_line_pps` is None where no load passed all its trials; a trial of phase
    `proved_by` passed at it. `conditional_pps` is RFC 9971's conditional throughput, None
    for strategies without one; `irregular` marks what the RFC calls an irregular result, or
    a lower load that failed beneath a higher one that passed. `notes` say in sentences what
    limits the load and how that is known.
    """

    goal: str
    load_line_pps: float | None
    reason: str
    limited_by: LimitedBy | None = None
    proved_by: Literal["validation", "search"] = "validation"
    conditional_pps: float | None = None
    irregular: bool = False
    notes: tuple[str, ...] = ()
