"""Events that the record lacks, so that their absence proves nothing."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LostEvents:
    """What was lost of the events of one CPU.

    `events` is how many, as far as they were counted: overwritten in the ring buffer, not
    written to it, or left out by the reader. `complete_from_tsc` is the time from which on
    nothing is missing; None where that is unknown or nothing is left.
    `elsewhere` says which buffer it was: that of what other CPUs did to those under test (in
    which nothing but wakers and senders can be missing), or that of the CPU's own events.
    """

    cpu: int
    elsewhere: bool
    events: int
    complete_from_tsc: int | None
