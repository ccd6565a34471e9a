"""What is done before a trial is sent: the pause after the last one, and the user's command."""

from __future__ import annotations

import os
import shutil
import signal
import time
from contextlib import suppress
from pathlib import Path

from plimsoll.benchmark.experiment.trial_settings import BeforeTrial, TrialSettings
from plimsoll.errors import MachineError
from plimsoll.host.processes.child import Child, describe_exit
from plimsoll.record.trials.trial_parts import TrialPhase
from plimsoll.text.units import format_duration

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
