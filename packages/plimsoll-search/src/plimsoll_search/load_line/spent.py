"""Whether a trial has left the DUT with less than it had, and resting it until it has it again."""

from __future__ import annotations

from typing import Literal

from .tried import Tried

# The first rest, until it is known what it takes; each further one is twice as long.
_FIRST_REST_S = 60.0
# Rests that begin with this one come to four hours.
_LONGEST_FIRST_S = 240.0
# After so many, about an hour at first, what the DUT has left counts as all it has.
_MOST_RESTS = 6
# What did not come back in that time is waited for once, the next time.
_RESTS_AFTER_THAT = 1

CheckOrRest = tuple[Literal["check", "rest"], float]


class Spent:
    """Checks by a short trial at a load that was carried, and rests while that is not.

    No constant says how long a DUT takes to cool or to come back: that it carries the load
    again does.
    """

    def __init__(self) -> None:
        self._load_pps: float | None = None
        self._rests = 0
        self._rested_s = 0.0
        self._first_rest_s = _FIRST_REST_S
        self._most_rests = _MOST_RESTS
        self._checking = False
        self._resting = False

    def begin(self, load_pps: float) -> None:
        """A trial has left the DUT so that it may not carry this load any more."""
        self._load_pps, self._rests, self._rested_s = load_pps, 0, 0.0
        self._checking, self._resting = False, False

    def next(self) -> CheckOrRest | None:
        """What to do, and at which load or for how long; None where the DUT is as it was."""
        if self._load_pps is None:
            return None
        if self._resting:
            return "rest", self._first_rest_s * 2.0 ** (self._rests - 1)
        self._checking = True
        return "check", self._load_pps

    def judge(self, tried: Tried, *, is_overloaded: bool) -> bool:
        """Take a trial; whether it was a check that says nothing but that more rest is due."""
        if self._load_pps is None:
            return False
        if self._resting:
            self._resting = False
            self._rested_s += tried.asked.duration_s
            return False
        if not self._checking:
            return False
        self._checking = False
        if not is_overloaded or self._rests >= self._most_rests:
            self._load_pps = None
            if is_overloaded:
                self._most_rests = _RESTS_AFTER_THAT
            else:
                # What it took is what it takes.
                self._first_rest_s = min(max(self._first_rest_s, self._rested_s), _LONGEST_FIRST_S)
            return False
        self._rests += 1
        self._resting = True
        return True
