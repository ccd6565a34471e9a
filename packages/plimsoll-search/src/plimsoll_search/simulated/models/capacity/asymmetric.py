"""A DUT whose directions have different capacities."""

from __future__ import annotations

from typing import ClassVar, Literal

from ..dut_model import CapacityField
from .steady import Steady


class Asymmetric(Steady):
    """Like `fixed-capacity`, with another capacity, `reverse`, in every second direction."""

    summary: ClassVar[str] = "two directions with different capacities"

    kind: Literal["asymmetric"] = "asymmetric"
    reverse: CapacityField = 0.7e6

    def capacity_of(self, direction: int) -> float:
        """`capacity` of even directions, `reverse` of odd ones."""
        return self.reverse if direction % 2 else self.capacity
