"""The main method: search for the highest load that passes, and prove it by validation."""

from __future__ import annotations

from plimsoll.benchmark.calibration.calibration import calibrate
from plimsoll.benchmark.experiment.experiment import Experiment
from plimsoll.benchmark.experiment.loads import loads_of_search
from plimsoll.benchmark.experiment.versions import versions
from plimsoll.benchmark.load_line.platform_limit import platform_limit
from plimsoll.benchmark.session.beginning import begin, check_method, check_resumable
from plimsoll.benchmark.session.deaths import deaths_recorded
from plimsoll.benchmark.session.session import Session
from plimsoll.benchmark.session.watcher import Watcher
from plimsoll.benchmark.testbed.bed_ledger import bed_ledger
from plimsoll.benchmark.testbed.testbed import BedPlan, Testbed, testbed
from plimsoll.benchmark.trial_run.baseline_trial import (
    has_baseline,
    measure_baseline,
    needs_baseline,
)
from plimsoll.benchmark.trial_run.ceiling_trial import (
    ceiling_of,
    has_ceiling,
    may_fall_short,
    measure_ceiling,
)
from plimsoll.benchmark.trial_run.recorded_trial import TrialRequest, TrialRunner
from plimsoll.benchmark.trial_run.search_trial import search_trial
from plimsoll.benchmark.trial_run.told import recorded, told_of
from plimsoll.benchmark.whole_run.agreement import dut_agreement_of
from plimsoll.benchmark.whole_run.preflight import check_search
from plimsoll.benchmark.whole_run.surroundings import record_surroundings
from plimsoll.benchmark.whole_run.tester_diagnosis import diagnose
from plimsoll.record.calibrations.calibration import TesterCalibration
from plimsoll.record.recorder import Recorder, recording
from plimsoll.record.results.result import Result, read_result
from plimsoll.record.results.tester_diagnosis import TesterCeiling
from plimsoll.record.run.environment import load_environment
from plimsoll.record.run.journal import read_journal
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.record.trials.trial_record import TrialRecord
from plimsoll.search.strategy.ask import Ask, Finished, Search, replay
from plimsoll.search.strategy.settings import ToPps
from plimsoll.search.strategy.tester_reach import sustainable_pps
from plimsoll.traffic.plan import StreamPlan
from plimsoll.traffic.streams.compile import compile_profile

METHOD = "load-line"
_LEDGER = "run"


def find_load_line(experiment: Experiment, run: RunDirectory, watcher: Watcher) -> Result:
    """Run, or go on with, the experiment in `run` until it has a result.

    Every finished trial is on disk before the next begins, so a run that was
    killed goes on after the last of them. Raises PlimsollError for what the user
    can mend; then, too, all finished trials are kept.
    """
    with recording(run) as recorder:
        finished = read_result(run)
        if finished is not None:
            watcher.note("this run has finished already; its result stands")
            return finished
        check_search(experiment)
        _begin_or_resume(experiment, run, recorder, watcher)
        with deaths_recorded(recorder), bed_ledger(_LEDGER, experiment.lab) as ledger:
            session = Session(experiment, recorder, watcher, ledger)
            return _LoadLineSearch(session, run).execute()


def check_resume(experiment: Experiment, run: RunDirectory) -> None:
    """Raise InputError where `run` is not one of `experiment` that a search can go on with."""
    history = read_journal(run.journal)
    if not history.events:
        return
    check_method(history, METHOD, run)
    if read_result(run) is None:
        check_resumable(history, METHOD, experiment, run)


class _LoadLineSearch:
    """One session of a run: from bringing the test bed up to the result."""

    def __init__(self, session: Session, run: RunDirectory) -> None:
        self._session = session
        self._experiment = session.experiment
        self._run = run

    def execute(self) -> Result:
        """Bring everything up, search, and say what was found."""
        with testbed(
            BedPlan.of(self._experiment), self._session.ledger, self._session.watcher.note
        ) as bed:
            for note in (*bed.notes, *self._experiment.profile.notes()):
                self._session.watcher.note(note)
            to_pps = loads_of_search(self._experiment, bed.line_rate_bps)
            with self._experiment.placing():
                minimum_pps, maximum_pps = self._experiment.search.resolve_range(to_pps)
            search = self._replayed(to_pps)
            calibration = self._calibrate(bed, maximum_pps)
            record_surroundings(self._session, bed, calibration)
            runner = TrialRunner(self._session, bed)
            self._warm_up(runner, minimum_pps)
            if self._lacks_ceiling(bed, maximum_pps):
                measure_ceiling(runner, self._streams(runner, maximum_pps), maximum_pps)
                search = self._replayed(to_pps)
            if needs_baseline(self._experiment) and not has_baseline(self._trials()):
                measure_baseline(runner, self._streams(runner, minimum_pps), minimum_pps)
            result = self._result(bed, self._search(runner, search), calibration)
        self._session.recorder.finish(result)
        return result

    def _replayed(self, to_pps: ToPps) -> Search:
        """The search as far as the run's trials have brought it, the ceiling's among them."""
        trials, ceiling = self._trials(), self._ceiling()
        reach_pps = None if ceiling is None else sustainable_pps(ceiling.offered_pps)
        return replay(self._experiment.search.begin(to_pps, reach_pps), recorded(trials))

    def _ceiling(self) -> TesterCeiling | None:
        return ceiling_of(self._trials(), self._experiment.tester)

    def _lacks_ceiling(self, bed: Testbed, maximum_pps: float) -> bool:
        """Once a run, before its search begins."""
        trials = self._trials()
        if has_ceiling(trials) or any(recorded(trials)):
            return False
        return may_fall_short(self._experiment, bed, maximum_pps)

    def _calibrate(self, bed: Testbed, maximum_pps: float) -> TesterCalibration | None:
        """Once a run: a session that goes on with it keeps the first one's."""
        environment = load_environment(self._run.environment)
        if environment is not None and environment.calibration is not None:
            return environment.calibration
        return calibrate(self._session, len(bed.ports.devargs), maximum_pps)

    def _warm_up(self, runner: TrialRunner, load_pps: float) -> None:
        """A discarded trial: it fills caches and teaches whatever learns addresses."""
        duration_s = self._experiment.trial.warmup
        if duration_s is not None:
            streams = self._streams(runner, load_pps)
            runner.run(TrialRequest("warmup", load_pps, duration_s, streams, judged=False))

    def _search(self, runner: TrialRunner, search: Search) -> Finished:
        while isinstance(asked := search.ask(), Ask):
            request = search_trial(self._experiment, runner.bed, asked)
            search.tell(told_of(runner.run(request)))
        return asked

    def _streams(self, runner: TrialRunner, load_pps: float) -> tuple[StreamPlan, ...]:
        return compile_profile(self._experiment.profile, load_pps, runner.bed.ports.paths)

    def _trials(self) -> tuple[TrialRecord, ...]:
        return self._session.recorder.history().trials()

    def _result(
        self, bed: Testbed, finished: Finished, calibration: TesterCalibration | None
    ) -> Result:
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
            line_rate_bps=bed.line_rate_bps,
            dut_agreement=dut_agreement_of(trials),
            calibration=calibration,
            versions=versions(bed.generator.facts),
            ceiling=self._ceiling(),
            diagnosis=diagnose(trials) if without_line else None,
            platform=platform_limit(self._run, trials, finished.first.load_line_pps),
        )


def _begin_or_resume(
    experiment: Experiment, run: RunDirectory, recorder: Recorder, watcher: Watcher
) -> None:
    """Journal the beginning of this session; on resume, tell what was found."""
    history = recorder.history()
    if not history.events:
        begin(recorder, METHOD, experiment)
        return
    check_resumable(history, METHOD, experiment, run)
    trials, cut_short = history.trials(), history.unfinished_trials()
    recorder.event("run-resumed", trials=len(trials), versions=versions(None))
    watcher.note(
        f"resuming after {len(trials)} finished trials; {len(cut_short)} cut short and run again"
    )
