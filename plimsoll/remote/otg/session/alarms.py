"""Deeds at a later time: flows that begin after a delay, and flows whose time is over."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass
class _Alarm:
    due_s: float
    deed: Callable[[], None]
    timer: threading.Timer = field(init=False)


class Alarms:
    """At most one for each key. Deeds run on threads of their own."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._alarms: dict[str, _Alarm] = {}

    def set(self, key: str, after_s: float, deed: Callable[[], None]) -> None:
        """Do it after so many s, in place of what was to be done under that key."""
        alarm = _Alarm(time.monotonic() + after_s, deed)
        alarm.timer = threading.Timer(after_s, self._ring, (key, alarm))
        alarm.timer.daemon = True
        with self._lock:
            self._take(key)
            self._alarms[key] = alarm
        alarm.timer.start()

    def cancel(self, key: str) -> float | None:
        """Do not do it. Returns how many s were left, None where nothing was to be done."""
        with self._lock:
            alarm = self._take(key)
        return max(0.0, alarm.due_s - time.monotonic()) if alarm else None

    def cancel_all(self) -> None:
        """Do nothing of it."""
        with self._lock:
            for key in list(self._alarms):
                self._take(key)

    def _take(self, key: str) -> _Alarm | None:
        alarm = self._alarms.pop(key, None)
        if alarm is not None:
            alarm.timer.cancel()
        return alarm

    def _ring(self, key: str, alarm: _Alarm) -> None:
        with self._lock:
            if self._alarms.get(key) is not alarm:
                return
            del self._alarms[key]
        alarm.deed()
