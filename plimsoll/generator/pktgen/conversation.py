"""The conversation with `driver.lua`, which runs inside Pktgen."""

from __future__ import annotations

import contextlib
import os
import pty
import re
import select
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from plimsoll.generator.interface import GeneratorDied, GeneratorRefused
from plimsoll.host.processes.child import Child, describe_exit
from plimsoll.host.processes.log_tail import log_ending

# What the driver finds its two files by.
FILES = "PLIMSOLL_PKTGEN"
_READ_BYTES = 1 << 16
_LONGEST_ANSWER_BYTES = 4096
_LOOK_EVERY_S = 0.2
_END_PATIENCE_S = 5.0
# Whose numbers are within a few digits: times in TSC ticks are the longest.
_FIELD = re.compile(r"([a-z]+)=([ -~]{1,200})")
_NUMBER = re.compile(r"\d{1,20}")


@dataclass(frozen=True)
class PktgenAnswer:
    """The fields of one answer."""

    request: str
    fields: dict[str, str]

    def text(self, name: str) -> str:
        """A field. Raises GeneratorDied where there is none, as of another driver."""
        if name not in self.fields:
            raise _unread(self.request, f"it has no {name}")
        return self.fields[name]

    def number(self, name: str) -> int:
        """A field that is a whole number. Raises GeneratorDied where it is not."""
        if not _NUMBER.fullmatch(self.text(name)):
            raise _unread(self.request, f"its {name} is {self.text(name)!r}")
        return int(self.text(name))


class PktgenConversation:
    """One running Pktgen, with one request at a time."""

    def __init__(self, start: Callable[[int, tuple[int, int]], Child]) -> None:
        """Have `start` start it, on a terminal and with the two files of its driver.

        Raises what `start` does.
        """
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
        """Wait until its driver runs. Raises GeneratorDied."""
        self._answer("its start", timeout_s)

    def ask(self, *words: str | int, timeout_s: float = 20.0) -> PktgenAnswer:
        """The answer to a request. Raises GeneratorRefused and GeneratorDied."""
        request = " ".join(str(word) for word in words)
        try:
            os.write(self._requests, f"{request}\n".encode())
        except OSError as error:
            raise self.died("does not read") from error
        return self._answer(request, timeout_s)

    def call(self, requests: Sequence[Sequence[str | int]]) -> None:
        """Call functions of Pktgen's library, in turn. Raises as `ask` does."""
        for words in requests:
            self.ask("call", *words)

    def died(self, how: str) -> GeneratorDied:
        """The error that it ended, or what else is the matter."""
        self.child.wait(_LOOK_EVERY_S)
        status = self.child.exit_status()
        said = how if status is None else describe_exit(status)
        return GeneratorDied(
            f"Pktgen (pid {self.child.pid}), which sends, {said}{log_ending(self.child.log)}",
            where="generator",
            remedy="fix what its log names, if anything, and start again",
        )

    def close(self) -> None:
        """End it. A loop whose frames no port takes is killed: Pktgen would wait for it."""
        os.close(self._requests)
        self._requests = -1
        self.child.wait(_END_PATIENCE_S)
        self.child.end(0.0)
        self._close_files()

    def _answer(self, request: str, timeout_s: float) -> PktgenAnswer:
        line = self._line(request, timeout_s)
        try:
            said, *parts = line.decode("ascii").split("\t")
            if said == "error" and len(parts) == 1:
                raise GeneratorRefused(
                    f"Pktgen answers to {request!r}: {parts[0][:500]}",
                    where="generator",
                    remedy="use a Pktgen of 24.07 or later, built with Lua (-Denable_lua=true)",
                )
            matches = [_FIELD.fullmatch(part) for part in parts]
        except UnicodeDecodeError as error:
            raise _unread(request, "it is not ASCII") from error
        fields = {each[1]: each[2] for each in matches if each is not None}
        if said != "ok" or len(fields) != len(parts):
            raise _unread(request, f"it is {line[:200]!r}")
        return PktgenAnswer(request, fields)

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
                raise _unread(request, f"it exceeds {_LONGEST_ANSWER_BYTES} bytes")
        line, self._pending = self._pending.split(b"\n", 1)
        return line

    def _close_files(self) -> None:
        for each in (self._requests, self._answers, self._terminal):
            with contextlib.suppress(OSError):
                os.close(each)


def _unread(request: str, why: str) -> GeneratorDied:
    return GeneratorDied(
        f"Pktgen's answer to {request!r} cannot be read: {why}",
        where="generator",
        remedy="use a Pktgen of 24.07 or later, built with Lua (-Denable_lua=true)",
    )
