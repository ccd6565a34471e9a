"""What the agent of one end of a stream reports, by its own node's clock."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import TypeAdapter, ValidationError

from plimsoll.churn.streams.iperf3 import StreamReport


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
