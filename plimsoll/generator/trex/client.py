"""The conversation with `driver.py`, which holds TRex's client library."""

from __future__ import annotations

import json
import os
import select
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from plimsoll.errors import MachineError
from plimsoll.generator.interface import GeneratorDied, GeneratorRefused
from plimsoll.host.processes.affinity import raise_priority
from plimsoll.host.processes.child import describe_exit, log_ending, with_parent_death_signal
from plimsoll.host.processes.identity import ProcessIdentity, identify

_READ_BYTES = 1 << 16
_END_PATIENCE_S = 10.0
_LOOK_EVERY_S = 0.5
DRIVER = Path(str(files("plimsoll.generator.trex"))) / "driver.py"

_SHOWN_BYTES = 80


class TrexClient:
    """One driver process, with one request at a time."""

    def __init__(
        self,
        python: str,
        library: Path,
        log: Path,
        environment: Mapping[str, str],
        enter: Sequence[str] = (),
        *,
        check_server: Callable[[], None] = lambda: None,
    ) -> None:
        """Start it by the interpreter `python`, what the library prints in `log`.

        `enter` are words that lead into another network namespace. `check_server` is called
        while answers are waited for, and raises where TRex has ended. Raises MachineError.
        """
        self._log = log
        self._check_server = check_server
        with log.open("ab") as output:
            try:
                self._process = subprocess.Popen(  # noqa: S603 - an argument vector, no shell
                    with_parent_death_signal((*enter, python, "-B", str(DRIVER), str(library))),
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=output,
                    env=dict(environment),
                    start_new_session=True,
                )
            except OSError as error:
                raise MachineError(
                    f"cannot start {python}: {error.strerror}",
                    where="generator.python",
                    remedy="name a Python 3 that has pyzmq",
                ) from error
        assert self._process.stdin is not None  # noqa: S101 - both are pipes
        assert self._process.stdout is not None  # noqa: S101
        # Between two loops that poll, an ordinary program gets a hundredth of a CPU (priority.py).
        raise_priority(self._process.pid)
        self._requests, self._answers = self._process.stdin, self._process.stdout
        self._pending = b""
        self._answer_due = False
        self.identity: ProcessIdentity = identify(self._process.pid)

    def ask(self, do: str, timeout_s: float = 60.0, **arguments: object) -> dict[str, Any]:
        """The answer to one request. Raises GeneratorRefused and GeneratorDied."""
        self._answer_due = True
        try:
            self._requests.write(json.dumps({"do": do, **arguments}).encode() + b"\n")
            self._requests.flush()
        except OSError as error:
            raise self._died("does not read") from error
        answer = self._answer(do, timeout_s)
        if not answer.pop("ok", False):
            self._check_server()
            raise GeneratorRefused(
                f"TRex's client refuses to {do}: {answer.get('error')}",
                where="generator",
                remedy="correct the generator or the profile",
            )
        return answer

    def close(self) -> None:
        """End it."""
        if self._process.poll() is None:
            self._requests.close()
            try:
                # While it waits for TRex it does not see that there are no more requests.
                self._process.wait(0.0 if self._answer_due else _END_PATIENCE_S)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        self._answers.close()

    def _answer(self, do: str, timeout_s: float) -> dict[str, Any]:
        line = self._line(do, timeout_s)
        try:
            found = json.loads(line)
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, dict):
            raise self._gone(f"gives an answer that is not understood: {line[:_SHOWN_BYTES]!r}")
        return found

    def _line(self, do: str, timeout_s: float) -> bytes:
        deadline_s = time.monotonic() + timeout_s
        while b"\n" not in self._pending:
            left_s = deadline_s - time.monotonic()
            if left_s <= 0:
                raise self._died(f"did not {do} within {timeout_s:g} s")
            if not select.select([self._answers], [], [], min(left_s, _LOOK_EVERY_S))[0]:
                self._check_server()
                continue
            more = os.read(self._answers.fileno(), _READ_BYTES)
            if not more:
                self._process.wait(_END_PATIENCE_S)
                raise self._died("ended")
            self._pending += more
        line, self._pending = self._pending.split(b"\n", 1)
        self._answer_due = False
        return line

    def _died(self, how: str) -> GeneratorDied:
        status = self._process.poll()
        return self._gone(how if status is None else describe_exit(status))

    def _gone(self, how: str) -> GeneratorDied:
        return GeneratorDied(
            f"TRex's client {how}{log_ending(self._log)}",
            where="generator",
            remedy="look at that log; the library needs pyzmq (generator.python), and TRex to run",
        )
