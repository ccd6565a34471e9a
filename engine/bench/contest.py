"""The same work done by us and by a peer, in turns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from spread import Spread

# One value for each of a contest's works.
Measure = Callable[[], tuple[float, ...]]


@dataclass(frozen=True)
class Contest:
    """What both sides do, and how each is measured.

    One measurement may answer several questions: `works` names them, in the order of
    the values. `theirs` is None where no peer can do the work; `peer` says why.
    """

    name: str
    works: tuple[str, ...]
    peer: str
    unit: str
    ours: Measure
    theirs: Measure | None


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table. A ratio is ours over theirs of the same round."""

    work: str
    peer: str
    unit: str
    ours: Spread
    theirs: Spread | None
    ratio: Spread | None


def hold(contest: Contest, rounds: int, say: Callable[[str], None]) -> tuple[Row, ...]:
    """Measure both sides in each round, and let each begin every other round.

    What the machine does meanwhile then falls on both alike.
    """
    ours: list[tuple[float, ...]] = []
    theirs: list[tuple[float, ...]] = []
    for number in range(rounds):
        sides = [(contest.ours, ours), (contest.theirs, theirs)]
        for measure, values in sides if number % 2 == 0 else reversed(sides):
            if measure is not None:
                values.append(measure())
        said = f"{contest.name} {number + 1}/{rounds}: ours {_words(ours[-1])}"
        say(f"{said}, theirs {_words(theirs[-1])} {contest.unit}" if theirs else said)
    return tuple(
        _row(contest, index, [values[index] for values in ours], [v[index] for v in theirs])
        for index in range(len(contest.works))
    )


def _row(contest: Contest, index: int, ours: list[float], theirs: list[float]) -> Row:
    ratios = [mine / other for mine, other in zip(ours, theirs, strict=False)]
    return Row(
        work=contest.works[index],
        peer=contest.peer,
        unit=contest.unit,
        ours=Spread.of(ours),
        theirs=Spread.of(theirs) if theirs else None,
        ratio=Spread.of(ratios) if ratios else None,
    )


def _words(values: tuple[float, ...]) -> str:
    return "/".join(f"{value:.2f}" for value in values)
