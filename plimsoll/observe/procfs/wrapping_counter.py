"""Counters of 32 bits that go through zero."""

from __future__ import annotations

_MODULUS = 1 << 32
# No CPU counts as much in the seconds between two readings: at ten million events a second,
# which is more than it can take interrupts or packets, this is 27 s.
_FURTHEST = 1 << 28


def continued(total: int, reading: int) -> int:
    """The total that a counter of 32 bits shows as `reading`; it stood at `total` before.

    One that was set to zero, not wrapped, is taken at its word: then it is less than before.
    """
    counted = (reading - total) % _MODULUS
    wrapped = reading < total % _MODULUS
    return total + counted if not wrapped or counted < _FURTHEST else reading
