"""The search for the highest rate that the tester alone carries without a fault of its own.

It drives any function that tries a rate and says what went wrong; it sends nothing itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

# What the tester did wrong at a rate, in words; None for a clean trial.
TryRate = Callable[[float], str | None]

START_PPS = 100_000.0
LEAST_PPS = 1_000.0
# The rate is known to 5 %: trials differ by more.
_PRECISION = 0.05
# A machine that takes the CPU away spoils a trial at any rate; it must not pass for the
# tester's limit, so a rate is beyond the tester only when no trial of it is clean.
_TRIES = 3
_CONFIRMATIONS = 3
_CONFIRMING_TRIES = 8


@dataclass(frozen=True, slots=True)
class FoundRate:
    """A rate in pps with `clean` clean trials among `trials`, and the fault seen above it."""

    pps: float
    clean: int
    trials: int
    fault_above: str | None


def find_clean_rate(
    try_rate: TryRate, *, most_pps: float, start_pps: float = START_PPS
) -> FoundRate | None:
    """The highest clean rate from 1 kpps to `most_pps`, known to 5 %; None without one.

    Doubles (or halves) from `start_pps`, then halves the interval, then asks for three
    more clean trials, lower by 5 % where they do not come.
    """
    search = _Search(try_rate, most_pps)
    search.bracket(min(start_pps, most_pps))
    search.narrow()
    return search.confirm()


class _Search:
    """Between `clean_pps`, at which a trial was clean, and `faulty_pps`, at which none was."""

    def __init__(self, try_rate: TryRate, most_pps: float) -> None:
        self._try_rate = try_rate
        self._most_pps = most_pps
        self._clean_pps = 0.0
        self._faulty_pps = math.inf
        self._fault: str | None = None

    def bracket(self, start_pps: float) -> None:
        pps = start_pps
        while self._carries(pps) and pps < self._most_pps:
            pps = min(2 * pps, self._most_pps)
        while self._clean_pps == 0.0 and pps / 2 >= LEAST_PPS:
            pps /= 2
            self._carries(pps)

    def narrow(self) -> None:
        while self._clean_pps and self._clean_pps < self._faulty_pps * (1 - _PRECISION):
            if math.isinf(self._faulty_pps):
                return
            self._carries(math.sqrt(self._clean_pps * self._faulty_pps))

    def confirm(self) -> FoundRate | None:
        pps = self._clean_pps
        while pps >= LEAST_PPS:
            faults: list[str] = []
            for trial in range(1, _CONFIRMING_TRIES + 1):
                fault = self._try_rate(pps)
                faults += [] if fault is None else [fault]
                clean = trial - len(faults)
                if clean == _CONFIRMATIONS:
                    return FoundRate(pps, clean, trial, self._fault)
            pps, self._fault = pps * (1 - _PRECISION), faults[-1]
        return None

    def _carries(self, pps: float) -> bool:
        for _ in range(_TRIES):
            fault = self._try_rate(pps)
            if fault is None:
                self._clean_pps = max(self._clean_pps, pps)
                return True
        self._faulty_pps, self._fault = min(self._faulty_pps, pps), fault
        return False
