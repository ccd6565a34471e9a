"""A figure of a run, by which it can be compared with others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Better = Literal["higher", "lower"]


@dataclass(frozen=True, slots=True)
class RunFigure:
    """One value of a run, with its unit and which way is the better one."""

    name: str
    value: float
    unit: str
    better: Better
