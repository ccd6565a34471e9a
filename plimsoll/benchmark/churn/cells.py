"""The cells of a churn run and their order."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ChurnCellPlan:
    """One network at one level, for the `repetition`-th time, counted from 1."""

    network: str
    percent: float
    repetition: int

    @property
    def label(self) -> str:
        """For people."""
        return f"{self.network}, {self.percent:g} %, repetition {self.repetition}"


def in_order(
    networks: Sequence[str], levels: Sequence[float], repetitions: int, seed: int
) -> list[ChurnCellPlan]:
    """Every round has each cell once, in an order of its own, so that drift favours none."""
    chance = random.Random(seed)  # noqa: S311 - an order, no secret
    order: list[ChurnCellPlan] = []
    for repetition in range(1, repetitions + 1):
        cells = [
            ChurnCellPlan(network, percent, repetition)
            for network in networks
            for percent in levels
        ]
        chance.shuffle(cells)
        order += cells
    return order


def chance_of(cell: ChurnCellPlan, seed: int) -> random.Random:
    """Draws the windows of a cell: the same whenever it is run."""
    text = f"{seed}/{cell.network}/{cell.percent}/{cell.repetition}"
    return random.Random(text)  # noqa: S311 - no secret
