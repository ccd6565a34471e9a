"""Rates from a counter that is read twice."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Reading:
    """A counter of frames, and when it was read (s)."""

    at_s: float
    frames: int


def read(counter: Callable[[], int]) -> Reading:
    """Read it; the time is the middle of asking and being answered."""
    requested_s = time.perf_counter()
    frames = counter()
    return Reading((requested_s + time.perf_counter()) / 2, frames)


def mpps_between(first: Reading, last: Reading) -> float:
    """Million frames per second."""
    return (last.frames - first.frames) / (last.at_s - first.at_s) / 1e6


def mpps_over(seconds: float, counter: Callable[[], int]) -> float:
    """The counter's rate over the next `seconds`."""
    first = read(counter)
    time.sleep(seconds)
    return mpps_between(first, read(counter))
