"""A matrix run: one load line after the other, each a run of its own."""

from __future__ import annotations

from collections.abc import Callable

from plimsoll.benchmark.experiment.versions import versions
from plimsoll.benchmark.load_line.load_line import find_load_line
from plimsoll.benchmark.matrix.combinations import Sample, described
from plimsoll.benchmark.matrix.plan import MatrixPlan, read_iteration, read_plan, sample_folder
from plimsoll.benchmark.session.progress_listener import ProgressListener
from plimsoll.errors import PlimsollError
from plimsoll.record.index.summarise import note_summary
from plimsoll.record.methods.matrix import MATRIX
from plimsoll.record.results.matrix_result import IterationResult, MatrixResult, SampleResult
from plimsoll.record.results.result import read_result
from plimsoll.record.run.journal import RUN_RESUMED, RUN_STARTED, Journal, read_journal
from plimsoll.record.run.result_file import finish_run, read_run_result, restore_result
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.record.run.sealing import Seals

_SAMPLE_FAILED = "sample-failed"

# Called with the run directory of a sample.
OnSample = Callable[[RunDirectory], None]


def run_matrix(
    run: RunDirectory,
    listener: ProgressListener,
    after_sample: OnSample,
    before_sample: OnSample = lambda _: None,
) -> MatrixResult:
    """Run, or go on with, the matrix that `begin_matrix` has prepared in `run`.

    Of each sample that is run, `before_sample` is called when it begins, and `after_sample` when
    it has its result.

    A sample that ends with an error is recorded and does not keep the others from being
    run. What has a result is not run again; what had failed is. Raises PlimsollError where
    the matrix's own record cannot be read or written.
    """
    plan = read_plan(run)
    with run.lock():
        restore_result(run)
        finished = read_run_result(run, MatrixResult)
        if finished is not None and not any(_errors(finished)):
            listener.note("this matrix has finished already; its result stands")
            return finished
        with Journal(run.journal) as journal:
            return _MatrixRun(
                run, plan, journal, listener, after_sample=after_sample, before_sample=before_sample
            ).execute()


def _errors(result: MatrixResult) -> list[str]:
    samples = [each for iteration in result.iterations for each in iteration.samples]
    return [each.error for each in samples if each.error is not None]


class _MatrixRun:
    """One session of a matrix run."""

    def __init__(
        self,
        run: RunDirectory,
        plan: MatrixPlan,
        journal: Journal,
        listener: ProgressListener,
        *,
        after_sample: OnSample,
        before_sample: OnSample,
    ) -> None:
        self._run = run
        self._plan = plan
        self._journal = journal
        self._listener = listener
        self._after_sample = after_sample
        self._before_sample = before_sample
        self._results: dict[Sample, SampleResult] = {}

    def execute(self) -> MatrixResult:
        """Run every sample that has no result yet, and say what all of them found."""
        self._begin_or_resume()
        note_summary(self._run)
        for sample in self._plan.in_order():
            self._results[sample] = self._finished(sample) or self._execute(sample)
        result = self._result()
        Seals(self._run, read_journal(self._run.journal)).record(self._journal)
        finish_run(self._run, self._journal, result)
        note_summary(self._run)
        return result

    def _begin_or_resume(self) -> None:
        if not read_journal(self._run.journal).events:
            self._journal.append(
                RUN_STARTED, method=MATRIX.name, versions=versions(None), settings={}
            )
            return
        samples = list(self._plan.in_order())
        done = sum(1 for sample in samples if self._finished(sample))
        self._journal.append(RUN_RESUMED, samples=done, versions=versions(None))
        self._listener.note(f"resuming: {done} of {len(samples)} samples have their result")

    def _finished(self, sample: Sample) -> SampleResult | None:
        folder = sample_folder(self._run, sample)
        result = read_result(RunDirectory(folder))
        if result is None:
            return None
        return SampleResult.found(sample.number, self._name(sample), result)

    def _execute(self, sample: Sample) -> SampleResult:
        self._listener.note(self._announcement(sample))
        try:
            experiment = read_iteration(self._run, sample.iteration)
            folder = sample_folder(self._run, sample)
            directory = RunDirectory.within(folder, experiment.normalised())
            self._before_sample(directory)
            result = find_load_line(experiment, directory, self._listener)
            self._after_sample(directory)
        except PlimsollError as error:
            return self._failed(sample, error)
        return SampleResult.found(sample.number, self._name(sample), result)

    def _failed(self, sample: Sample, error: PlimsollError) -> SampleResult:
        self._listener.note(f"{self._name(sample)} failed: {error}")
        self._journal.append(
            _SAMPLE_FAILED, iteration=sample.iteration, sample=sample.number, what=str(error)
        )
        return SampleResult.failed(sample.number, self._name(sample), error)

    def _result(self) -> MatrixResult:
        return MatrixResult(
            run_id=self._run.run_id,
            name=self._plan.name,
            order=self._plan.order,
            seed=self._plan.seed,
            iterations=tuple(
                IterationResult.of(
                    each.number,
                    each.params,
                    [
                        self._results[Sample(each.number, number)]
                        for number in range(1, self._plan.samples + 1)
                    ],
                )
                for each in self._plan.iterations
            ),
            versions=versions(None),
        )

    def _announcement(self, sample: Sample) -> str:
        params = self._plan.iterations[sample.iteration - 1].params
        return (
            f"iteration {sample.iteration} of {len(self._plan.iterations)}, "
            f"sample {sample.number} of {self._plan.samples}: {described(params)}"
        )

    def _name(self, sample: Sample) -> str:
        return sample_folder(self._run, sample).relative_to(self._run.path).as_posix()
