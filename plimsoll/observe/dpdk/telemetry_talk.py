"""Asking a DPDK process without ever having to wait for it."""

from __future__ import annotations

import select
import time
from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path

from plimsoll.host.dpdk_telemetry import TelemetrySocket

_GREETING = "the greeting"


class TelemetryTalk:
    """Commands are sent together, and answers taken as they come, in the same order.

    One that does not come in time stays owed, and the connection open: DPDK forgets a client
    that leaves before it was greeted, and lets no more than ten in (lib/telemetry/telemetry.c).
    Sent together, all commands cost the process one wake-up.
    """

    def __init__(self, path: Path) -> None:
        """Connect. Raises TelemetryError when nothing listens."""
        self._socket = TelemetrySocket(path, timeout_s=0)
        self._poll = select.poll()
        self._poll.register(self._socket.fileno(), select.POLLIN)
        self._owed = deque([_GREETING])

    def still_owes(self) -> bool:
        """Whether answers are still to come.

        Those that have come late are thrown away: they say how things stood at no time that
        anybody knows. Raises TelemetryError as `answers` does.
        """
        for _ in self.answers(0):
            pass
        return bool(self._owed)

    def ask(self, commands: Sequence[str]) -> None:
        """Send commands. Raises TelemetryError when the process is gone or reads none."""
        for command in commands:
            self._socket.send(command)
            self._owed.append(command)

    def answers(self, deadline_s: float) -> Iterator[tuple[str, object]]:
        """The answers that are there by `deadline_s` of the monotonic clock, by command.

        An answer of None says that the process does not know the command or its parameter.
        Raises TelemetryError when the process hangs up or sends an answer without a request.
        """
        while self._owed:
            left_s = max(0.0, deadline_s - time.monotonic())
            if not self._poll.poll(left_s * 1000):
                return
            command = self._owed[0]
            message = self._socket.receive(command)
            self._owed.popleft()
            if command is _GREETING:
                continue
            name = command.partition(",")[0]
            if name not in message:
                raise self._socket.error(f"the process does not answer {command}")
            yield command, message[name]

    def close(self) -> None:
        """Hang up; safe to repeat."""
        self._socket.close()
