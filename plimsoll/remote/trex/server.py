"""A TRex server's two sockets: requests and their answers, and the call to fetch events."""

from __future__ import annotations

import importlib
import ipaddress
import os
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from types import ModuleType, TracebackType
from typing import Any, Self

from plimsoll.benchmark.experiment.experiment import Experiment
from plimsoll.benchmark.live_traffic.experiment_traffic import live_traffic
from plimsoll.benchmark.live_traffic.live_trial import LiveSettings
from plimsoll.benchmark.testbed.testbed import TestbedConfig
from plimsoll.errors import InputError, MachineError
from plimsoll.extras import added_by
from plimsoll.host.processes.affinity import quick_to_answer
from plimsoll.remote.trex.commands.registry import call
from plimsoll.remote.trex.messages.json_rpc import MAX_BYTES, answered
from plimsoll.remote.trex.session.trex_session import ServerIdentity, TrexSession
from plimsoll.version import VERSION

# TRex's own.
SYNC_PORT = 4501
ASYNC_PORT = 4500
# How long the server sleeps where nothing happens, until it looks whether it is to end.
_IDLE_MS = 500
# Connections that are not accepted yet, and requests of one connection: a client waits for the
# answer before it sends the next.
_BACKLOG = 128
_MAX_WAITING = 1
# Of what subscribers send, which is what they subscribe to.
_MAX_SUBSCRIPTION_BYTES = 256
_COMMAND = "trex-server"
# Where every CPU is polled, reading intervals must not keep this process from answering clients,
# and single latencies are not looked at here. Clients judge trials by the rate that was reached, by
# their own clocks. An ordinary program has a polled CPU for 3 to 4 ms at a time (Linux 6.18): after
# such an absence a loop catches up, with a burst that fills half of the port's queue at most. And a
# client that gets its CPU between others needs some such times to start its next port while no CPU
# is polled.
_SETTINGS = LiveSettings(
    begin_delay_s=0.03,
    interval_s=0.5,
    drain_s=0.2,
    worst=0,
    catch_up_us=5_000.0,
    catch_up_queue=0.5,
    shares_cpus=True,
)
_WARNING = (
    "warning: TRex's protocol has neither passwords nor encryption: {everyone} may send at any "
    "rate, and read what is captured"
)


@dataclass(frozen=True, slots=True)
class Listening:
    """Where: an address of this host, and two TCP ports; 0 takes any that is free."""

    address: str = "127.0.0.1"
    sync_port: int = SYNC_PORT
    async_port: int = ASYNC_PORT

    @property
    def is_loopback(self) -> bool:
        """Whether only this host can connect. Raises InputError for no address."""
        try:
            return ipaddress.ip_address(self.address).is_loopback
        except ValueError:
            raise InputError(
                f"{self.address[:64]!r} is not an IP address",
                where="--listen",
                remedy="give one of this host's, such as 127.0.0.1",
            ) from None


class TrexSockets:
    """The sockets, opened with a `with`. Raises MachineError where a port is taken."""

    def __init__(self, listening: Listening) -> None:
        self._listening = listening
        self._zmq = _zmq()
        self._context = self._zmq.Context()

    def __enter__(self) -> Self:
        zmq, where = self._zmq, self._listening
        self._woken = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
        self._requests = self._socket(zmq.REP, where.sync_port, "--sync-port", MAX_BYTES)
        self._publisher = self._socket(
            zmq.PUB, where.async_port, "--async-port", _MAX_SUBSCRIPTION_BYTES
        )
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._context.destroy(linger=0)
        os.close(self._woken)

    @property
    def sync_port(self) -> int:
        """The TCP port of requests."""
        return self._bound(self._requests)

    @property
    def async_port(self) -> int:
        """The TCP port of events."""
        return self._bound(self._publisher)

    def notify(self) -> None:
        """Let subscribers fetch their events."""
        self._publisher.send(b"{}")

    def wake(self) -> None:
        """Let `serve` look at once what has ended. Any thread may call it."""
        os.eventfd_write(self._woken, 1)

    def serve(self, session: TrexSession, stopped: threading.Event) -> None:
        """Answer requests until `stopped` is set."""
        poller = self._zmq.Poller()
        for each in (self._requests, self._woken):
            poller.register(each, self._zmq.POLLIN)
        while not stopped.is_set():
            ready = dict(poller.poll(_IDLE_MS))
            if self._woken in ready:
                os.eventfd_read(self._woken)
                session.turn()
            if self._requests in ready:
                message = self._requests.recv()
                answer = answered(message, lambda method, params: call(session, method, params))
                self._requests.send(answer)
            session.turn()

    def _socket(self, kind: int, port: int, option: str, most_bytes: int) -> Any:
        zmq = self._zmq
        opened = self._context.socket(kind)
        opened.setsockopt(zmq.LINGER, 0)
        # What is longer, libzmq drops together with its connection.
        opened.setsockopt(zmq.MAXMSGSIZE, most_bytes)
        opened.setsockopt(zmq.RCVHWM, _MAX_WAITING)
        opened.setsockopt(zmq.BACKLOG, _BACKLOG)
        address = self._listening.address
        if ":" in address:
            opened.setsockopt(zmq.IPV6, 1)
            address = f"[{address}]"
        try:
            opened.bind(f"tcp://{address}:{port or '*'}")
        except zmq.ZMQError as error:
            raise MachineError(
                f"cannot listen on {address}:{port}: {error.strerror}",
                where=option,
                remedy="end what listens there, or give another port",
            ) from None
        return opened

    def _bound(self, opened: Any) -> int:
        endpoint: bytes = opened.getsockopt(self._zmq.LAST_ENDPOINT)
        return int(endpoint.rstrip(b"\0").rsplit(b":", 1)[1])


def _zmq() -> ModuleType:
    try:
        return importlib.import_module("zmq")
    except ImportError:
        raise MachineError(
            "TRex's protocol needs pyzmq, which is not installed",
            remedy=added_by("trex"),
        ) from None


# A TRex server on an experiment's lab, until a signal ends it.
def serve_trex(
    experiment: Experiment,
    listening: Listening,
    *,
    speed_bps: float | None,
    largest_frame_size: int,
    tell: Callable[[str], None],
) -> None:
    """Bring lab and generator up, and answer TRex's clients until a signal is raised here.

    `tell` has what the user should know. Raises InputError, MachineError and whatever bringing
    the lab up raises.
    """
    loopback = listening.is_loopback
    planned = TestbedConfig.of(experiment)
    plan = replace(planned, largest_frame_size=max(largest_frame_size, planned.largest_frame_size))
    with (
        TrexSockets(listening) as sockets,
        live_traffic(plan, command=_COMMAND, settings=_SETTINGS, tell=tell) as traffic,
        quick_to_answer(),
    ):
        session = TrexSession(
            traffic,
            ServerIdentity.here(VERSION),
            sockets.notify,
            speed_bps=speed_bps,
            tell=tell,
        )
        traffic.notify_ends(sockets.wake)
        everyone = (
            "every user of this machine" if loopback else f"all who reach {listening.address}"
        )
        tell(_WARNING.format(everyone=everyone))
        tell(
            f"TRex's clients may connect to {listening.address}: {len(session.ports)} ports, "
            f"requests on {sockets.sync_port}, events on {sockets.async_port}"
        )
        sockets.serve(session, threading.Event())
