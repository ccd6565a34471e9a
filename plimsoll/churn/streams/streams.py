"""One-way TCP streams between pairs of pods, by iperf3, for as long as a cell lasts."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from plimsoll.churn.streams.iperf3 import (
    IPERF3,
    StreamTimes,
    TcpStreamPlan,
    Throughput,
    client_options,
    is_listening,
    read_report,
    server_options,
    throughput_of,
)
from plimsoll.churn.streams.networks import Fabric, PodPair
from plimsoll.errors import MachineError
from plimsoll.host.ledger.ledger import Ledger
from plimsoll.host.namespaces.ip_command import find_program
from plimsoll.host.processes.child import Child

_LONGEST_START_S = 20.0
_LONGEST_END_S = 20.0
_POLL_S = 0.02


@dataclass
class _Stream:
    pair: PodPair
    server: Child
    client: Child
    started_ns: int
    ended_ns: int = 0


class Streams:
    """Streams that run. `streaming` opens them."""

    def __init__(self, running: Sequence[_Stream]) -> None:
        self._running = running

    def check(self) -> None:
        """Raise MachineError where a stream has ended."""
        for stream in self._running:
            for child in (stream.client, stream.server):
                if child.exit_status() is not None:
                    raise MachineError(
                        f"the stream of pair {stream.pair.number} has ended: {_said(child)}",
                        where="streams",
                        remedy="look whether the network still carries it",
                    )

    def stop(self) -> tuple[Throughput, ...]:
        """End all of them, and read what they did. Raises MachineError."""
        for stream in self._running:
            stream.ended_ns = time.time_ns()
            stream.client.interrupt()
        for stream in self._running:
            for child in (stream.client, stream.server):
                if not child.wait(_LONGEST_END_S):
                    raise MachineError(
                        f"the stream of pair {stream.pair.number} does not end",
                        where="streams",
                        remedy="look whether the network still carries it",
                    )
        return tuple(_throughput(stream) for stream in self._running)


@contextmanager
def streaming(fabric: Fabric, plan: TcpStreamPlan, ledger: Ledger, name: str) -> Iterator[Streams]:
    """Start a stream for each pair; `name` begins the names of their files."""
    with ExitStack() as stack:
        starter = _Starter(plan, ledger, name, stack)
        yield Streams([starter.start(pair) for pair in fabric.pairs])


class _Starter:
    """Starts streams that end with an exit stack."""

    def __init__(self, plan: TcpStreamPlan, ledger: Ledger, name: str, stack: ExitStack) -> None:
        self._program = find_program(IPERF3, IPERF3, where="streams")
        self._plan = plan
        self._ledger = ledger
        self._name = name
        self._stack = stack

    def start(self, pair: PodPair) -> _Stream:
        """The server, and once it listens the client. Raises MachineError."""
        options = server_options(self._plan, pair.port)
        server = self._child(pair, "server", pair.server.enter(self._program, *options))
        _wait_until_listening(server, pair)
        started_ns = time.time_ns()
        options = client_options(self._plan, pair.address, pair.port)
        argv = pair.client.enter(self._program, *options)
        return _Stream(pair, server, self._child(pair, "client", argv), started_ns)

    def _child(self, pair: PodPair, role: str, argv: tuple[str, ...]) -> Child:
        child = Child.start(
            argv,
            log=self._ledger.directory / f"{self._name}-{pair.number}-{role}.json",
            environment=self._ledger.environment,
            favoured=False,
        )
        self._stack.callback(child.end, 1.0)
        self._ledger.note_process(f"{IPERF3} {role} {pair.number}", child.identity)
        return child


def _wait_until_listening(server: Child, pair: PodPair) -> None:
    deadline = time.monotonic() + _LONGEST_START_S
    while server.exit_status() is None and time.monotonic() < deadline:
        if is_listening(Path(f"/proc/{pair.server.pid}/net"), pair.port):
            return
        time.sleep(_POLL_S)
    raise MachineError(
        f"iperf3's server does not start: {_said(server)}",
        where="streams",
        remedy="start it again on a less busy machine",
    )


def _throughput(stream: _Stream) -> Throughput:
    sent, received = read_report(stream.client.log), read_report(stream.server.log)
    times = StreamTimes(stream.started_ns, stream.ended_ns)
    return throughput_of(stream.pair.number, sent, received, times)


def _said(child: Child) -> str:
    return " / ".join(child.log_tail(3)) or "it says nothing"
