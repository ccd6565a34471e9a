"""A session of a run of any method: from its start or its resumption to its result."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from pydantic import BaseModel

from plimsoll.benchmark.calibration.calibration import SharedCalibrations
from plimsoll.benchmark.experiment.experiment import Experiment
from plimsoll.benchmark.session.session import (
    ProgressListener,
    Session,
    begin,
    check_resumable,
    record_failures,
    versions,
)
from plimsoll.benchmark.testbed.bed_ledger import bed_ledger
from plimsoll.benchmark.testbed.testbed import Testbed, TestbedConfig, testbed
from plimsoll.benchmark.trial_run.steps import Steps
from plimsoll.benchmark.whole_run.run_audits import record_environment
from plimsoll.errors import InputError
from plimsoll.record.calibrations.calibration import TesterCalibration
from plimsoll.record.methods.method import Method
from plimsoll.record.recorder import Recorder, recording
from plimsoll.record.results.method_result import SHORTFALLS, Shortfall
from plimsoll.record.run.environment import load_environment
from plimsoll.record.run.journal import LINE_CUT, RUN_RESUMED
from plimsoll.record.run.result_file import read_run_result, reopen_run
from plimsoll.record.run.run_directory import RunDirectory

R = TypeVar("R", bound=BaseModel)


@dataclass(frozen=True)
class MethodRun(Generic[R]):
    """What a run is to do: by which method, of which experiment, and with which settings.

    `experiment` is as written in the run directory. `check` raises what is known to be wrong
    with a run that has no result yet, before anything is started. The tester is calibrated up
    to `highest_pps` per direction unless `calibrations` has that of the same tester; not at all
    where that is None. `shortfalls` are journalled, for the report of a running run.
    """

    method: Method[R]
    experiment: Experiment
    plan: TestbedConfig
    settings: Mapping[str, object] = field(default_factory=dict)
    shortfalls: tuple[Shortfall, ...] = ()
    highest_pps: Callable[[Testbed], float] | None = None
    calibrations: SharedCalibrations = field(default_factory=SharedCalibrations)
    check: Callable[[], None] | None = None


def run_method(
    to_run: MethodRun[R],
    run: RunDirectory,
    listener: ProgressListener,
    execute: Callable[[Steps], R],
) -> R:
    """Run, or go on with, a method in `run` until `execute` has its result.

    Finished trials are on disk before the next begins. Raises PlimsollError for what the
    user can fix; then, too, they are kept.
    """

    def on_its_bed(session: Session) -> R:
        with testbed(to_run.plan, session.ledger, session.listener.note) as bed:
            for note in (*bed.notes, *to_run.experiment.profile.notes()):
                listener.note(note)
            record_environment(session, bed, _calibration(to_run, session, bed))
            return execute(Steps(session, bed))

    return run_in_session(to_run, run, listener, on_its_bed)


def run_in_session(
    to_run: MethodRun[R],
    run: RunDirectory,
    listener: ProgressListener,
    execute: Callable[[Session], R],
) -> R:
    """The same of a method that brings up test beds of its own, and not that of the plan."""
    method = to_run.method
    _reopen(method, run)
    with recording(run) as recorder:
        finished = read_run_result(run, method.result)
        if finished is not None:
            listener.note("this run has already finished and keeps its result")
            return finished
        check_returns(method, to_run.experiment)
        if to_run.check is not None:
            to_run.check()
        _begin_or_resume(to_run, recorder, listener)
        with record_failures(recorder), bed_ledger(method.name, to_run.experiment.lab) as ledger:
            result = execute(Session(to_run.experiment, recorder, listener, ledger))
            if not method.one_trial:
                recorder.finish(result)
        return result


def check_returns(method: Method[R], experiment: Experiment) -> None:
    """Raise InputError where the method measures frames that come back, and none do."""
    if not method.by_criteria and not experiment.lab.returns_frames:
        error = InputError(
            f"plimsoll {method.command} measures frames that come back, and this DUT only receives",
            where="lab",
            remedy="use plimsoll run or trial, or a DUT that forwards",
        )
        experiment.place(error)
        raise error


def _reopen(method: Method[R], run: RunDirectory) -> None:
    """A run that a signal ended in good order has a result, and still goes on where resumed."""
    with run.lock():
        result = read_run_result(run, method.result)
        if result is not None and not method.outcome(result).complete:
            reopen_run(run)


def _begin_or_resume(to_run: MethodRun[R], recorder: Recorder, listener: ProgressListener) -> None:
    """Journal the start of this session; on resume, report what was found."""
    history = recorder.history()
    if not history.events:
        begin(recorder, to_run.method, to_run.experiment, to_run.settings)
        if to_run.shortfalls:
            shortfalls = [each.model_dump(mode="json") for each in to_run.shortfalls]
            recorder.event(SHORTFALLS, shortfalls=shortfalls)
        return
    check_resumable(history, to_run.method, to_run.experiment, recorder.run)
    trials, cut_short = history.trials(), history.unfinished_trials()
    if history.events[-1].kind == LINE_CUT:
        listener.note("a kill tore the journal's last line: it goes on after the last whole one")
    recorder.event(RUN_RESUMED, trials=len(trials), versions=versions(None))
    listener.note(
        f"resuming after {len(trials)} finished trials; {len(cut_short)} cut short and run again"
    )


def _calibration(to_run: MethodRun[R], session: Session, bed: Testbed) -> TesterCalibration | None:
    """Once a run: a session that goes on with it keeps the first one's."""
    environment = load_environment(session.recorder.run.environment)
    if environment is not None and environment.calibration is not None:
        return environment.calibration
    if to_run.highest_pps is None:
        return None
    port_count, highest_pps = len(bed.ports.devargs), to_run.highest_pps(bed)
    return to_run.calibrations.calibrate(session, port_count, highest_pps)
