"""What is done before a trial: the pause, the user's command, and the teaching of addresses.

Teaching around a trial: a short trial of its own before it, and background streams in it. None of
these frames is load, probe or evidence: the trial before is discarded, and the background streams
are kept apart from all that is judged.
"""

from __future__ import annotations

import os
import shutil
import signal
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from plimsoll.benchmark.experiment.experiment import Experiment
from plimsoll.benchmark.experiment.trial_settings import BeforeTrial, TrialSettings
from plimsoll.errors import MachineError
from plimsoll.host.processes.child import Child, describe_exit
from plimsoll.record.trials.trial_parts import TrialPhase
from plimsoll.text.units import format_duration
from plimsoll.traffic.plan import StreamPlan
from plimsoll.traffic.streams.compile import Paths
from plimsoll.traffic.teaching.teaching import (
    background_teaching,
    teaching_before,
    teaching_duration_s,
)

_WHERE = "trial.before"
_LOG_NAME = "before-trial.log"


def check_command(settings: TrialSettings) -> None:
    """Raise MachineError where the command's program is missing."""
    if settings.before is not None:
        _program(settings.before)


def pause_between_trials(settings: TrialSettings, number: int) -> None:
    """Wait for the `gap` before trial `number`, unless it is a run's first."""
    if settings.gap is not None and number > 1:
        time.sleep(settings.gap)


def run_before_trial(
    settings: TrialSettings,
    directory: Path,
    *,
    number: int,
    phase: TrialPhase,
    load_pps: float,
    duration_s: float,
) -> None:
    """Run the user's command, which learns from its environment what is to come.

    Its output is kept in `directory` until the next. Raises MachineError naming the
    command where it is missing, fails, or does not end in time; whatever it started in
    its session is killed then.
    """
    if settings.before is None:
        return
    variables = {
        "PLIMSOLL_TRIAL": str(number),
        "PLIMSOLL_PHASE": phase,
        "PLIMSOLL_LOAD_PPS": f"{load_pps:.15g}",
        "PLIMSOLL_DURATION_S": f"{duration_s:.15g}",
    }
    _run(settings.before, directory / _LOG_NAME, {**os.environ, **variables})


def _run(before: BeforeTrial, log: Path, environment: dict[str, str]) -> None:
    command = (_program(before), *before.command[1:])
    log.unlink(missing_ok=True)
    child = Child.start(command, log=log, environment=environment)
    try:
        ended = child.wait(before.timeout)
    finally:
        _kill_session(child)
        status = child.exit_status()
        child.end(0)
    if not ended:
        took = f"did not end within {format_duration(before.timeout)}"
        raise _failed(before, child, took, "give it a longer timeout, or fix it")
    if status is not None and status != 0:
        raise _failed(before, child, describe_exit(status), "run it by hand to see why")


def _program(before: BeforeTrial) -> str:
    """The path of the command's program. Raises MachineError."""
    found = shutil.which(before.command[0])
    if found is None:
        raise MachineError(
            f"there is no program {before.command[0]}",
            where=_WHERE,
            remedy="install it, or give its path",
        )
    return found


def _kill_session(child: Child) -> None:
    """End what it has left in its process group, which is its own."""
    with suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)


def _failed(before: BeforeTrial, child: Child, problem: str, remedy: str) -> MachineError:
    said = "".join(f"\n  {line}" for line in child.log_tail(5))
    return MachineError(
        f"the command {' '.join(before.command)} {problem}{said}", where=_WHERE, remedy=remedy
    )


# Those that need no teaching: of the tester alone, and teaching itself.
_UNTAUGHT: tuple[TrialPhase, ...] = ("calibration", "teaching")
# Those that measure what a queue holds, in which every frame counts.
_ALONE: tuple[TrialPhase, ...] = (*_UNTAUGHT, "burst", "back-to-back")
# The longest that trial.catch_up may be.
_TEACHING_CATCH_UP_S = 1.0


@dataclass(frozen=True)
class TeachingTrial:
    """What is sent before a trial, `rate_pps` from the busiest port, for as long as it takes."""

    streams: tuple[StreamPlan, ...]
    duration_s: float
    rate_pps: float


def teaching_trial(experiment: Experiment, paths: Paths, phase: TrialPhase) -> TeachingTrial | None:
    """What teaches before a trial of this phase; None where no stream asks for it.

    Raises InputError for a stream that cannot be taught.
    """
    settings = experiment.trial.teaching.warmup
    if settings is None or phase in _UNTAUGHT:
        return None
    streams = teaching_before(experiment.profile, settings, paths)
    if not streams:
        return None
    return TeachingTrial(streams, teaching_duration_s(streams), _busiest_pps(streams))


def background_streams(
    experiment: Experiment, streams: tuple[StreamPlan, ...], paths: Paths, phase: TrialPhase
) -> tuple[StreamPlan, ...]:
    """The background streams that teach during a trial; empty where none of its `streams` needs it.

    Raises InputError for a stream that cannot be taught.
    """
    if phase in _ALONE:
        return ()
    settings = experiment.trial.teaching.measurement
    return background_teaching(streams, experiment.profile, settings, paths)


def settings_of(settings: TrialSettings, phase: TrialPhase) -> TrialSettings:
    """How a trial of this phase is run: what teaches is sent late rather than left out."""
    if phase != "teaching":
        return settings
    return settings.model_copy(update={"catch_up": _TEACHING_CATCH_UP_S})


def _busiest_pps(streams: tuple[StreamPlan, ...]) -> float:
    ports = {plan.tx_port for plan in streams}
    return max(
        sum(plan.rate_pps or 0.0 for plan in streams if plan.tx_port == port) for port in ports
    )
