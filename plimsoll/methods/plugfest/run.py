"""A session of a plugfest: what it will do and until when, and its run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from plimsoll.benchmark.session.session import ProgressListener
from plimsoll.errors import PlimsollError
from plimsoll.host.ledger.cpu_claims import CpuTaken
from plimsoll.methods.matrix.combinations import Sample
from plimsoll.methods.matrix.plan import MatrixPlan
from plimsoll.methods.matrix.result import IterationResult
from plimsoll.methods.matrix.run import (
    SAMPLE_ENDED,
    MatrixEnd,
    SampleHooks,
    finished_sample,
    run_samples,
)
from plimsoll.methods.plugfest.course import PlugfestCourse
from plimsoll.methods.plugfest.estimate import Estimate, estimate
from plimsoll.methods.plugfest.plan import (
    PlugfestPlan,
    read_plugfest_plan,
    refusal_text,
    refused_iterations,
)
from plimsoll.methods.plugfest.result import METHOD, PlugfestResult
from plimsoll.record.run.journal import JournalContents, read_journal
from plimsoll.record.run.run_directory import RunDirectory

# What the analysis makes of the iterations, as it lies above.
MakeResult = Callable[[RunDirectory, MatrixPlan, tuple[IterationResult, ...]], PlugfestResult]


@dataclass(frozen=True)
class Prospect:
    """What a session is about to do.

    `refused` are errors by iteration, `taken` the CPUs that others poll for now; `done` of all
    repetitions have their result. `spent_s` went in earlier sessions, and with what `budget_s`
    leaves it ends, unless the first repetition of each cell takes longer.
    """

    plan: MatrixPlan
    cells: PlugfestPlan
    refused: Mapping[int, PlimsollError]
    taken: tuple[CpuTaken, ...]
    estimate: Estimate
    done: int
    budget_s: float | None
    spent_s: float

    @property
    def left_s(self) -> float | None:
        """Of the budget, for this session; None without one."""
        return None if self.budget_s is None else max(0.0, self.budget_s - self.spent_s)

    @property
    def refusals(self) -> dict[str, list[str]]:
        """The labels of the cells that are not run, by the reason."""
        reasons: dict[str, list[str]] = {}
        for cell in self.cells.cells:
            error = self.refused.get(cell.iteration or 0)
            reason = cell.refused or (None if error is None else refusal_text(error))
            if reason is not None:
                reasons.setdefault(reason, []).append(cell.label)
        return reasons


def prospect(run: RunDirectory, budget_s: float | None = None) -> Prospect:
    """Of a run that begins or goes on. `budget_s`, of all sessions, takes its own's place.

    Raises PlimsollError where no cell can be run, or the record is damaged.
    """
    plan, cells = read_plugfest_plan(run)
    refusals = refused_iterations(run, plan)
    if len(refusals.cells) == len(plan.iterations):
        raise next(iter(refusals.cells.values()))
    done = {sample for sample in plan.in_order() if finished_sample(run, sample) is not None}
    expected = estimate(run, plan, refusals.cells, done)
    spent_s = sum(seconds for _, seconds in ended_samples(read_journal(run.journal)))
    whole_s = None if expected.all_of_it is None else spent_s + expected.all_of_it.most_s
    return Prospect(
        plan=plan,
        cells=cells,
        refused=refusals.cells,
        taken=refusals.taken,
        estimate=expected,
        done=len(done),
        budget_s=budget_s or cells.budget_s or whole_s,
        spent_s=spent_s,
    )


def run_plugfest(
    run: RunDirectory,
    begun: Prospect,
    listener: ProgressListener,
    hooks: SampleHooks,
    make_result: MakeResult,
) -> PlugfestResult:
    """Run, or go on with, what `prospect` has looked at.

    Whatever happens to a cell, the others are run. Raises PlimsollError where the record itself
    cannot be read or written, and CpuTaken, before it begins, where others poll a CPU of a cell.
    """
    for taken in begun.taken:
        raise taken
    course = PlugfestCourse(
        refused=begun.refused,
        settled=begun.cells.settled,
        budget_s=begun.budget_s,
        spent_s=begun.spent_s,
    )
    for sample, seconds in ended_samples(read_journal(run.journal)):
        course.ended(sample, seconds)

    def made(
        run: RunDirectory, plan: MatrixPlan, iterations: tuple[IterationResult, ...]
    ) -> PlugfestResult:
        result = make_result(run, plan, iterations)
        return result.model_copy(update={"budget_s": begun.budget_s})

    return run_samples(run, listener, hooks, MatrixEnd(METHOD, made, _is_over), course)


def ended_samples(journal: JournalContents) -> list[tuple[Sample, float]]:
    """Every repetition that came to an end, in the order in which they did, and its seconds."""
    found = []
    for event in journal.of_kind(SAMPLE_ENDED):
        iteration, number = event.fields.get("iteration"), event.fields.get("sample")
        seconds = event.fields.get("seconds")
        if (
            isinstance(iteration, int)
            and isinstance(number, int)
            and isinstance(seconds, int | float)
        ):
            found.append((Sample(iteration, number), float(seconds)))
    return found


def _is_over(result: PlugfestResult) -> bool:
    """Whether no cell has anything left to be repeated for."""
    return all(
        cell.settled
        or not cell.samples
        or all(sample.skipped is None and sample.error is None for sample in cell.samples)
        for cell in result.cells
    )
