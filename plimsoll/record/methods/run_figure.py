"""A figure of a run, by which it can be compared with others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Better = Literal["higher", "lower"]


@dataclass(frozen=True, slots=True)
class RunFigure:
    """One value of a run, with its unit and which way is the better one.

    A `lower_bound` is a load line that the tester or the search's maximum limits: the DUT may
    carry more. An `upper_bound` is the lowest load that a DUT failed at which has no load line: it
    carries less.
    """

    name: str
    value: float
    unit: str
    better: Better
    lower_bound: bool = False
    upper_bound: bool = False
