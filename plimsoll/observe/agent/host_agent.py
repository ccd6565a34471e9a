"""The agent of one host, as the process that runs trials sees it."""

from __future__ import annotations

import json
import os
import queue
import select
import subprocess
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from pydantic import TypeAdapter, ValidationError

from plimsoll.errors import MachineError, PlimsollError
from plimsoll.host.processes.child import (
    WORKING_DIRECTORY,
    module_environment,
    with_parent_death_signal,
)
from plimsoll.host.processes.identity import ProcessIdentity, identify
from plimsoll.observe.agent.replies import (
    REPLY_HEAD,
    Begun,
    ClockRead,
    Ended,
    Opened,
    Reply,
    RequestRefused,
    TraceEvents,
    TraceFailed,
    TraceOpened,
    TraceRate,
    TraceRead,
    TraceStarted,
)
from plimsoll.observe.kernel_trace.trace_program import TraceUnavailable
from plimsoll.observe.reading.observer import Observation
from plimsoll.record.metrics.metric_log import is_head
from plimsoll.record.metrics.metrics import MetricsWriter
from plimsoll.version import VERSION

R = TypeVar("R")

_REPLIES: Mapping[str, TypeAdapter[Any]] = {
    each.reply: TypeAdapter(each)
    for each in (
        *(Opened, Begun, Ended, RequestRefused),
        *(TraceOpened, TraceStarted, TraceRate, TraceFailed, TraceRead, ClockRead),
    )
}
_EVENTS = msgspec.json.Decoder(TraceEvents)
_EVENTS_HEAD = '{"reply":"trace-events"'
# How long a starved host may keep an agent from answering.
_PATIENCE_S = 60.0
_END_PATIENCE_S = 2.0
_BLOCK_BYTES = 1 << 18
# Of what an agent sends: a reading of 512 CPUs, and a thousand events, are below a megabyte.
_LONGEST_LINE_BYTES = 1 << 23
# Replies that are not taken yet; an agent that sends more than are requested has to wait.
_MAX_REPLIES = 64


class AgentFailed(PlimsollError):
    """The agent of a host did not start, ended, or did not serve a request."""

    exit_code = MachineError.exit_code


class TraceLost(Exception):
    """The kernel's events of a host are not recorded any more; its figures still are."""

    def __init__(self, why: TraceUnavailable) -> None:
        super().__init__(why.reason)
        self.why = why


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
                    with_parent_death_signal(argv),
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=errors,
                    env=module_environment(environment),
                    cwd=WORKING_DIRECTORY,
                    start_new_session=True,
                    bufsize=0,
                )
            except OSError as error:
                raise self.failure(f"cannot be started: {error.strerror}") from error
        # Of the agent here, or of the ssh that leads to it.
        self.identity: ProcessIdentity = identify(self._process.pid)
        # Replies, or why there will be none.
        self._replies: queue.Queue[Reply | TraceEvents | str] = queue.Queue(_MAX_REPLIES)
        self._writer: MetricsWriter | None = None
        self._trouble: PlimsollError | None = None
        self._thread = threading.Thread(target=self._take, name=f"observe {name}", daemon=True)
        self._thread.start()

    def open(self, observation: Observation) -> Opened:
        """Say what to watch. Raises AgentFailed."""
        request = {"request": "open", "observation": observation.model_dump(mode="json")}
        opened = self.request(request, Opened)
        # What another version tells may mean something else.
        if opened.version != VERSION:
            raise self.failure(f"is of version {opened.version}, and this is {VERSION}")
        return opened

    def begin(self, period: str, writer: MetricsWriter) -> Begun:
        """Read where everything stands; from now on figures go to `writer`. Raises AgentFailed."""
        self._writer = writer
        return self.request({"request": "begin", "period": period}, Begun)

    def end(self) -> Ended:
        """Read once more; all figures are with the writer. Raises AgentFailed, RecordError."""
        ended = self.request({"request": "end"}, Ended)
        self._writer = None
        if self._trouble is not None:
            raise self._trouble
        return ended

    def request(self, request: Mapping[str, object], *kinds: type[R]) -> R:
        """The answer to one request, of one of these kinds. Raises AgentFailed, TraceLost."""
        self._send(request)
        return self.reply(*kinds)

    def reply(self, *kinds: type[R]) -> R:
        """The next answer to a request that has several. Raises AgentFailed, TraceLost."""
        try:
            reply = self._replies.get(timeout=_PATIENCE_S)
        except queue.Empty:
            raise self.failure(f"has not answered for {_PATIENCE_S:g} s") from None
        for kind in kinds:
            if isinstance(reply, kind):
                return reply
        if isinstance(reply, TraceFailed):
            raise TraceLost(TraceUnavailable(reply.reason, reply.remedy))
        if isinstance(reply, RequestRefused):
            raise self.failure(f"refused: {reply.problem}")
        raise self.failure(reply if isinstance(reply, str) else f"answered {_name(reply)}")

    def failure(self, problem: str) -> AgentFailed:
        """The error of an agent that did not do its part: "the observer ", and the problem."""
        said = self._log.read_text(errors="replace").strip().splitlines()[-1:]
        return AgentFailed(
            f"the observer {problem}" + (f": {said[0]}" if said else ""),
            where=f"observe: {self.name}",
            remedy="see that plimsoll-observe of this version runs there, or leave the host out",
        )

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
        assert self._process.stdin is not None  # noqa: S101
        rest, descriptor = json.dumps(request).encode() + b"\n", self._process.stdin.fileno()
        try:
            while rest:
                # So much a pipe takes at once when it is ready at all.
                if not select.select([], [descriptor], [], _PATIENCE_S)[1]:
                    raise self.failure("takes no requests")
                rest = rest[os.write(descriptor, rest[: select.PIPE_BUF]) :]
        except OSError as error:
            raise self.failure("has ended") from error

    def _take(self) -> None:
        """Until the agent ends: its figures to the file, its replies to their requesters."""
        assert self._process.stdout is not None  # noqa: S101
        unread = b""
        try:
            while block := os.read(self._process.stdout.fileno(), _BLOCK_BYTES):
                *lines, unread = (unread + block).split(b"\n")
                self._sort([line.decode(errors="replace") for line in lines])
                if len(unread) > _LONGEST_LINE_BYTES:
                    self._answered("sends a line without an end")
                    return
        finally:
            # Also after a fault of ours, for which no one is to wait in vain.
            self._answered("has ended")

    def _answered(self, reply: Reply | TraceEvents | str) -> None:
        """One that is not taken is one too many, and then so is the agent."""
        try:
            self._replies.put(reply, timeout=_PATIENCE_S)
        except queue.Full:
            self._process.kill()

    def _sort(self, lines: Sequence[str]) -> None:
        figures: list[str] = []
        for line in lines:
            # A head begins a file of its own, and a reply comes after all that is before it.
            if is_head(line) or line.startswith(REPLY_HEAD):
                self._record(figures)
                figures = []
            if line.startswith(REPLY_HEAD):
                self._answered(_reply(line))
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


def _reply(line: str) -> Reply | TraceEvents | str:
    try:
        if line.startswith(_EVENTS_HEAD):
            return _EVENTS.decode(line)
        fields = json.loads(line)
        reply: Reply = _REPLIES[fields.pop("reply")].validate_python(fields)
    except (ValueError, KeyError, TypeError, ValidationError, RecursionError, msgspec.MsgspecError):
        return f"gave an answer that is not understood: {line[:80]!r}"
    return reply


def _name(reply: Reply | TraceEvents) -> str:
    return "trace-events" if isinstance(reply, TraceEvents) else reply.reply
