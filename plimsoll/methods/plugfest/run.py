"""A session of a plugfest: what it will do, how long that may take, and its run."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass

from plimsoll.benchmark.calibration.calibration import CalibratedTester
from plimsoll.benchmark.check.check import planned_duration
from plimsoll.benchmark.check.planned_phases import PlannedTime, TypicalPhase
from plimsoll.benchmark.experiment.experiment import Experiment
from plimsoll.benchmark.session.session import ProgressListener
from plimsoll.errors import PlimsollError
from plimsoll.host.ledger.cpu_claims import CpuTaken
from plimsoll.methods.matrix.plan import MatrixPlan, read_iteration
from plimsoll.methods.matrix.result import IterationResult
from plimsoll.methods.matrix.run import (
    SAMPLE_ENDED,
    MatrixEnd,
    SampleHooks,
    finished_sample,
    run_samples,
)
from plimsoll.methods.matrix.settings import Sample
from plimsoll.methods.plugfest.plan import (
    PlugfestCourse,
    PlugfestPlan,
    read_plugfest_plan,
    refusal_text,
    refused_iterations,
)
from plimsoll.methods.plugfest.result import METHOD, PlugfestResult
from plimsoll.record.run.journal import JournalContents, read_journal
from plimsoll.record.run.run_directory import RunDirectory

# Of each repetition: lab, generator and observers up and down, and its page. docs/plugfest.md has
# the run in which these were measured, on two shared vCPUs.
AROUND_CELL_S = 5.0
# Of each trial apart from sending and draining: counters, kernel events explained, records.
AROUND_TRIAL_S = 1.2
# The tester alone on rings, up and down, for a calibration.
CALIBRATION_BED_S = 2.5
# So many of a search's trials may be spoiled by the tester, and are run again.
INVALID_SHARE = 0.3
_CALIBRATION = "calibration"
_NOT_JUDGED = (_CALIBRATION, "warmup", "ceiling", "baseline")


@dataclass(frozen=True, slots=True)
class Span:
    """A time in s, at least and at most."""

    least_s: float = 0.0
    most_s: float = 0.0

    def __add__(self, other: Span) -> Span:
        """One after the other."""
        return Span(self.least_s + other.least_s, self.most_s + other.most_s)


@dataclass(frozen=True, slots=True)
class Estimate:
    """What is left to do, of cells that can be run.

    `first` is the time of the first repetition of each cell that has none yet, which the budget
    does not shorten, `all_of_it` that of all repetitions that are left; None where nothing tells.
    By the mean over ideal DUTs: at least without an invalid trial, at most with INVALID_SHARE.
    """

    cells: int
    repetitions: int
    first: Span | None
    all_of_it: Span | None


def estimate(
    run: RunDirectory, plan: MatrixPlan, refused: Collection[int], done: Collection[Sample]
) -> Estimate:
    """By the search's plan on ideal DUTs, and by what was measured around trials.

    `done` are the repetitions that have their result. A calibration is counted once for all
    cells that share it.
    """
    runnable = [each.number for each in plan.iterations if each.number not in refused]
    cells: dict[int, Span] = {}
    testers: list[CalibratedTester] = []
    calibrations = Span()
    for number in runnable:
        experiment = read_iteration(run, number)
        planned = planned_duration(experiment)
        cell = _cell(planned)
        if cell is None:
            return Estimate(len(runnable), plan.samples, None, None)
        cells[number] = cell
        tester = _tester(experiment, planned)
        if tester not in testers and any(s.iteration == number for s in _left(plan, done)):
            testers.append(tester)
            calibrations += _calibration(planned)
    left = [each for each in _left(plan, done) if each.iteration in cells]
    begun = {each.iteration for each in done}
    first = [each for each in left if each.number == 1 and each.iteration not in begun]
    return Estimate(
        cells=len(runnable),
        repetitions=plan.samples,
        first=sum((cells[each.iteration] for each in first), calibrations if first else Span()),
        all_of_it=sum((cells[each.iteration] for each in left), calibrations),
    )


def _left(plan: MatrixPlan, done: Collection[Sample]) -> Iterable[Sample]:
    return (each for each in plan.in_order() if each not in done)


def _cell(planned: PlannedTime) -> Span | None:
    """One repetition without its calibration; None where its search is not known yet."""
    spans = [_phase(each) for each in planned.typical if each.name != _CALIBRATION]
    return sum(spans, Span(AROUND_CELL_S, AROUND_CELL_S)) if planned.typical else None


def _calibration(planned: PlannedTime) -> Span:
    spans = [_phase(each) for each in planned.typical if each.name == _CALIBRATION]
    return sum(spans, Span(CALIBRATION_BED_S, CALIBRATION_BED_S)) if spans else Span()


def _phase(phase: TypicalPhase) -> Span:
    whole_s = phase.seconds + AROUND_TRIAL_S * phase.trials
    again = 1.0 if phase.name in _NOT_JUDGED else 1.0 / (1.0 - INVALID_SHARE)
    return Span(whole_s, whole_s * again)


def _tester(experiment: Experiment, planned: PlannedTime) -> CalibratedTester:
    return CalibratedTester.of(experiment, experiment.lab.port_count, planned.maximum_pps or 0.0)


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
