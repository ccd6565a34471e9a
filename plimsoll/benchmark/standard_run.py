"""A session of any standard test: from its beginning or its resumption to its result."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from plimsoll.benchmark.bed_ledger import bed_ledger
from plimsoll.benchmark.beginning import begin, check_resumable
from plimsoll.benchmark.calibration import calibrate
from plimsoll.benchmark.deaths import deaths_recorded
from plimsoll.benchmark.experiment import Experiment
from plimsoll.benchmark.session import Session
from plimsoll.benchmark.steps import Steps
from plimsoll.benchmark.surroundings import record_surroundings
from plimsoll.benchmark.testbed import BedPlan, Testbed, testbed
from plimsoll.benchmark.versions import versions
from plimsoll.benchmark.watcher import Watcher
from plimsoll.record.calibration import TesterCalibration
from plimsoll.record.environment import load_environment
from plimsoll.record.journal import RUN_RESUMED
from plimsoll.record.method_result import SHORTFALLS, MethodResult, Shortfall
from plimsoll.record.recorder import Recorder, recording
from plimsoll.record.run_directory import RunDirectory
from plimsoll.record.whole_file import read_whole

R = TypeVar("R", bound=MethodResult)

_REMEDY = "read it with the version of plimsoll that wrote it, or restore it from a copy"


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
        finished = read_whole(run.result, model, _REMEDY)
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
