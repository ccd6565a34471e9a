"""The engine as a program: where it is, and a conversation with one running copy of it."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import select
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from plimsoll.errors import MachineError
from plimsoll.generator.engine.messages import read_message
from plimsoll.generator.interface import GeneratorDied, GeneratorRefused, Interval
from plimsoll.host.processes.affinity import raise_priority
from plimsoll.host.processes.child import describe_exit, log_tail, with_parent_death_signal
from plimsoll.host.processes.identity import ProcessIdentity, identify
from plimsoll.host.processes.privileges import limited

ENGINE_VARIABLE = "PLIMSOLL_ENGINE"
ENGINE = "plimsoll-engine"
_END_PATIENCE_S = 10.0
_READ_BYTES = 1 << 16
# What a pipe may hold without privileges (pipe(7)). With polling loops on every CPU this
# process may be off CPU for seconds, and an engine that has to wait for it ends intervals late.
_PIPE_BYTES = 1 << 20
# The id of the answer to a line that the engine could not read at all.
UNREAD = None


def find_engine() -> Path:
    """The engine's executable: $PLIMSOLL_ENGINE, in this Python's folder, or on PATH.

    Raises MachineError when there is none.
    """
    named = os.environ.get(ENGINE_VARIABLE)
    if named:
        if os.access(named, os.X_OK):
            return Path(named)
        raise MachineError(
            f"{named} is not a program", where=ENGINE_VARIABLE, remedy="name one, or unset it"
        )
    installed = Path(sys.executable).parent / ENGINE
    if os.access(installed, os.X_OK):
        return installed
    on_path = shutil.which(ENGINE)
    if on_path:
        return Path(on_path)
    raise MachineError(
        f"{ENGINE} is missing", where="PATH", remedy="install Plimsoll with its engine: make build"
    )


class EngineProgram:
    """One running engine: whole messages in and out, with time limits."""

    def __init__(
        self, log: Path, environment: Mapping[str, str], needed: frozenset[int] = frozenset()
    ) -> None:
        """Start it, its messages and DPDK's own in `log`, with at most the capabilities `needed`.

        Raises MachineError.
        """
        command = limited(with_parent_death_signal([str(find_engine())]), needed)
        self._log = log
        with log.open("ab") as output:
            self._process = subprocess.Popen(  # noqa: S603 - an argument vector, no shell
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=output,
                env=dict(environment),
                start_new_session=True,
            )
        assert self._process.stdin is not None  # noqa: S101 - both are pipes
        assert self._process.stdout is not None  # noqa: S101
        raise_priority(self._process.pid)
        self.identity: ProcessIdentity = identify(self._process.pid)
        self._requests = self._process.stdin
        self._messages = self._process.stdout
        _widen(self._messages.fileno())
        self._pending = b""

    @property
    def pid(self) -> int:
        """The process id, which setpriv hands on to the engine."""
        return self._process.pid

    def send(self, message: Mapping[str, Any]) -> None:
        """Write one message. Raises GeneratorDied."""
        try:
            self._requests.write(json.dumps(message).encode() + b"\n")
            self._requests.flush()
        except BrokenPipeError:
            raise self._died() from None

    def receive(self, timeout_s: float) -> Interval | dict[str, Any]:
        """The next message. Raises GeneratorDied when there is none within `timeout_s`."""
        deadline = time.monotonic() + timeout_s
        while b"\n" not in self._pending:
            self._read_some(deadline)
        line, _, self._pending = self._pending.partition(b"\n")
        try:
            return read_message(line)
        except ValueError as error:
            raise self._kill(f"said what is not a message ({error}): {line[:80]!r}") from error

    def close(self) -> None:
        """End its input, at which it ends; kill it when it does not."""
        try:
            # What it still has to say is read: it cannot end before a full pipe takes it.
            self._process.communicate(timeout=_END_PATIENCE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._messages.close()

    def _read_some(self, deadline: float) -> None:
        remaining_s = max(0.0, deadline - time.monotonic())
        readable, _, _ = select.select([self._messages], [], [], remaining_s)
        if not readable:
            raise self._kill("gave no answer in time")
        chunk = os.read(self._messages.fileno(), _READ_BYTES)
        if not chunk:
            raise self._died()
        self._pending += chunk

    def _kill(self, why: str) -> GeneratorDied:
        self._process.kill()
        self._process.wait()
        return GeneratorDied(
            f"{ENGINE} (pid {self.pid}) {why} and was ended{self.last_words()}",
            where="generator",
            remedy="resume the run; if it happens again, report it with this log",
        )

    def _died(self) -> GeneratorDied:
        status = self._process.wait()
        return GeneratorDied(
            f"{ENGINE} (pid {self.pid}) {describe_exit(status)}{self.last_words()}",
            where="generator",
            remedy="resume the run, or start it again",
        )

    def last_words(self) -> str:
        """The last lines of its log, each on a line of its own, DPDK's messages among them."""
        return "".join(f"\n    {line}" for line in log_tail(self._log))


def _widen(pipe: int) -> None:
    # Past what an administrator allows, it stays as it is.
    with contextlib.suppress(OSError):
        fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)


# Requests to a running engine, numbered, and its answers.
class Conversation:
    """One thread at a time reads; any may send."""

    def __init__(self, program: EngineProgram) -> None:
        self._program = program
        self._next_id = 0
        self._sending = threading.Lock()

    def send(self, request: Mapping[str, Any]) -> int:
        """Send a request and return the number that its answer will have.

        Raises GeneratorDied.
        """
        with self._sending:
            self._next_id += 1
            self._program.send({"id": self._next_id, **request})
            return self._next_id

    def receive(self, timeout_s: float) -> Interval | dict[str, Any]:
        """The next message. Raises GeneratorDied when there is none within `timeout_s`."""
        return self._program.receive(timeout_s)

    def ask(self, request: Mapping[str, Any], timeout_s: float) -> dict[str, Any]:
        """Send a request and wait for its answer. Raises GeneratorRefused and GeneratorDied."""
        number = self.send(request)
        while True:
            message = self.receive(timeout_s)
            # Or an answer to a stop that came after its trial had ended.
            if not isinstance(message, Interval) and message.get("id") in (number, UNREAD):
                return self.checked(message)

    def checked(self, message: dict[str, Any]) -> dict[str, Any]:
        """The answer, if the request was carried out; else raises GeneratorRefused."""
        if message.get("ok"):
            return message
        error = message.get("error", {})
        # What DPDK could not do, it explains in its log.
        why = self._program.last_words() if error.get("fatal") else ""
        raise GeneratorRefused(
            str(error.get("message", message)) + why,
            where=f"generator: {error.get('where') or 'request'}",
            remedy="correct the experiment's generator, lab or profile",
        )
