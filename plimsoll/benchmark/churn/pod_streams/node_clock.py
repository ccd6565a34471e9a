"""A node's clock held against ours, over a command that runs there."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Protocol

from plimsoll.benchmark.churn.pod_streams.pod_agent import CLOCK

_EXCHANGES = 8
_ANSWER_S = 10.0


class Lines(Protocol):
    """The input and output of a command elsewhere."""

    def write(self, data: bytes) -> None:
        """To its input."""

    def read_line(self, timeout_s: float) -> bytes:
        """The next line of its output, without its end."""


@dataclass(frozen=True, slots=True)
class NodeClock:
    """By how much the node's CLOCK_REALTIME is ahead of ours, in ns; wrong by `error_ns` at most.

    The answer of each exchange is from between our question and its arrival, as in NTP (RFC 5905):
    the quickest exchange says most.
    """

    ahead_ns: int
    error_ns: int

    @classmethod
    def read(cls, lines: Lines) -> NodeClock:
        """Raises ValueError for an answer that is none, and what `lines` does."""
        return min((cls._exchange(lines) for _ in range(_EXCHANGES)), key=lambda it: it.error_ns)

    @classmethod
    def _exchange(cls, lines: Lines) -> NodeClock:
        begin_ns, begin = time.time_ns(), time.monotonic_ns()
        lines.write(CLOCK + b"\n")
        there_ns = int(lines.read_line(_ANSWER_S))
        half_ns = (time.monotonic_ns() - begin) // 2
        return cls(there_ns - begin_ns - half_ns, half_ns)

    def ours_ns(self, there_ns: int) -> int:
        """A time of the node's clock by ours."""
        return there_ns - self.ahead_ns
