"""Sides held against the first of them: figure by figure, with what else changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from plimsoll.analysis.comparison.changes import Change, changes_between
from plimsoll.analysis.comparison.conclude import FigureSample, Shift, conclude, same_within, shift
from plimsoll.analysis.comparison.side import Side
from plimsoll.errors import InputError
from plimsoll.record.methods.method import Better
from plimsoll.record.results.conclusion import Conclusion, FigureJudgement


@dataclass(frozen=True, slots=True)
class SideFigure(FigureSample):
    """One figure of a side: a value of each run that has it, in the order of the runs.

    `without` is how many runs of the side have none.
    """

    without: int = 0

    @property
    def median(self) -> float | None:
        """None where no run has one."""
        return median(self.values) if self.values else None


@dataclass(frozen=True, slots=True)
class FigureComparison:
    """One figure of all sides. `shifts`, `judgements` and `conclusions` leave out the first side.

    Each is against the first side; a shift is None where one of the two has no value. A
    judgement is whether the recorded values' interval leaves out zero; a conclusion is what
    headlines say and gates go by.
    """

    name: str
    unit: str
    better: Better
    sides: tuple[SideFigure, ...]
    shifts: tuple[Shift | None, ...]
    judgements: tuple[FigureJudgement, ...]
    conclusions: tuple[Conclusion, ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """`changes` are what else is not the same. The first figure is what the runs were made for."""

    sides: tuple[Side, ...]
    changes: tuple[Change, ...]
    figures: tuple[FigureComparison, ...]


def compare(sides: Sequence[Side]) -> Comparison:
    """Hold each side against the first.

    Raises InputError for sides that were measured by different methods or have no figure,
    and RecordError for a damaged record.
    """
    methods = {method for side in sides for method in side.methods}
    if len(methods) > 1:
        raise InputError(
            f"were measured by different methods: {', '.join(sorted(methods))}",
            where=" ".join(side.label for side in sides),
            remedy="compare runs of one method; plimsoll runs says which each is of",
        )
    names = list(dict.fromkeys(name for side in sides for run in side.figures for name in run))
    if not names:
        raise InputError(
            "have no figure to compare",
            where=" ".join(side.label for side in sides),
            remedy="plimsoll runs show says what came of each run",
        )
    within = same_within(side.runs[0].run.experiment for side in sides)
    figures = tuple(_compared(name, sides, within) for name in names)
    return Comparison(tuple(sides), tuple(changes_between(sides)), figures)


def _compared(name: str, sides: Sequence[Side], within: float) -> FigureComparison:
    known = [[run[name] for run in side.figures if name in run] for side in sides]
    like = next(figure for figures in known for figure in figures)
    columns = tuple(
        SideFigure(
            tuple(each.value for each in figures),
            tuple(each.lower_bound for each in figures),
            tuple(each.upper_bound for each in figures),
            len(side.runs) - len(figures),
        )
        for figures, side in zip(known, sides, strict=True)
    )
    base, *others = columns
    shifts = tuple(
        shift(base.values, other.values) if base.values and other.values else None
        for other in others
    )
    return FigureComparison(
        name,
        like.unit,
        like.better,
        columns,
        shifts,
        tuple(judged(each, like.better) for each in shifts),
        tuple(conclude(base, each, like.better, within) for each in others),
    )


def judged(found: Shift | None, better: Better) -> FigureJudgement:
    """Whether the second sample is better, as far as the recorded values' interval tells."""
    if found is None or found.least is None:
        return "cannot tell"
    if not found.is_certain:
        return "no difference seen"
    return "better" if (found.estimate > 0) == (better == "higher") else "worse"
