"""The same work done by us and by a peer, in turns."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

from spread import Spread

# One value for each of a contest's works; None where the side does no such thing.
Values = tuple[float | None, ...]
Measure = Callable[[], Values]


@dataclass(frozen=True)
class Contest:
    """What both sides do, and how each is measured.

    One measurement may answer several questions: `works` names them, in the order of
    the values, which have one `unit` or one each. `theirs` is None where no peer can do
    the work; `peer` says why. No ratio is made of figures that are not `comparable`. Within
    `stand` both sides may be measured as often as one likes, and are `turns` times in a round.
    """

    name: str
    works: tuple[str, ...]
    peer: str
    unit: str | tuple[str, ...]
    ours: Measure
    theirs: Measure | None
    comparable: bool = True
    stand: Callable[[], AbstractContextManager[None]] = nullcontext
    turns: int = 1

    def unit_of(self, index: int) -> str:
        """The unit of the work at `index`."""
        return self.unit if isinstance(self.unit, str) else self.unit[index]


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table. A ratio is ours over theirs of the same turn."""

    work: str
    peer: str
    unit: str
    ours: Spread
    theirs: Spread | None
    ratio: Spread | None


def hold(contest: Contest, rounds: int, say: Callable[[str], None]) -> tuple[Row, ...]:
    """Measure both sides in each turn of each round, and let each begin every other turn.

    What the machine does in that time falls on both alike.
    """
    ours: list[Values] = []
    theirs: list[Values] = []
    turns = rounds * contest.turns
    with contest.stand():
        for number in range(turns):
            sides = [(contest.ours, ours), (contest.theirs, theirs)]
            for measure, values in sides if number % 2 == 0 else reversed(sides):
                if measure is not None:
                    values.append(measure())
            said = f"{contest.name} {number + 1}/{turns}: ours {_words(ours[-1])}"
            say(f"{said}, theirs {_words(theirs[-1])}" if theirs else said)
    return tuple(
        _row(contest, index, _of_work(ours, index), _of_work(theirs, index))
        for index in range(len(contest.works))
    )


def _of_work(rounds: list[Values], index: int) -> list[float]:
    return [value for values in rounds if (value := values[index]) is not None]


def _row(contest: Contest, index: int, ours: list[float], theirs: list[float]) -> Row:
    ratios = [mine / other for mine, other in zip(ours, theirs, strict=False)]
    return Row(
        work=contest.works[index],
        peer=contest.peer,
        unit=contest.unit_of(index),
        ours=Spread.of(ours),
        theirs=Spread.of(theirs) if theirs else None,
        ratio=Spread.of(ratios) if ratios and contest.comparable else None,
    )


def _words(values: Values) -> str:
    return "/".join("n/a" if value is None else f"{value:.2f}" for value in values)
