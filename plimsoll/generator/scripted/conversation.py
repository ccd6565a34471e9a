"""The conversation with a Lua script of ours (`serve.lua`) inside a program of the user's."""

from __future__ import annotations

import contextlib
import os
import pty
import re
import select
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from plimsoll.generator.generator_plan import CpuWork
from plimsoll.generator.interface import GeneratorDied, GeneratorRefused
from plimsoll.host.processes.child import Child, describe_exit, log_ending
from plimsoll.traffic.plan import StreamPlan

# What a script finds its two files by, and its other half.
FILES, SERVE = "PLIMSOLL_FILES", "PLIMSOLL_SERVE"
_SERVE = Path(str(files("plimsoll.generator.scripted"))) / "serve.lua"
_READ_BYTES = 1 << 16
_LONGEST_ANSWER_BYTES = 4096
_LOOK_EVERY_S = 0.2
_END_PATIENCE_S = 5.0
# Whose numbers are within a few digits: times in TSC ticks are the longest.
_FIELD = re.compile(r"([a-z_]+)=([ -~]{1,200})")
_NUMBER = re.compile(r"\d{1,20}")


@dataclass(frozen=True)
class ProgramName:
    """What a program is called in messages, and what helps where it is another than expected."""

    name: str
    remedy: str

    def unread(self, request: str, why: str) -> GeneratorDied:
        """The error that an answer is not one of our script's."""
        return GeneratorDied(
            f"{self.name}'s answer to {request!r} cannot be read: {why}",
            where="generator",
            remedy=self.remedy,
        )


@dataclass(frozen=True)
class ScriptAnswer:
    """The fields of one answer of the program named."""

    program: ProgramName
    request: str
    fields: dict[str, str]

    def text(self, name: str) -> str:
        """A field. Raises GeneratorDied where there is none, as of another driver."""
        if name not in self.fields:
            raise self.program.unread(self.request, f"it has no {name}")
        return self.fields[name]

    def number(self, name: str) -> int:
        """A field that is a whole number. Raises GeneratorDied where it is not."""
        if not _NUMBER.fullmatch(self.text(name)):
            raise self.program.unread(self.request, f"its {name} is {self.text(name)!r}")
        return int(self.text(name))


class ScriptConversation:
    """One running program, with one request at a time."""

    def __init__(
        self,
        program: ProgramName,
        start: Callable[[int, tuple[int, int]], Child],
    ) -> None:
        """Have `start` start it, on a terminal and with the two files of its script.

        Raises what `start` does.
        """
        self._program = program
        # Pktgen does not run where stdin is no terminal, and reads none before its script ends.
        self._terminal, its_terminal = pty.openpty()
        given, self._requests = os.pipe()
        self._answers, taken = os.pipe()
        try:
            self.child = start(its_terminal, (given, taken))
        except BaseException:
            self._close_files()
            raise
        finally:
            for each in (its_terminal, given, taken):
                os.close(each)
        self._pending = b""

    def greeting(self, timeout_s: float) -> None:
        """Wait until its script runs. Raises GeneratorDied."""
        self._answer("its start", timeout_s)

    def ask(self, *words: str | int | float, timeout_s: float = 20.0) -> ScriptAnswer:
        """The answer to a request. Raises GeneratorRefused and GeneratorDied."""
        request = " ".join(str(word) for word in words)
        try:
            os.write(self._requests, f"{request}\n".encode())
        except OSError as error:
            raise self.died("does not read") from error
        return self._answer(request, timeout_s)

    def call(self, requests: Sequence[Sequence[str | int]]) -> None:
        """Call functions of the program's library, in turn. Raises as `ask` does."""
        for words in requests:
            self.ask("call", *words)

    def died(self, how: str) -> GeneratorDied:
        """The error that it ended, or what else is the matter."""
        self.child.wait(_LOOK_EVERY_S)
        status = self.child.exit_status()
        said = how if status is None else describe_exit(status)
        name = f"{self._program.name} (pid {self.child.pid})"
        return GeneratorDied(
            f"{name}, which sends, {said}{log_ending(self.child.log)}",
            where="generator",
            remedy="fix what its log names, if anything, and start again",
        )

    def close(self) -> None:
        """End it; killed is one with a loop whose frames no port takes."""
        os.close(self._requests)
        self._requests = -1
        self.child.wait(_END_PATIENCE_S)
        self.child.end(0.0)
        self._close_files()

    def _answer(self, request: str, timeout_s: float) -> ScriptAnswer:
        line = self._line(request, timeout_s)
        try:
            said, *parts = line.decode("ascii").split("\t")
            if said == "error" and len(parts) == 1:
                raise GeneratorRefused(
                    f"{self._program.name} answers to {request!r}: {parts[0][:500]}",
                    where="generator",
                    remedy=self._program.remedy,
                )
            matches = [_FIELD.fullmatch(part) for part in parts]
        except UnicodeDecodeError as error:
            raise self._program.unread(request, "it is not ASCII") from error
        fields = {each[1]: each[2] for each in matches if each is not None}
        if said != "ok" or len(fields) != len(parts):
            raise self._program.unread(request, f"it is {line[:200]!r}")
        return ScriptAnswer(self._program, request, fields)

    def _line(self, request: str, timeout_s: float) -> bytes:
        deadline_s = time.monotonic() + timeout_s
        while b"\n" not in self._pending:
            left_s = deadline_s - time.monotonic()
            if left_s <= 0:
                raise self.died(f"did not answer to {request!r} for {timeout_s:g} s")
            if not select.select([self._answers], [], [], min(left_s, _LOOK_EVERY_S))[0]:
                continue
            more = os.read(self._answers, _READ_BYTES)
            if not more:
                raise self.died("ended")
            self._pending += more
            if len(self._pending) > _LONGEST_ANSWER_BYTES:
                raise self._program.unread(request, f"it exceeds {_LONGEST_ANSWER_BYTES} bytes")
        line, self._pending = self._pending.split(b"\n", 1)
        return line

    def _close_files(self) -> None:
        for each in (self._requests, self._answers, self._terminal):
            with contextlib.suppress(OSError):
                os.close(each)


def script_environment(pipes: tuple[int, int]) -> dict[str, str]:
    """What a script finds its requests by, in the environment of its program."""
    return {FILES: ",".join(map(str, pipes)), SERVE: str(_SERVE)}


@dataclass(frozen=True, slots=True)
class LatencyFile:
    """One, what it has in words, and what helps where it cannot be read."""

    file: Path
    what: str
    remedy: str

    def lines(self, most_bytes: int) -> list[str]:
        """Its lines; the last one is empty where it ends as a file should.

        Raises GeneratorDied where it is not there or not ASCII. What is beyond `most_bytes` is
        cut off, but for a byte that shows it.
        """
        try:
            with self.file.open("rb") as opened:
                return opened.read(most_bytes + 1).decode("ascii").split("\n")
        except (OSError, UnicodeDecodeError) as error:
            raise self.unread(str(error)) from error

    def unread(self, why: str) -> GeneratorDied:
        """The error that it is not what the program writes."""
        return GeneratorDied(
            f"{self.what} in {self.file.name} cannot be read: {why}",
            where="generator",
            remedy=self.remedy,
        )


def work_of_loops(
    cpus: Sequence[int], streams: tuple[StreamPlan, ...], port_count: int
) -> tuple[CpuWork, ...]:
    """Of each CPU: the first has the main thread, the others one port both ways each.

    A single CPU has all.
    """
    main, *loops = cpus
    if not loops:
        return (CpuWork(main, tuple(each.name for each in streams), tuple(range(port_count))),)
    works = (
        CpuWork(cpu, tuple(each.name for each in streams if each.tx_port == port), (port,))
        for port, cpu in enumerate(loops)
    )
    return (CpuWork(main, (), ()), *works)
