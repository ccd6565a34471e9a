"""A session of any standard test: from its beginning or its resumption to its result."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from plimsoll.benchmark.calibration.calibration import calibrate
from plimsoll.benchmark.experiment.experiment import Experiment
from plimsoll.benchmark.experiment.versions import versions
from plimsoll.benchmark.session.beginning import begin, check_resumable
from plimsoll.benchmark.session.deaths import deaths_recorded
from plimsoll.benchmark.session.session import Session
from plimsoll.benchmark.session.watcher import Watcher
from plimsoll.benchmark.testbed.bed_ledger import bed_ledger
from plimsoll.benchmark.testbed.testbed import BedPlan, Testbed, testbed
from plimsoll.benchmark.trial_run.steps import Steps
from plimsoll.benchmark.whole_run.surroundings import record_surroundings
from plimsoll.record.calibrations.calibration import TesterCalibration
from plimsoll.record.recorder import Recorder, recording
from plimsoll.record.results.method_result import SHORTFALLS, MethodResult, Shortfall
from plimsoll.record.run.environment import load_environment
from plimsoll.record.run.journal import RUN_RESUMED
from plimsoll.record.run.result_file import read_run_result
from plimsoll.record.run.run_directory import RunDirectory

R = TypeVar("R", bound=MethodResult)


@dataclass(frozen=True)
class StandardTest:
    """What a run is asked: by which method, of which experiment, and what beside it.

    `experiment` is as written in the run directory. The tester is calibrated up to
    `highest_pps` per direction, not at all where that is None. `shortfalls` are told in the
    journal, for the report of a run that goes on.
    """

    method: str
    experiment: Experiment
    asked: Mapping[str, object]
    plan: BedPlan
    shortfalls: tuple[Shortfall, ...] = ()
    highest_pps: Callable[[Testbed], float] | None = None


def run_standard(
    test: StandardTest,
    run: RunDirectory,
    watcher: Watcher,
    model: type[R],
    execute: Callable[[Steps], R],
) -> R:
    """Run, or go on with, a standard test in `run` until `execute` has its result.

    Finished trials are on disk before the next begins. Raises PlimsollError for what the
    user can mend; then, too, they are kept.
    """
    with recording(run) as recorder:
        finished = read_run_result(run, model)
        if finished is not None:
            watcher.note("this run has finished already; its result stands")
            return finished
        _begin_or_resume(test, run, recorder, watcher)
        with deaths_recorded(recorder), bed_ledger(test.method, test.experiment.lab) as ledger:
            session = Session(test.experiment, recorder, watcher, ledger)
            with testbed(test.plan, ledger, watcher.note) as bed:
                for note in (*bed.notes, *test.experiment.profile.notes()):
                    watcher.note(note)
                record_surroundings(session, bed, _calibration(test, session, bed))
                result = execute(Steps(session, bed))
            recorder.finish(result)
        return result


def _calibration(test: StandardTest, session: Session, bed: Testbed) -> TesterCalibration | None:
    """Once a run: a session that goes on with it keeps the first one's."""
    environment = load_environment(session.recorder.run.environment)
    if environment is not None and environment.calibration is not None:
        return environment.calibration
    if test.highest_pps is None:
        return None
    return calibrate(session, len(bed.ports.devargs), test.highest_pps(bed))


def _begin_or_resume(
    test: StandardTest, run: RunDirectory, recorder: Recorder, watcher: Watcher
) -> None:
    history = recorder.history()
    if not history.events:
        begin(recorder, test.method, test.experiment, test.asked)
        recorder.event(SHORTFALLS, shortfalls=[s.model_dump(mode="json") for s in test.shortfalls])
        return
    check_resumable(history, test.method, test.experiment, run)
    trials, cut_short = history.trials(), history.unfinished_trials()
    recorder.event(RUN_RESUMED, trials=len(trials), versions=versions(None))
    watcher.note(
        f"resuming after {len(trials)} finished trials; {len(cut_short)} cut short and run again"
    )
