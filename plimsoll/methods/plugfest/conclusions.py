"""The result of a plugfest, in any state of its run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from plimsoll.analysis.comparison.same_within import same_within
from plimsoll.benchmark.experiment.versions import versions
from plimsoll.methods.matrix.plan import MatrixPlan
from plimsoll.methods.matrix.result import IterationResult, SampleResult
from plimsoll.methods.matrix.run import finished_sample, iteration_results
from plimsoll.methods.plugfest.cells import made_cell
from plimsoll.methods.plugfest.differences import differences
from plimsoll.methods.plugfest.plan import plugfest_plan, read_plugfest_plan
from plimsoll.methods.plugfest.result import PlugfestCell, PlugfestResult, RanSample
from plimsoll.methods.plugfest.run import ended_samples
from plimsoll.record.run.journal import read_journal
from plimsoll.record.run.result_file import read_run_result
from plimsoll.record.run.run_directory import RunDirectory


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
