"""The agent of one host, as the process that runs trials sees it."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from plimsoll.errors import MachineError, PlimsollError
from plimsoll.host.processes.child import tied_to_parent
from plimsoll.host.processes.identity import ProcessIdentity, identify
from plimsoll.host.processes.own_module import WORKING_DIRECTORY, module_environment
from plimsoll.observe.agent.replies import REPLY_HEAD, Begun, Ended, Opened, Reply, RequestRefused
from plimsoll.observe.reading.observation import Observation
from plimsoll.record.metrics.metric_log import is_head
from plimsoll.record.metrics.metrics import MetricsWriter
from plimsoll.version import VERSION

R = TypeVar("R", Opened, Begun, Ended)

_REPLIES: Mapping[str, TypeAdapter[Any]] = {
    each.reply: TypeAdapter(each) for each in (Opened, Begun, Ended, RequestRefused)
}
# How long a starved host may keep an agent from answering.
_PATIENCE_S = 60.0
_END_PATIENCE_S = 2.0
_BLOCK_BYTES = 1 << 18


class AgentFailed(PlimsollError):
    """The agent of a host did not start, ended, or did not serve a request."""

    exit_code = MachineError.exit_code


class HostAgent:
    """One agent process, on this host or behind ssh. Its figures go to the file of a period.

    A thread takes what it writes; an error there is raised by the next `end`.
    """

    def __init__(self, name: str, argv: Sequence[str], log: Path, environment: Mapping[str, str]):
        """Start it; `name` is the host's for messages. Raises AgentFailed, MachineError."""
        self.name = name
        self._log = log
        with log.open("ab") as errors:
            try:
                self._process = subprocess.Popen(  # noqa: S603 - an argument vector, no shell
                    tied_to_parent(argv),
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=errors,
                    env=module_environment(environment),
                    cwd=WORKING_DIRECTORY,
                    start_new_session=True,
                    bufsize=0,
                )
            except OSError as error:
                raise self._failed(f"cannot be started: {error.strerror}") from error
        # Of the agent here, or of the ssh that leads to it.
        self.identity: ProcessIdentity = identify(self._process.pid)
        # Replies, or why there will be none.
        self._replies: queue.SimpleQueue[Reply | str] = queue.SimpleQueue()
        self._writer: MetricsWriter | None = None
        self._trouble: PlimsollError | None = None
        self._thread = threading.Thread(target=self._take, name=f"observe {name}", daemon=True)
        self._thread.start()

    def open(self, observation: Observation) -> Opened:
        """Say what to watch. Raises AgentFailed."""
        self._send({"request": "open", "observation": observation.model_dump(mode="json")})
        opened = self._expect(Opened)
        # What another version tells may mean something else.
        if opened.version != VERSION:
            raise self._failed(f"is of version {opened.version}, and this is {VERSION}")
        return opened

    def begin(self, period: str, writer: MetricsWriter) -> Begun:
        """Read where everything stands; from now on figures go to `writer`. Raises AgentFailed."""
        self._writer = writer
        self._send({"request": "begin", "period": period})
        return self._expect(Begun)

    def end(self) -> Ended:
        """Read once more; all figures are with the writer. Raises AgentFailed, RecordError."""
        self._send({"request": "end"})
        ended = self._expect(Ended)
        self._writer = None
        if self._trouble is not None:
            raise self._trouble
        return ended

    def close(self) -> None:
        """End it; safe to repeat."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        try:
            self._process.wait(_END_PATIENCE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._thread.join(_END_PATIENCE_S)
        if self._process.stdout is not None:
            self._process.stdout.close()

    def _send(self, request: Mapping[str, object]) -> None:
        line = json.dumps(request).encode() + b"\n"
        try:
            os.write(self._process.stdin.fileno(), line)  # type: ignore[union-attr]
        except OSError as error:
            raise self._failed("has ended") from error

    def _expect(self, kind: type[R]) -> R:
        try:
            reply = self._replies.get(timeout=_PATIENCE_S)
        except queue.Empty:
            raise self._failed(f"has not answered for {_PATIENCE_S:g} s") from None
        if isinstance(reply, kind):
            return reply
        if isinstance(reply, RequestRefused):
            raise self._failed(f"refused: {reply.problem}")
        raise self._failed(reply if isinstance(reply, str) else f"answered {reply.reply}")

    def _take(self) -> None:
        """Until the agent ends: its figures to the file, its replies to their requesters."""
        assert self._process.stdout is not None  # noqa: S101
        unread = b""
        try:
            while block := os.read(self._process.stdout.fileno(), _BLOCK_BYTES):
                *lines, unread = (unread + block).split(b"\n")
                self._sort([line.decode(errors="replace") for line in lines])
        finally:
            # Also after a fault of ours, for which no one is to wait in vain.
            self._replies.put("has ended")

    def _sort(self, lines: Sequence[str]) -> None:
        figures: list[str] = []
        for line in lines:
            # A head begins a file of its own, and a reply comes after all that is before it.
            if is_head(line) or line.startswith(REPLY_HEAD):
                self._record(figures)
                figures = []
            if line.startswith(REPLY_HEAD):
                self._replies.put(_reply(line))
            else:
                figures.append(line)
        self._record(figures)

    def _record(self, figures: Sequence[str]) -> None:
        if self._writer is None or self._trouble is not None:
            return
        try:
            self._writer.append(figures)
        except PlimsollError as error:
            self._trouble = error

    def _failed(self, problem: str) -> AgentFailed:
        said = self._log.read_text(errors="replace").strip().splitlines()[-1:]
        return AgentFailed(
            f"the observer {problem}" + (f": {said[0]}" if said else ""),
            where=f"observe: {self.name}",
            remedy="see that plimsoll-observe of this version runs there, or leave the host out",
        )


def _reply(line: str) -> Reply | str:
    try:
        fields = json.loads(line)
        reply: Reply = _REPLIES[fields.pop("reply")].validate_python(fields)
    except (ValueError, KeyError, TypeError, ValidationError, RecursionError):
        return f"gave an answer that is not understood: {line[:80]!r}"
    return reply
