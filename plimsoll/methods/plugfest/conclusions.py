"""The result of a plugfest, in any state of its run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import median

from plimsoll.analysis.comparison.comparison import judged
from plimsoll.analysis.comparison.conclude import FigureSample, conclude, same_within, shift
from plimsoll.analysis.comparison.side import Side
from plimsoll.benchmark.session.session import versions
from plimsoll.methods.matrix.plan import MatrixPlan
from plimsoll.methods.matrix.result import IterationResult, SampleResult
from plimsoll.methods.matrix.run import finished_sample, iteration_results
from plimsoll.methods.noisy.run import runs_causes
from plimsoll.methods.plugfest.plan import (
    REFUSED,
    SETTLED,
    PlannedCell,
    median_interval,
    plugfest_plan,
    read_plugfest_plan,
)
from plimsoll.methods.plugfest.result import (
    Axis,
    CellDifference,
    CellPlace,
    CellState,
    MeasuredFigure,
    PlugfestCell,
    PlugfestResult,
    RanSample,
)
from plimsoll.methods.plugfest.run import ended_samples
from plimsoll.record.index.run_entry import RunEntry, entry_of
from plimsoll.record.methods.method import RunFigure
from plimsoll.record.run.journal import read_journal
from plimsoll.record.run.result_file import read_run_result
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.search.strategy.goal_end import BEYOND_THE_DUT

AXES: tuple[Axis, ...] = ("dut", "chain", "noise", "generator")
_LOAD_LINE = "load line"
_PLACES = ("dut", "chain", "flows", "frame_size", "noise", "generator")


def plugfest_result(
    run: RunDirectory, plan: MatrixPlan, iterations: tuple[IterationResult, ...]
) -> PlugfestResult:
    """Of the iterations as far as they were run. Raises RecordError, and InputError."""
    planned = plugfest_plan(plan)
    by_number = {each.number: each for each in iterations}
    numbers = {cell.iteration: cell.number for cell in planned.cells}
    cells = tuple(
        made_cell(run, cell, by_number.get(cell.iteration or 0)) for cell in planned.cells
    )
    ended = ended_samples(read_journal(run.journal))
    return PlugfestResult(
        run_id=run.run_id,
        name=plan.name,
        seed=plan.seed,
        repetitions=plan.samples,
        settled=planned.settled,
        budget_s=planned.budget_s,
        spent_s=sum(seconds for _, seconds in ended),
        baseline=planned.baseline,
        frames=planned.frames,
        cells=cells,
        differences=tuple(differences(cells, planned.baseline, _within(run, cells))),
        ran=tuple(
            RanSample(cell=numbers[each.iteration], repetition=each.number, seconds=seconds)
            for each, seconds in ended
        ),
        versions=versions(None),
    )


def plugfest_so_far(run: RunDirectory) -> PlugfestResult:
    """The result, or of a run without one what there is by now. Raises as above."""
    result = read_run_result(run, PlugfestResult)
    if result is not None:
        return _concluded(run, result)
    plan, _ = read_plugfest_plan(run)
    found = {
        sample: each
        for sample in plan.in_order()
        if (each := finished_sample(run, sample)) is not None
    }
    return plugfest_result(run, plan, iteration_results(plan, found))


def _concluded(run: RunDirectory, result: PlugfestResult) -> PlugfestResult:
    """With the differences worked out anew where an earlier version drew no conclusions."""
    if all(each.conclusion is not None for each in result.differences):
        return result
    found = differences(result.cells, result.baseline, _within(run, result.cells))
    return result.model_copy(update={"differences": tuple(found)})


def _within(run: RunDirectory, cells: Sequence[PlugfestCell]) -> float:
    """By the searches of all cells that were run."""
    found = (next(_with_line(cell.samples), None) for cell in cells)
    samples = [each for each in found if each is not None]
    return same_within(run.path / each.directory / run.experiment.name for each in samples)


def _with_line(samples: Sequence[SampleResult]) -> Iterator[SampleResult]:
    return (each for each in samples if each.load_line_pps is not None)


# The cells of a plugfest: what each of their repetitions found, and why there is none.
def made_cell(
    run: RunDirectory, planned: PlannedCell, iteration: IterationResult | None
) -> PlugfestCell:
    """What came of a cell. Raises RecordError for a damaged record of one of its runs."""
    samples = () if iteration is None else iteration.samples
    found = [each for each in samples if each.load_line_pps is not None]
    runs = tuple(_entries(run, found))
    state, reason = _state(planned, samples)
    return PlugfestCell(
        **{name: getattr(planned, name) for name in CellPlace.model_fields},
        state=state,
        reason=reason,
        settled=any((each.skipped or "").startswith(SETTLED) for each in samples),
        figures=tuple(_figures(Side(planned.label, runs).figures)),
        samples=samples,
        causes=runs_causes(runs) if runs else None,
    )


def _entries(run: RunDirectory, samples: Sequence[SampleResult]) -> Iterator[RunEntry]:
    for sample in samples:
        entry = entry_of(sample.directory, run.path / sample.directory)
        if entry.state == "finished":
            yield entry


def _figures(runs: Sequence[Mapping[str, RunFigure]]) -> Iterator[MeasuredFigure]:
    names = dict.fromkeys(name for figures in runs for name in figures)
    for name in names:
        known = [figures[name] for figures in runs if name in figures]
        values = tuple(each.value for each in known)
        least, most = median_interval(values) or (None, None)
        yield MeasuredFigure(
            name=name,
            unit=known[0].unit,
            better=known[0].better,
            values=values,
            median=median(values),
            least=least,
            most=most,
        )


def _state(planned: PlannedCell, samples: Sequence[SampleResult]) -> tuple[CellState, str | None]:
    """How the cell came out, and why it has no load line."""
    if planned.refused is not None:
        return "refused", planned.refused
    if any(each.load_line_pps is not None for each in samples):
        return "measured", None
    ran = [each for each in samples if each.skipped is None]
    return _without_line(ran) if ran else _not_run(samples)


def _not_run(samples: Sequence[SampleResult]) -> tuple[CellState, str]:
    skipped = next((each.skipped for each in samples if each.skipped), None)
    if skipped is not None and skipped.startswith(REFUSED):
        return "refused", skipped.removeprefix(REFUSED)
    return "not-run", skipped or "not run yet"


def _without_line(ran: Sequence[SampleResult]) -> tuple[CellState, str | None]:
    ended = [each for each in ran if each.error is None]
    if not ended:
        return "failed", ran[-1].error
    valid = next((each for each in ended if each.verdict != "invalid"), None)
    return ("invalid", ended[-1].reason) if valid is None else ("none", valid.reason)


# Cells held against those that differ from them on one axis alone.
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
