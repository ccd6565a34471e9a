"""A matrix run: one load line after the other, each a run of its own."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

from pydantic import BaseModel

from plimsoll.benchmark.calibration.calibration import SharedCalibrations
from plimsoll.benchmark.session.session import ProgressListener, versions
from plimsoll.errors import PlimsollError
from plimsoll.methods.load_line.run import find_load_line
from plimsoll.methods.matrix.plan import MatrixPlan, read_iteration, read_plan, sample_folder
from plimsoll.methods.matrix.result import METHOD, IterationResult, MatrixResult, SampleResult
from plimsoll.methods.matrix.settings import Sample, described
from plimsoll.record.index.summarise import note_summary
from plimsoll.record.methods.method import Method
from plimsoll.record.results.result import read_result
from plimsoll.record.run.file_check import FileChecksums
from plimsoll.record.run.journal import RUN_RESUMED, RUN_STARTED, Journal, read_journal
from plimsoll.record.run.result_file import finish_run, read_run_result, restore_result
from plimsoll.record.run.run_directory import RunDirectory

# Of the journal: a sample that came to its result, and one that ended with an error.
SAMPLE_ENDED = "sample-ended"
_SAMPLE_FAILED = "sample-failed"
_SAMPLE_SKIPPED = "sample-skipped"
R = TypeVar("R", bound=BaseModel)
# Called with the run directory of a sample.
OnSample = Callable[[RunDirectory], None]


@dataclass(frozen=True)
class MatrixEnd(Generic[R]):
    """What a method makes of the iterations of its matrix.

    `result` of the run, by its plan, once every sample was run or left out; `is_over` says of a
    result whether there is nothing left to go on with.
    """

    method: Method[R]
    result: Callable[[RunDirectory, MatrixPlan, tuple[IterationResult, ...]], R]
    is_over: Callable[[R], bool]


@dataclass(frozen=True)
class SampleHooks:
    """What is done around each sample that is run: before it begins, once it has its result."""

    before: OnSample = field(default=lambda _: None)
    after: OnSample = field(default=lambda _: None)


def run_matrix(
    run: RunDirectory,
    listener: ProgressListener,
    after_sample: OnSample,
    before_sample: OnSample = lambda _: None,
    course: Course | None = None,
) -> MatrixResult:
    """Run, or go on with, the matrix that `begin_matrix` has prepared in `run`.

    By the `course` samples may be left out; without one all are run. Of each sample that is
    run, `before_sample` is called when it begins, and `after_sample` when it has its result.

    A sample that ends with an error is recorded and does not keep the others from being
    run. What has a result is not run again; what had failed is. Raises PlimsollError where
    the matrix's own record cannot be read or written.
    """
    hooks = SampleHooks(before_sample, after_sample)
    return run_samples(run, listener, hooks, _WHOLE, course or RunAll())


def run_samples(
    run: RunDirectory,
    listener: ProgressListener,
    hooks: SampleHooks,
    end: MatrixEnd[R],
    course: Course,
) -> R:
    """The same for any method upon a matrix, by whose `course` samples may be left out."""
    plan = read_plan(run, end.method)
    with run.lock():
        restore_result(run)
        finished = read_run_result(run, end.method.result)
        if finished is not None and end.is_over(finished):
            listener.note("this run has already finished and keeps its result")
            return finished
        with Journal(run.journal) as journal:
            return _MatrixRun(
                run, plan, journal, listener=listener, hooks=hooks, end=end, course=course
            ).execute()


def finished_sample(run: RunDirectory, sample: Sample) -> SampleResult | None:
    """What a sample of the run found; None where it has not come to its result."""
    folder = sample_folder(run, sample)
    result = read_result(RunDirectory(folder))
    if result is None:
        return None
    return SampleResult.found(sample.number, _name(run, sample), result)


def iteration_results(
    plan: MatrixPlan, results: Mapping[Sample, SampleResult]
) -> tuple[IterationResult, ...]:
    """The samples there are, by iteration."""
    return tuple(
        IterationResult.of(
            each.number,
            each.params,
            [
                results[sample]
                for number in range(1, plan.samples + 1)
                if (sample := Sample(each.number, number)) in results
            ],
        )
        for each in plan.iterations
    )


def _matrix_result(
    run: RunDirectory, plan: MatrixPlan, iterations: tuple[IterationResult, ...]
) -> MatrixResult:
    return MatrixResult(
        run_id=run.run_id,
        name=plan.name,
        order=plan.order,
        seed=plan.seed,
        iterations=iterations,
        versions=versions(None),
    )


def _has_no_errors(result: MatrixResult) -> bool:
    return all(each.error is None for each in result.samples)


_WHOLE = MatrixEnd(METHOD, _matrix_result, _has_no_errors)


class _MatrixRun(Generic[R]):
    """One session of a matrix run."""

    def __init__(
        self,
        run: RunDirectory,
        plan: MatrixPlan,
        journal: Journal,
        *,
        listener: ProgressListener,
        hooks: SampleHooks,
        end: MatrixEnd[R],
        course: Course,
    ) -> None:
        self._run = run
        self._plan = plan
        self._journal = journal
        self._listener = listener
        self._hooks = hooks
        self._end = end
        self._course = course
        self._results: dict[Sample, SampleResult] = {}
        self._calibrations = SharedCalibrations()

    def execute(self) -> R:
        """Run every sample that has no result yet, and say what all of them found."""
        self._begin_or_resume()
        note_summary(self._run)
        for sample in self._plan.in_order():
            self._results[sample] = self._finished(sample) or self._run_or_skip(sample)
        result = self._end.result(
            self._run, self._plan, iteration_results(self._plan, self._results)
        )
        FileChecksums(self._run, read_journal(self._run.journal)).record(self._journal)
        finish_run(self._run, self._journal, result)
        note_summary(self._run)
        return result

    def _begin_or_resume(self) -> None:
        if not read_journal(self._run.journal).events:
            self._journal.append(
                RUN_STARTED,
                method=self._end.method.name,
                versions=versions(None),
                settings={},
                # The runs that it is made of have their own.
                growing=[],
            )
            return
        samples = list(self._plan.in_order())
        done = sum(1 for sample in samples if self._finished(sample))
        self._journal.append(RUN_RESUMED, samples=done, versions=versions(None))
        self._listener.note(f"resuming: {done} of {len(samples)} samples have their result")

    def _finished(self, sample: Sample) -> SampleResult | None:
        return finished_sample(self._run, sample)

    def _run_or_skip(self, sample: Sample) -> SampleResult:
        reason = self._course.reason_to_skip(sample, self._results)
        if reason is None:
            return self._execute(sample)
        self._journal.append(
            _SAMPLE_SKIPPED, iteration=sample.iteration, sample=sample.number, why=reason
        )
        return SampleResult.not_run(sample.number, _name(self._run, sample), reason)

    def _execute(self, sample: Sample) -> SampleResult:
        self._listener.note(self._announcement(sample))
        began_s = time.monotonic()
        try:
            experiment = read_iteration(self._run, sample.iteration)
            folder = sample_folder(self._run, sample)
            directory = RunDirectory.within(folder, experiment.normalised())
            self._hooks.before(directory)
            result = find_load_line(experiment, directory, self._listener, self._calibrations)
            self._hooks.after(directory)
            found = SampleResult.found(sample.number, _name(self._run, sample), result)
        except PlimsollError as error:
            found = self._failed(sample, error)
        seconds = time.monotonic() - began_s
        self._course.ended(sample, seconds)
        self._journal.append(
            SAMPLE_ENDED, iteration=sample.iteration, sample=sample.number, seconds=seconds
        )
        return found

    def _failed(self, sample: Sample, error: PlimsollError) -> SampleResult:
        name = _name(self._run, sample)
        self._listener.note(f"{name} failed: {error}")
        self._journal.append(
            _SAMPLE_FAILED, iteration=sample.iteration, sample=sample.number, what=str(error)
        )
        return SampleResult.failed(sample.number, name, error)

    def _announcement(self, sample: Sample) -> str:
        planned = self._plan.iterations[sample.iteration - 1]
        return (
            f"iteration {sample.iteration} of {len(self._plan.iterations)}, "
            f"sample {sample.number} of {self._plan.samples}: "
            f"{planned.label or described(planned.params)}"
        )


def _name(run: RunDirectory, sample: Sample) -> str:
    return sample_folder(run, sample).relative_to(run.path).as_posix()


# Which samples of a matrix run are run, decided as it goes on.
class Course(Protocol):
    """Called before each sample, in their order."""

    def reason_to_skip(self, sample: Sample, results: Mapping[Sample, SampleResult]) -> str | None:
        """Why this one is left out, None where it is to be run.

        `results` are those so far, of earlier sessions and of those left out too.
        """

    def ended(self, sample: Sample, seconds: float) -> None:
        """The sample was run, and took so long."""


class RunAll:
    """Every sample is run."""

    def reason_to_skip(self, sample: Sample, results: Mapping[Sample, SampleResult]) -> str | None:
        """None."""
        del sample, results
        return None

    def ended(self, sample: Sample, seconds: float) -> None:
        """It makes no difference."""


class RunNone:
    """No sample is run here, for a reason: those that have a result elsewhere were brought."""

    def __init__(self, reason: str) -> None:
        self._reason = reason

    def reason_to_skip(self, sample: Sample, results: Mapping[Sample, SampleResult]) -> str | None:
        """The reason, for each."""
        del sample, results
        return self._reason

    def ended(self, sample: Sample, seconds: float) -> None:
        """None is run."""
