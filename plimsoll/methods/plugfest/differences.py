"""Cells held against those that differ from them on one axis alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from plimsoll.analysis.comparison.comparison import judged
from plimsoll.analysis.comparison.conclude import FigureSample, conclude
from plimsoll.analysis.comparison.shift import shift
from plimsoll.methods.plugfest.result import (
    Axis,
    CellDifference,
    MeasuredFigure,
    PlugfestCell,
)
from plimsoll.record.results.goal_end import BEYOND_THE_DUT

AXES: tuple[Axis, ...] = ("dut", "chain", "noise", "generator")
_LOAD_LINE = "load line"
_PLACES = ("dut", "chain", "flows", "frame_size", "noise", "generator")


def differences(
    cells: Sequence[PlugfestCell], baseline: str, within: float
) -> Iterator[CellDifference]:
    """Of each figure that both have: of DUTs from the `baseline`, else from the axis's first.

    `within` is the share that counts as no difference.
    """
    for axis in AXES:
        first = baseline if axis == "dut" else str(getattr(cells[0], axis))
        bases = {_others(cell, axis): cell for cell in cells if getattr(cell, axis) == first}
        for cell in cells:
            base = bases.get(_others(cell, axis))
            if base is not None and base is not cell:
                yield from _differences(axis, base, cell, within)


def _others(cell: PlugfestCell, axis: Axis) -> tuple[object, ...]:
    """Where it stands on all axes but this one."""
    return tuple(getattr(cell, each) for each in _PLACES if each != axis)


def _differences(
    axis: Axis, base: PlugfestCell, cell: PlugfestCell, within: float
) -> Iterator[CellDifference]:
    own: Mapping[str, MeasuredFigure] = {each.name: each for each in cell.figures}
    for of_base in base.figures:
        figure = own.get(of_base.name)
        if figure is None:
            continue
        found = shift(of_base.values, figure.values)
        yield CellDifference(
            axis=axis,
            cell=cell.number,
            baseline=base.number,
            figure=figure.name,
            unit=figure.unit,
            estimate=found.estimate,
            least=found.least,
            most=found.most,
            relative=found.estimate / of_base.median if of_base.median else None,
            judgement=judged(found, figure.better),
            conclusion=conclude(
                _sample(base, of_base), _sample(cell, figure), figure.better, within
            ),
        )


def _sample(cell: PlugfestCell, figure: MeasuredFigure) -> FigureSample:
    """With what limited each load line; of other figures all values are exact.

    None of a cell in which the DUT failed at every load of some repetitions: what it carries there
    is not among the values.
    """
    if any(each.carried_nothing for each in cell.samples):
        return FigureSample(())
    found = [each for each in cell.samples if each.load_line_pps is not None]
    if figure.name != _LOAD_LINE or len(found) != len(figure.values):
        return FigureSample(figure.values)
    return FigureSample(figure.values, tuple(each.limited_by in BEYOND_THE_DUT for each in found))
