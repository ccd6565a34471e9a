"""An incident: a latency spike, a loss event, or a stall of a polling loop of the tester."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

IncidentKind = Literal["latency", "loss", "stall"]


@dataclass(frozen=True, slots=True)
class Incident:
    """What is to be explained, in ticks of the time stamp counter.

    `subject` is a stream ("load/0-1"), or "CPU 0" for a stall of the tester's loop on it.
    A latency begins when the frame was sent and ends when it was received. A loss begins
    with the send time of the last frame before the gap in the sequence and ends with that
    of the first one after it. `frames` are the lost frames, or those of the spike; 0 for a
    stall. Lost frames are `refused` where the port had no room for them: then only who empties
    its queue can be to blame. `length_ns` is the latency, the stall, or the time in which
    lost frames were sent.
    """

    kind: IncidentKind
    subject: str
    begin_tsc: int
    end_tsc: int
    frames: int
    length_ns: int
    refused: bool = False

    @property
    def ticks(self) -> int:
        """How long it lasted."""
        return max(0, self.end_tsc - self.begin_tsc)


def stall_subject(cpu: int) -> str:
    """The subject of a stall of the tester's loop on this CPU."""
    return f"CPU {cpu}"
