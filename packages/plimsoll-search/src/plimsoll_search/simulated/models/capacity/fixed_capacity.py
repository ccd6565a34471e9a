"""A DUT that forwards up to its capacity and no more: the best that can be."""

from __future__ import annotations

from typing import ClassVar, Literal

from .steady import Steady


class FixedCapacity(Steady):
    """Forwards up to its capacity and no more."""

    summary: ClassVar[str] = "forwards up to its capacity and no more"

    kind: Literal["fixed-capacity"] = "fixed-capacity"
