"""Requests to a running engine, numbered, and its answers."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

from plimsoll.generator.engine.program import EngineProgram
from plimsoll.generator.interface import GeneratorRefused, Interval

# The id of the answer to a line that the engine could not read at all.
UNREAD = None


class Conversation:
    """One thread at a time reads; any may send."""

    def __init__(self, program: EngineProgram) -> None:
        self._program = program
        self._next_id = 0
        self._sending = threading.Lock()

    def send(self, request: Mapping[str, Any]) -> int:
        """Send a request and return the number that its answer will have.

        Raises GeneratorDied.
        """
        with self._sending:
            self._next_id += 1
            self._program.send({"id": self._next_id, **request})
            return self._next_id

    def receive(self, timeout_s: float) -> Interval | dict[str, Any]:
        """The next message. Raises GeneratorDied when there is none within `timeout_s`."""
        return self._program.receive(timeout_s)

    def ask(self, request: Mapping[str, Any], timeout_s: float) -> dict[str, Any]:
        """Send a request and wait for its answer. Raises GeneratorRefused and GeneratorDied."""
        number = self.send(request)
        while True:
            message = self.receive(timeout_s)
            # Or an answer to a stop that came after its trial had ended.
            if not isinstance(message, Interval) and message.get("id") in (number, UNREAD):
                return self.checked(message)

    def checked(self, message: dict[str, Any]) -> dict[str, Any]:
        """The answer, if the request was carried out; else raises GeneratorRefused."""
        if message.get("ok"):
            return message
        error = message.get("error", {})
        # What DPDK could not do, it explains in its log.
        why = self._program.last_words() if error.get("fatal") else ""
        raise GeneratorRefused(
            str(error.get("message", message)) + why,
            where=f"generator: {error.get('where') or 'request'}",
            remedy="correct the experiment's generator, lab or profile",
        )
