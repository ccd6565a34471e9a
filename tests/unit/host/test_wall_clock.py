"""The two clocks are compared by readings between which nothing took this process' CPU."""

import itertools
import time

import pytest

from plimsoll.host.wall_clock import wall_minus_monotonic_ns
from tests.this_thread import in_this_thread

AHEAD_NS = 1_795_000_000 * 10**9
MS = 10**6


@pytest.mark.parametrize("away_before", ["wall", "monotonic"])
def test_an_absence_between_two_readings_counts_for_nothing(
    monkeypatch: pytest.MonkeyPatch, away_before: str
) -> None:
    """The process is away for 40 ms, before one of the two is read, in all tries but each fifth."""
    now_ns, number = [10**9], itertools.count()

    def read(clock: str) -> int:
        now_ns[0] += 100
        if clock == away_before and next(number) % 5:
            now_ns[0] += 40 * MS
        return now_ns[0]

    monkeypatch.setattr(
        time, "monotonic_ns", in_this_thread(time.monotonic_ns, lambda: read("monotonic"))
    )
    monkeypatch.setattr(
        time, "time_ns", in_this_thread(time.time_ns, lambda: AHEAD_NS + read("wall"))
    )
    assert abs(wall_minus_monotonic_ns() - AHEAD_NS) <= 100


def test_it_is_what_the_clocks_say() -> None:
    before_ns = time.time_ns() - time.monotonic_ns()
    found_ns = wall_minus_monotonic_ns()
    after_ns = time.time_ns() - time.monotonic_ns()
    # Each of these two may be off by an absence of this process.
    assert min(before_ns, after_ns) - 60e9 <= found_ns <= max(before_ns, after_ns) + 60e9
