"""All that a TRex server knows: its ports, their owners, and the traffic."""

from __future__ import annotations

import secrets
import socket
import time
from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

from plimsoll.errors import InputError
from plimsoll.remote.trex.messages.json_rpc import BadParameters
from plimsoll.remote.trex.session.captures import TrexCaptures
from plimsoll.remote.trex.session.sender import Sender
from plimsoll.remote.trex.session.stl_port import StlPort, StlProfile
from plimsoll.remote.trex.session.traffic import SentTraffic
from plimsoll.remote.trex.streams.port_program import TesterPort, parsed_mac

_MAX_SESSIONS = 64
_MAX_EVENTS = 1000


class EventKind(IntEnum):
    """As TRex numbers them."""

    PORT_ACQUIRED = 5
    PORT_RELEASED = 6
    PORT_ATTRIBUTES_CHANGED = 8
    PROFILE_STARTED = 10
    PROFILE_STOPPED = 11
    PROFILE_PAUSED = 12
    PROFILE_RESUMED = 13
    PROFILE_FINISHED = 14
    PROFILE_ERROR = 17
    SERVER_STOPPED = 100


@dataclass
class _Session:
    events: deque[dict[str, Any]] = field(default_factory=lambda: deque(maxlen=_MAX_EVENTS))
    number: int = 0


class EventQueues:
    """Of the latest 64 sessions, the latest 1000 events each; `notify` rouses their readers."""

    def __init__(self, notify: Callable[[], None]) -> None:
        self._notify = notify
        self._sessions: OrderedDict[int, _Session] = OrderedDict()

    def know(self, session_id: int) -> None:
        """Queue events for this session from now on."""
        self._sessions.setdefault(session_id, _Session())
        self._sessions.move_to_end(session_id)
        while len(self._sessions) > _MAX_SESSIONS:
            self._sessions.popitem(last=False)

    def publish(self, kind: EventKind, **data: Any) -> None:
        """An event for every session."""
        for session in self._sessions.values():
            event = {"name": "trex-event", "type": int(kind), "data": data, "seq": session.number}
            session.number += 1
            session.events.append(event)
        self._notify()

    def take(self, session_id: int) -> list[dict[str, Any]]:
        """What a session has not fetched yet."""
        self.know(session_id)
        session = self._sessions[session_id]
        found = list(session.events)
        session.events.clear()
        return found

    def rouse(self) -> None:
        """Let all readers ask for their events."""
        self._notify()


# What a port without a wire is said to have.
DEFAULT_SPEED_BPS = 10e9


@dataclass(frozen=True, slots=True)
class ServerIdentity:
    """What the server says of itself."""

    version: str
    hostname: str
    started: str

    @classmethod
    def here(cls, version: str) -> ServerIdentity:
        """Of this host, now."""
        return cls(version, socket.gethostname(), time.strftime("%b %d %Y @ %H:%M:%S"))


class TrexSession:
    """The state behind a server; only one thread may use it.

    `tell` has what the user should know of streams that are not sent as TRex would.
    """

    def __init__(
        self,
        traffic: SentTraffic,
        identity: ServerIdentity,
        notify: Callable[[], None],
        *,
        speed_bps: float | None = None,
        tell: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.traffic = traffic
        self.identity = identity
        self.tell = tell
        self.api_handler = secrets.token_hex(4)
        self.events = EventQueues(notify)
        self.ports = _ports(traffic, speed_bps)
        self.sender = Sender(traffic, self.ports)
        self.captures = TrexCaptures(traffic)
        self._failed = False

    def port(self, number: int) -> StlPort:
        """By its number. Raises BadParameters."""
        if not 0 <= number < len(self.ports):
            raise BadParameters(f"invalid port id - {number}")
        return self.ports[number]

    def acquire(self, port: StlPort, user: str, session_id: int, *, force: bool) -> str:
        """Make a user the port's owner; returns the key. Raises InputError where it is taken."""
        if port.owner and not force:
            if port.owner != user:
                raise InputError(f"port is already taken by '{port.owner}'")
            if port.session_id != session_id:
                raise InputError(f"port is already owned by another session of '{user}'")
        forced = bool(port.owner) and force
        self.events.know(session_id)
        port.owner, port.session_id, port.handler = user, session_id, secrets.token_hex(4)
        self.events.publish(
            EventKind.PORT_ACQUIRED,
            port_id=port.number,
            who=user,
            session_id=session_id,
            force=forced,
        )
        return port.handler

    def release(self, port: StlPort) -> None:
        """Leave the port to others."""
        who, session_id = port.owner, port.session_id
        port.owner, port.session_id, port.handler = "", 0, ""
        self.events.publish(
            EventKind.PORT_RELEASED, port_id=port.number, who=who, session_id=session_id
        )

    def profile_event(
        self, kind: EventKind, port: StlPort, profile: StlProfile, **more: float | None
    ) -> None:
        """Something happened to a profile."""
        self.events.publish(kind, port_id=port.number, profile_id=profile.name, **more)

    def turn(self) -> None:
        """End what is over, and say so. Of traffic that failed it says that, once."""
        failure = self.traffic.failure
        if failure is not None and not self._failed:
            self._failed = True
            for port, profile in self.sender.fail():
                self.profile_event(EventKind.PROFILE_ERROR, port, profile)
            self.tell(f"traffic has ended: {failure}")
            return
        for port, profile in self.sender.ended():
            times = self.sender.times(profile)
            self.profile_event(EventKind.PROFILE_FINISHED, port, profile, **times)


def _ports(traffic: SentTraffic, speed_bps: float | None) -> tuple[StlPort, ...]:
    """Where each port's frames come in again, by the lab's paths, and by whose address."""
    back = dict(traffic.paths)
    found = []
    for info in traffic.ports:
        mbps = info.link_mbps
        link = mbps * 1e6 if mbps else None
        speed = speed_bps or traffic.line_rate_bps or link or DEFAULT_SPEED_BPS
        rx_port = back.get(info.port, info.port)
        tester = TesterPort(
            port=info.port,
            rx_port=rx_port,
            src_mac=parsed_mac(info.mac),
            dst_mac=parsed_mac(traffic.ports[rx_port].mac),
            line_rate_bps=speed,
        )
        found.append(StlPort(tester))
    return tuple(found)
