"""The main method: search for the highest load that passes, and prove it by validation."""

from __future__ import annotations

from plimsoll.attribution.ranking.trace_gaps import unwatched_sentences
from plimsoll.benchmark.calibration.calibration import SharedCalibrations
from plimsoll.benchmark.experiment.experiment import Experiment
from plimsoll.benchmark.experiment.loads import loads_of_search
from plimsoll.benchmark.session.session import (
    ProgressListener,
    check_method,
    check_resumable,
    versions,
)
from plimsoll.benchmark.testbed.testbed import Testbed, TestbedConfig
from plimsoll.benchmark.trial_run.before_search import (
    ceiling_of,
    has_baseline,
    has_ceiling,
    may_fall_short,
    measure_baseline,
    measure_ceiling,
    needs_baseline,
)
from plimsoll.benchmark.trial_run.search_trial import recorded, search_answer, search_trial
from plimsoll.benchmark.trial_run.steps import Steps
from plimsoll.benchmark.trial_run.trial_runner import TrialRequest, TrialRunner
from plimsoll.benchmark.whole_run.diagnosis import diagnose, dut_agreement_of
from plimsoll.benchmark.whole_run.method_run import MethodRun, run_method
from plimsoll.benchmark.whole_run.preflight import check_search
from plimsoll.methods.load_line.platform_limit import platform_limit
from plimsoll.methods.load_line.result import METHOD
from plimsoll.record.causes.causes_record import read_causes
from plimsoll.record.results.result import Result, TesterCeiling, read_result
from plimsoll.record.run.environment import load_environment
from plimsoll.record.run.journal import read_journal
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.record.trials.trial_record import TrialRecord
from plimsoll.search.strategy.ask import Ask, Finished, Search, replay
from plimsoll.search.strategy.question import sustainable_pps
from plimsoll.search.strategy.settings import ToPps
from plimsoll.traffic.plan import StreamPlan
from plimsoll.traffic.streams.compile import compile_profile


def find_load_line(
    experiment: Experiment,
    run: RunDirectory,
    listener: ProgressListener,
    calibrations: SharedCalibrations | None = None,
) -> Result:
    """Run, or go on with, the experiment in `run` until it has a result.

    Every finished trial is on disk before the next begins, so a run that was
    killed goes on after the last of them. Runs that are given the same `calibrations` share
    those of the same tester. Raises PlimsollError for what the user
    can fix; then, too, all finished trials are kept.
    """
    to_run = MethodRun(
        METHOD,
        experiment,
        TestbedConfig.of(experiment),
        highest_pps=lambda bed: _highest_pps(experiment, bed),
        calibrations=calibrations or SharedCalibrations(),
        check=lambda: check_search(experiment),
    )
    return run_method(to_run, run, listener, lambda steps: _LoadLineSearch(steps).execute())


def check_resume(experiment: Experiment, run: RunDirectory) -> None:
    """Raise InputError where `run` is not one of `experiment` that a search can go on with."""
    history = read_journal(run.journal)
    if not history.events:
        return
    check_method(history, METHOD, run)
    if read_result(run) is None:
        check_resumable(history, METHOD, experiment, run)


def _highest_pps(experiment: Experiment, bed: Testbed) -> float:
    """The search's maximum. Raises InputError where its loads are out of order."""
    to_pps = loads_of_search(experiment, bed.line_rate_bps)
    with experiment.with_source_locations():
        experiment.begin_search(to_pps)
        _, maximum_pps = experiment.search.resolve_range(to_pps)
    return maximum_pps


class _LoadLineSearch:
    """One session of a run, on a test bed that is up."""

    def __init__(self, steps: Steps) -> None:
        self._session = steps.session
        self._bed = steps.bed
        self._runner = TrialRunner(steps.session, steps.bed)
        self._experiment = steps.session.experiment
        self._run = steps.session.recorder.run

    def execute(self) -> Result:
        """Prepare, search, and say what was found."""
        to_pps = loads_of_search(self._experiment, self._bed.line_rate_bps)
        with self._experiment.with_source_locations():
            minimum_pps, maximum_pps = self._experiment.search.resolve_range(to_pps)
        search = self._replayed(to_pps)
        self._warm_up(minimum_pps)
        if self._lacks_ceiling(maximum_pps):
            measure_ceiling(self._runner, self._streams(maximum_pps), maximum_pps)
            search = self._replayed(to_pps)
        if needs_baseline(self._experiment) and not has_baseline(self._trials()):
            measure_baseline(self._runner, self._streams(minimum_pps), minimum_pps)
        return self._result(self._search(search))

    def _replayed(self, to_pps: ToPps) -> Search:
        """The search as far as the run's trials have brought it, the ceiling's among them."""
        trials, ceiling = self._trials(), self._ceiling()
        reach_pps = None if ceiling is None else sustainable_pps(ceiling.offered_pps)
        return replay(self._experiment.begin_search(to_pps, reach_pps), recorded(trials))

    def _ceiling(self) -> TesterCeiling | None:
        return ceiling_of(self._trials(), self._experiment.tester)

    def _lacks_ceiling(self, maximum_pps: float) -> bool:
        """Once a run, before its search begins."""
        trials = self._trials()
        if has_ceiling(trials) or any(recorded(trials)):
            return False
        return may_fall_short(self._experiment, self._bed, maximum_pps)

    def _warm_up(self, load_pps: float) -> None:
        """A discarded trial: it fills caches and teaches whatever learns addresses."""
        duration_s = self._experiment.trial.warmup
        if duration_s is not None:
            streams = self._streams(load_pps)
            self._runner.run(TrialRequest("warmup", load_pps, duration_s, streams, judged=False))

    def _search(self, search: Search) -> Finished:
        while isinstance(asked := search.ask(), Ask):
            request = search_trial(self._experiment, self._bed, asked)
            search.tell(search_answer(self._runner.run(request)))
        return asked

    def _streams(self, load_pps: float) -> tuple[StreamPlan, ...]:
        return compile_profile(self._experiment.profile, load_pps, self._bed.ports.paths)

    def _trials(self) -> tuple[TrialRecord, ...]:
        return self._session.recorder.history().trials()

    def _result(self, finished: Finished) -> Result:
        environment = load_environment(self._run.environment)
        trials = self._trials()
        without_line = finished.first.load_line_pps is None
        return Result.from_trials(
            trials,
            run_id=self._run.run_id,
            name=self._experiment.name,
            ends=finished.ends,
            criteria={
                goal: [criterion.model_dump(mode="json") for criterion in criteria]
                for goal, criteria in self._experiment.goals.items()
            },
            line_rate_bps=self._bed.line_rate_bps,
            dut_agreement=dut_agreement_of(trials),
            calibration=None if environment is None else environment.calibration,
            versions=versions(self._bed.generator.facts),
            ceiling=self._ceiling(),
            diagnosis=diagnose(trials) if without_line else None,
            platform=platform_limit(self._run, trials, finished.first.load_line_pps),
            unwatched=unwatched_sentences(read_causes(self._run)),
        )
