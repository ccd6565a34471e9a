"""Runs that the page starts: each a `plimsoll` of its own, which outlives the server.

A child has a session of its own, so that no signal to the server's terminal reaches it, and
writes what it says into a file in the folder `.serve` of the runs.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import yaml

from plimsoll.benchmark.experiment.experiment import Experiment
from plimsoll.errors import InputError, MachineError
from plimsoll.record.files.record_error import write_failed
from plimsoll.record.files.whole_file import write_whole
from plimsoll.record.index.run_entry import RunEntry
from plimsoll.record.index.run_paths import run_paths, time_in_id
from plimsoll.record.methods.registry import METHODS
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.record.run.run_lock import is_held
from plimsoll.text.named_program import AllowedPrograms
from plimsoll.text.plain_text import plain_text

_FOLDER = ".serve"
# Reading an experiment and importing what runs it; on a machine that is busy.
_BEGIN_S = 60.0
_BETWEEN_LOOKS_S = 0.1
# An id says no more than the second, and a clock may be set back a little in between.
_CLOCK_STEP_NS = 60 * 10**9
_LOG_LINES = 12
_LOOK = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW
_MAX_DIGITS = 10


class ChildRuns:
    """Starts them. `runs_root` is where their runs are made, `programs` is what they may run."""

    def __init__(self, runs_root: Path, programs: AllowedPrograms) -> None:
        self._runs_root = runs_root
        self._programs = programs

    def start(self, experiment: Experiment, tags: Sequence[str]) -> str:
        """Run the experiment and return the id of its run, once that has begun.

        `tags` are key=value and checked. Raises MachineError with what the child said where it
        ended before.
        """
        stem = f"{datetime.now(UTC):%Y%m%dT%H%M%S%f}-{experiment.name}"
        file = self._folder() / f"{stem}.yaml"
        text = yaml.safe_dump(experiment.normalised(), sort_keys=False, allow_unicode=True)
        write_whole(file, text)
        tagged = [word for tag in tags for word in ("--tag", tag)]
        child = self._spawn(["run", str(file), "--runs", str(self._runs_root), *tagged], file)
        return self._begun(child, file.with_suffix(".log"))

    def resume(self, entry: RunEntry) -> str:
        """Go on with a run that was cut short; its id. Raises as `start` does."""
        method = METHODS.get((entry.summary.method if entry.summary else None) or "")
        if entry.state != "stopped" or method is None or method.one_trial:
            raise InputError(
                "cannot be resumed",
                where=plain_text(entry.run_id),
                remedy="start it anew",
            )
        stem = f"{datetime.now(UTC):%Y%m%dT%H%M%S%f}-{entry.run.run_id}"
        path = str(entry.run.path.absolute())
        child = self._spawn([method.command, "--resume", path], self._folder() / stem)
        self._begun(child, (self._folder() / stem).with_suffix(".log"), entry.run)
        return entry.run_id

    def _folder(self) -> Path:
        folder = self._runs_root / _FOLDER
        try:
            folder.mkdir(0o750, parents=True, exist_ok=True)
        except OSError as error:
            raise write_failed(folder, error) from error
        return folder

    def _spawn(self, words: Sequence[str], stem: Path) -> subprocess.Popen[bytes]:
        with stem.with_suffix(".log").open("wb") as log:
            child = subprocess.Popen(  # noqa: S603 - an argument vector, no shell
                # -P: no module of the folder that the server was started in.
                [sys.executable, "-P", "-m", "plimsoll.cli", *words],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env={**os.environ, **self._programs.environment},
                start_new_session=True,
            )
        # Waited for, so that none is left a zombie while the server goes on.
        threading.Thread(target=child.wait, daemon=True, name=f"wait-{child.pid}").start()
        return child

    def _begun(
        self, child: subprocess.Popen[bytes], log: Path, run: RunDirectory | None = None
    ) -> str:
        """The id of the run whose lock the child has taken, as soon as it has."""
        begun_ns, until = time.time_ns(), time.monotonic() + _BEGIN_S
        while time.monotonic() < until:
            # Before looking: a run may have begun and ended in between.
            ended = child.returncode is not None
            paths = [run.path] if run else self._paths_since(begun_ns - _CLOCK_STEP_NS)
            for path in paths:
                if last_pid(RunDirectory(path)) == child.pid:
                    return path.name
            if ended:
                break
            time.sleep(_BETWEEN_LOOKS_S)
        raise MachineError(
            f"plimsoll did not begin a run; it said: {_tail(log)}",
            where=str(log),
            remedy="set right what it says, and start again",
        )

    def _paths_since(self, unix_ns: int) -> list[Path]:
        """The runs that were made from then on, by their ids."""
        return [p for p in run_paths(self._runs_root) if (time_in_id(p.name) or 0) >= unix_ns]


def _tail(log: Path) -> str:
    with log.open(encoding="utf-8", errors="replace") as file:
        lines = deque((line.strip() for line in file if line.strip()), maxlen=_LOG_LINES)
    return plain_text(" ".join(lines), 2000)


# The process that holds a run's lock, and a signal to it and to no other.
def holder_pid(run: RunDirectory) -> int | None:
    """The process that writes the run, by its lock file; None where none does, or says so."""
    return last_pid(run) if is_held(run.path / "lock") else None


def last_pid(run: RunDirectory) -> int | None:
    """The process that took the run's lock last, whether or not it still holds it."""
    try:
        descriptor = os.open(run.path / "lock", _LOOK)
    except OSError:
        return None
    try:
        text = os.pread(descriptor, _MAX_DIGITS + 1, 0).decode(errors="replace").strip()
    finally:
        os.close(descriptor)
    return int(text) if text.isascii() and text.isdecimal() and int(text) > 0 else None


def interrupt_run(run: RunDirectory) -> None:
    """Have the run end as Ctrl-C in its terminal would: its record stays whole and resumable.

    By SIGTERM, which it takes alike: of those begun in the background by a shell or nohup some
    ignore SIGINT.

    Raises InputError where no process writes it, MachineError where that may not be signalled.
    """
    pid = holder_pid(run)
    if pid is None:
        raise _idle(run)
    try:
        process = os.pidfd_open(pid)
    except ProcessLookupError:
        raise _idle(run) from None
    try:
        # From here on the pid cannot become another's: what is true now stays true.
        if not _has_open(pid, run.path / "lock"):
            raise _idle(run)
        signal.pidfd_send_signal(process, signal.SIGTERM)
    except PermissionError as error:
        raise MachineError(
            f"process {pid}, which writes this run, belongs to another user",
            where=run.run_id,
            remedy="stop it as that user",
        ) from error
    except ProcessLookupError:
        raise _idle(run) from None
    finally:
        os.close(process)


def _has_open(pid: int, path: Path) -> bool:
    """Whether the process has the file open: a lock file may hold any number."""
    expected = path.stat()
    for entry in os.scandir(f"/proc/{pid}/fd"):
        try:
            found = entry.stat()
        except OSError:
            continue
        if (found.st_dev, found.st_ino) == (expected.st_dev, expected.st_ino):
            return True
    return False


def _idle(run: RunDirectory) -> InputError:
    return InputError(
        "no process on this host goes on with this run",
        where=run.run_id,
        remedy="reload the page to see how it ended",
    )
