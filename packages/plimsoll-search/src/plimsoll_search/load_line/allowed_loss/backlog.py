"""The queue that an absence finds, where the one before came too short a time ago to be gone.

Lindley's recursion (1952), with a buffer: while the DUT is away, load x length frames come, and
what the buffer does not hold is lost; then the queue drains at capacity - load until the next.
Gaps are exponential. The recursion is a Markov chain of the queue's length, which is cut into
cells: a quadrature, that gives the same every time it is asked.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from .compound import LosingEvents

# The queue's length, as parts of the buffer.
_CELLS = 16
# The chain has settled, and forgotten where it was, after so many absences at most.
_STEPS = 60
_SETTLED = 1e-5
# Of what may be lost, what an absence adds that finds the queue of another is nothing.
_NOTHING = 0.02


@dataclass(frozen=True, slots=True)
class Backlog:
    """By cells of the buffer, the frames that wait when an absence begins, and how often.

    Losses come in a row: what they vary by together is `clustering` times what each does by
    itself.
    """

    waiting: tuple[tuple[float, float], ...]
    clustering: float

    def losing(self, events: Sequence[LosingEvents], buffer: float) -> list[LosingEvents]:
        """What events lose of which each brings `frames`."""
        share = self.clustering
        return [
            LosingEvents(expected * odds / share, lost * share)
            for expected, frames in events
            for waiting, odds in self.waiting
            if (lost := waiting + frames - buffer) > 0.0
        ]


NONE_WAITING = Backlog(((0.0, 1.0),), 1.0)


def backlog_of(
    per_s: Sequence[LosingEvents], spare_pps: float, buffer: float, allowed_pps: float
) -> Backlog:
    """With absences that come so often a second, of which each brings `frames`.

    `spare_pps` is by how much the capacity exceeds the load, `allowed_pps` what may be lost.
    """
    often = sum(each.expected for each in per_s)
    if often <= 0.0:
        return NONE_WAITING
    # One comes before a full buffer has drained, and loses all that it brings.
    met = min(1.0, often * buffer / spare_pps) if spare_pps > 0.0 else 1.0
    if met * sum(expected * frames for expected, frames in per_s) <= _NOTHING * allowed_pps:
        return NONE_WAITING
    chain = _Chain(per_s, often, spare_pps, buffer)
    return Backlog(chain.waiting, chain.clustering)


class _Chain:
    """The queue that absences find, one after another; a state is a cell of the buffer."""

    def __init__(
        self, per_s: Sequence[LosingEvents], often: float, spare_pps: float, buffer: float
    ) -> None:
        self._cell = buffer / _CELLS
        self._brought = [LosingEvents(each.expected / often, each.frames) for each in per_s]
        self._by_cells = self._cells_brought()
        drained = max(spare_pps, 0.0) / often / self._cell
        self._drains = [_drained(cells, drained) for cells in range(_CELLS + 1)]
        self._steps = [self._after(cell) for cell in range(_CELLS + 1)]
        self._odds = self._settled()
        self.waiting = tuple((cell * self._cell, odds) for cell, odds in enumerate(self._odds))
        self.clustering = self._clustering(buffer)

    def _after(self, cell: int) -> list[float]:
        """Where the queue is at the next absence."""
        odds = [0.0] * (_CELLS + 1)
        for brought, share in enumerate(self._by_cells):
            if share > 0.0:
                for left, drained in enumerate(self._drains[min(cell + brought, _CELLS)]):
                    odds[left] += share * drained
        return odds

    def _cells_brought(self) -> list[float]:
        """How likely an absence brings how many cells; a buffer and more, in the last."""
        odds = [0.0] * (_CELLS + 2)
        for share, frames in self._brought:
            place = min(frames / self._cell, float(_CELLS))
            below = int(place)
            odds[below] += share * (1.0 - (place - below))
            odds[below + 1] += share * (place - below)
        return odds

    def _settled(self) -> list[float]:
        odds = [1.0] + [0.0] * _CELLS
        for _ in range(_STEPS):
            then = self._step(odds)
            moved = sum(abs(after - before) for after, before in zip(then, odds, strict=True))
            odds = then
            if moved < _SETTLED:
                break
        return odds

    def _step(self, odds: Sequence[float]) -> list[float]:
        then = [0.0] * (_CELLS + 1)
        for part, step in zip(odds, self._steps, strict=True):
            if part > 0.0:
                for cell, share in enumerate(step):
                    then[cell] += part * share
        return then

    def _clustering(self, buffer: float) -> float:
        """The variance of a sum of losses, over that of as many which are independent.

        A loss leaves the buffer full, so what follows it does not depend on its size.
        """
        lost = [self._lost(cell * self._cell, buffer) for cell in range(_CELLS + 1)]
        mean = sum(odds * each[0] for odds, each in zip(self._odds, lost, strict=True))
        square = sum(odds * each[1] for odds, each in zip(self._odds, lost, strict=True))
        if square <= 0.0:
            return 1.0
        odds, covariance = self._drains[_CELLS], 0.0
        for _ in range(_STEPS):
            further = sum(part * each[0] for part, each in zip(odds, lost, strict=True)) - mean
            covariance += further
            if further <= _SETTLED * mean:
                break
            odds = self._step(odds)
        return 1.0 + 2.0 * max(0.0, covariance) * mean / square

    def _lost(self, waiting: float, buffer: float) -> tuple[float, float]:
        """Mean and mean square of what an absence loses that finds so many frames."""
        mean = square = 0.0
        for share, frames in self._brought:
            lost = max(0.0, waiting + frames - buffer)
            mean += share * lost
            square += share * lost * lost
        return mean, square


def _drained(cells: int, mean: float) -> list[float]:
    """From so many cells, by an exponential time in which `mean` of them drain."""
    if mean <= 0.0:
        return [0.0] * cells + [1.0]
    longer = [math.exp(-(drained - 0.5) / mean) for drained in range(1, cells + 1)]
    edges = [1.0, *longer, 0.0]
    return [edges[cells - left] - edges[cells - left + 1] for left in range(cells + 1)]
