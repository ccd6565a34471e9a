"""One end of a TCP stream, as the first process of a container: runs iperf3 and keeps its report.

    python -m plimsoll.churn.pod_streams.stream_agent FOLDER server INTERVAL PORT
    python -m … FOLDER client INTERVAL PORT ADDRESS BITS_PER_SECOND

FOLDER/ready is there once the server listens, or the client streams. A client tries until the
server answers. How it is ended is pod_agent.py's.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from plimsoll.churn.pod_streams.pod_agent import READY, agent_command, keep_report, note_pid
from plimsoll.churn.streams.iperf3 import (
    IPERF3,
    StreamReport,
    TcpStreamPlan,
    client_options,
    is_listening,
    is_streaming,
    read_report,
    server_options,
)
from plimsoll.errors import MachineError, PlimsollError
from plimsoll.host.entry.entry_point import enter


@dataclass(frozen=True, slots=True)
class EndReport:
    """When iperf3 was started and signalled to end, in ns since the epoch; and what it reported.

    A server ends with its client, without a signal: its `ended_ns` is when that was seen.
    """

    started_ns: int
    ended_ns: int
    stream: StreamReport

    def as_json(self) -> bytes:
        """On one line."""
        return _ADAPTER.dump_json(self)

    @classmethod
    def of_json(cls, line: bytes) -> EndReport:
        """Raises ValueError."""
        try:
            return _ADAPTER.validate_json(line)
        except ValidationError as error:
            raise ValueError(f"it is no report of a stream: {error.errors()[0]['msg']}") from None


_ADAPTER = TypeAdapter(EndReport)


_MODULE = "plimsoll.churn.pod_streams.stream_agent"
_NET = Path("/proc/self/net")
_SIGNALS = {signal.SIGINT, signal.SIGTERM, signal.SIGCHLD}
_POLL_S = 0.1
_PAUSE_S = 0.5
_LONGEST_START_S = 120.0
_FAILED = MachineError.exit_code


def server_command(plan: TcpStreamPlan, port: int) -> list[str]:
    """Of a container that serves a stream."""
    return agent_command(_MODULE, "server", f"{plan.interval_s:g}", str(port))


def client_command(plan: TcpStreamPlan, port: int, address: str) -> list[str]:
    """Of one that sends a stream to that server."""
    interval = f"{plan.interval_s:g}"
    return agent_command(_MODULE, "client", interval, str(port), address, plan.pace)


def main(arguments: Sequence[str]) -> int:
    """Be one of the two."""
    folder, side = Path(arguments[0]), arguments[1]
    interval, port, *rest = arguments[2:]
    client = side == "client"
    plan = TcpStreamPlan(float(rest[1]) or None if client else None, float(interval))
    # They are waited for, and interrupt nothing.
    signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
    note_pid(folder)
    return _StreamEnd(folder, plan, int(port), rest[0] if client else None).run()


@dataclass
class _StreamEnd:
    """One end: a client has the `address` of its server, a server none."""

    folder: Path
    plan: TcpStreamPlan
    port: int
    address: str | None
    started_ns: int = 0

    def run(self) -> int:
        """Until SIGTERM; the exit status."""
        deadline = time.monotonic() + _LONGEST_START_S
        while True:
            pid = self._start()
            seen = self._wait(pid)
            ended_ns = time.time_ns()
            if seen == signal.SIGTERM:
                os.kill(pid, signal.SIGKILL)
                return 0
            if seen == signal.SIGINT:
                os.kill(pid, signal.SIGINT)
                os.waitpid(pid, 0)
            elif not self._is_ready and time.monotonic() < deadline:
                time.sleep(_PAUSE_S)
                continue
            return self._keep(ended_ns, requested=seen == signal.SIGINT)

    @property
    def _output(self) -> Path:
        return self.folder / "iperf3.json"

    @property
    def _ready(self) -> Path:
        return self.folder / READY

    @property
    def _is_ready(self) -> bool:
        return self._ready.exists()

    def _start(self) -> int:
        if self.address is None:
            options = server_options(self.plan, self.port)
        else:
            options = client_options(self.plan, self.address, self.port)
        self.started_ns = time.time_ns()
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        return os.posix_spawnp(
            IPERF3,
            [IPERF3, *options],
            os.environ,
            file_actions=[(os.POSIX_SPAWN_OPEN, 1, self._output, flags, 0o600)],
            # Signals that are blocked here would be blocked there.
            setsigmask=[],
        )

    def _wait(self, pid: int) -> int:
        """The signal that ends it: SIGCHLD where that is iperf3's own end."""
        is_ready = is_listening if self.address is None else is_streaming
        while True:
            if not self._is_ready and is_ready(_NET, self.port):
                self._ready.touch()
            # Once it streams nothing of this process runs.
            patience_s = _LONGEST_START_S if self._is_ready else _POLL_S
            came = signal.sigtimedwait(_SIGNALS, patience_s)
            if came is None:
                continue
            if came.si_signo != signal.SIGCHLD or os.waitpid(pid, os.WNOHANG)[0]:
                return came.si_signo

    def _keep(self, ended_ns: int, *, requested: bool) -> int:
        """The report, until SIGTERM. A client that ended by itself has failed."""
        try:
            stream = read_report(self._output)
        except PlimsollError as error:
            print(error, file=sys.stderr)
            return _FAILED
        if not self._is_ready or (self.address is not None and not requested):
            print(stream.error or "the stream has ended", file=sys.stderr)
            return _FAILED
        keep_report(self.folder, EndReport(self.started_ns, ended_ns, stream).as_json())
        while signal.sigwait({signal.SIGTERM, signal.SIGINT}) != signal.SIGTERM:
            pass
        return 0


if __name__ == "__main__":
    enter(lambda: main(sys.argv[1:]))
