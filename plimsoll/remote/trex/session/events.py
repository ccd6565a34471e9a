"""TRex's events: queued for each session of a client until it fetches them."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

_MOST_SESSIONS = 64
_MOST_EVENTS = 1000


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
    events: deque[dict[str, Any]] = field(default_factory=lambda: deque(maxlen=_MOST_EVENTS))
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
        while len(self._sessions) > _MOST_SESSIONS:
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
