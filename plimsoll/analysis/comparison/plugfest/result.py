"""The result of a plugfest, in any state of its run."""

from __future__ import annotations

from plimsoll.analysis.comparison.plugfest.cells import made_cell
from plimsoll.analysis.comparison.plugfest.differences import differences
from plimsoll.benchmark.experiment.versions import versions
from plimsoll.benchmark.matrix.plan import MatrixPlan
from plimsoll.benchmark.matrix.run import finished_sample, iteration_results
from plimsoll.benchmark.plugfest.plan import plugfest_plan, read_plugfest_plan
from plimsoll.benchmark.plugfest.session import ended_samples
from plimsoll.record.results.matrix_result import IterationResult
from plimsoll.record.results.plugfest_result import PlugfestResult, RanSample
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
        differences=tuple(differences(cells, planned.baseline)),
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
        return result
    plan, _ = read_plugfest_plan(run)
    found = {
        sample: each
        for sample in plan.in_order()
        if (each := finished_sample(run, sample)) is not None
    }
    return plugfest_result(run, plan, iteration_results(plan, found))
