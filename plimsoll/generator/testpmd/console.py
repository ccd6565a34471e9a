"""dpdk-testpmd at its prompt: commands in, what it says in return."""

from __future__ import annotations

import contextlib
import os
import pty
import select
import subprocess
import termios
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from plimsoll.errors import MachineError
from plimsoll.generator.interface import GeneratorDied
from plimsoll.host.processes.affinity import raise_priority
from plimsoll.host.processes.child import describe_exit, log_ending, with_parent_death_signal
from plimsoll.host.processes.identity import ProcessIdentity, identify
from plimsoll.host.processes.privileges import limited

_PROMPT = b"testpmd> "
_READ_BYTES = 1 << 16
_END_PATIENCE_S = 5.0


class Console:
    """One running testpmd on a terminal of its own, so that it says each line at once."""

    def __init__(
        self, argv: Sequence[str], log: Path, environment: Mapping[str, str], needed: frozenset[int]
    ) -> None:
        """Start it, what it says also in `log`, with at most the capabilities `needed`.

        Raises MachineError.
        """
        self._log = log
        terminal, its_end = pty.openpty()
        _without_echo(its_end)
        try:
            self._process = subprocess.Popen(  # noqa: S603 - an argument vector, no shell
                limited(with_parent_death_signal(argv), needed),
                stdin=its_end,
                stdout=its_end,
                stderr=its_end,
                env=dict(environment),
                start_new_session=True,
            )
        except OSError as error:
            os.close(terminal)
            raise MachineError(
                f"cannot start it: {error.strerror}", where=argv[0], remedy="install it"
            ) from error
        finally:
            os.close(its_end)
        self._terminal = terminal
        raise_priority(self._process.pid)
        self.identity: ProcessIdentity = identify(self._process.pid)

    @property
    def pid(self) -> int:
        """The process id, which setpriv hands on to testpmd."""
        return self._process.pid

    def greeting(self, timeout_s: float) -> str:
        """What it says until it first prompts. Raises GeneratorDied."""
        return self._until_prompt("its start", timeout_s)

    def ask(self, command: str, timeout_s: float = 20.0) -> str:
        """What it says to a command until it prompts again. Raises GeneratorDied."""
        try:
            os.write(self._terminal, f"{command}\n".encode())
        except OSError as error:
            raise self._died(f"does not read {command!r}: {error.strerror}") from error
        return self._until_prompt(command, timeout_s)

    def close(self) -> None:
        """End it, however it takes it."""
        if self._process.poll() is None:
            with contextlib.suppress(OSError):
                os.write(self._terminal, b"quit\n")
            if not self._ended_within(_END_PATIENCE_S):
                self._process.kill()
                self._process.wait()
        with contextlib.suppress(OSError):
            os.close(self._terminal)

    def _until_prompt(self, what: str, timeout_s: float) -> str:
        said = b""
        deadline_s = time.monotonic() + timeout_s
        with self._log.open("ab") as log:
            while not said.endswith(_PROMPT):
                left_s = deadline_s - time.monotonic()
                if left_s <= 0 or not select.select([self._terminal], [], [], left_s)[0]:
                    raise self._died(f"said nothing to {what!r} for {timeout_s:g} s")
                more = self._read()
                log.write(more)
                log.flush()
                said += more
        return said.removesuffix(_PROMPT).decode(errors="replace").replace("\r", "")

    def _read(self) -> bytes:
        try:
            more = os.read(self._terminal, _READ_BYTES)
        except OSError:
            # What a terminal says whose other end is closed.
            more = b""
        if not more:
            self._ended_within(_END_PATIENCE_S)
            raise self._died("ended")
        return more

    def _ended_within(self, patience_s: float) -> bool:
        """Whether it has ended; what it still says is read, lest it wait for that."""
        deadline_s = time.monotonic() + patience_s
        while self._process.poll() is None and time.monotonic() < deadline_s:
            if select.select([self._terminal], [], [], 0.02)[0]:
                with contextlib.suppress(OSError):
                    os.read(self._terminal, _READ_BYTES)
        return self._process.poll() is not None

    def _died(self, how: str) -> GeneratorDied:
        status = self._process.poll()
        said = how if status is None else describe_exit(status)
        return GeneratorDied(
            f"dpdk-testpmd (pid {self.pid}), which sends, {said}{log_ending(self._log)}",
            where="generator",
            remedy="fix what its log names, if anything, and start again",
        )


def _without_echo(terminal: int) -> None:
    """What is written to it comes back once, from testpmd's own line editor."""
    settings = termios.tcgetattr(terminal)
    settings[3] &= ~(termios.ECHO | termios.ICANON)
    termios.tcsetattr(terminal, termios.TCSANOW, settings)
