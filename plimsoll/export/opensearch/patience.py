"""How long to bear with a server that is busy, restarting or out of reach."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from plimsoll.export.export_error import ExportError

T = TypeVar("T")


class Unavailable(Exception):
    """Not now: asking again may help, after `wait_s` if the server says when."""

    def __init__(self, reason: str, wait_s: float | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.wait_s = wait_s


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """So many attempts, the pause after each twice the one before: a minute in all.

    `notice` is called with a message at every pause.
    """

    attempts: int = 8
    first_s: float = 0.5
    longest_s: float = 30.0
    sleep: Callable[[float], None] = time.sleep
    notice: Callable[[str], None] = lambda _: None

    def patiently(self, ask: Callable[[], T], where: str) -> T:
        """What `ask` returns, retried while it raises Unavailable. Raises ExportError."""
        for attempt in range(1, self.attempts):
            try:
                return ask()
            except Unavailable as error:
                self.pause(attempt, error)
        try:
            return ask()
        except Unavailable as error:
            raise ExportError(
                f"gave up after {self.attempts} attempts: {error.reason}",
                where=where,
                remedy="see to the server, then export again: "
                "ids stay the same, so what has arrived is not doubled",
            ) from error

    def pause(self, attempt: int, error: Unavailable) -> None:
        """Wait after the attempt with this number, counted from 1."""
        wait_s = error.wait_s if error.wait_s is not None else self.first_s * 2 ** (attempt - 1)
        wait_s = min(wait_s, self.longest_s)
        self.notice(f"{error.reason}; asking again in {wait_s:g} s")
        self.sleep(wait_s)
