"""The queue that absences find, against Lindley's recursion with drawn gaps and lengths."""

from __future__ import annotations

import random
from statistics import fmean

import pytest

from plimsoll.search.load_line.allowed_loss.backlog import NONE_WAITING, backlog_of
from plimsoll.search.load_line.allowed_loss.compound import Cumulants, LosingEvents

BUFFER = 1000.0
# Absences, in rows of which each begins with an empty queue.
ROWS, LONG = 150, 200


@pytest.mark.parametrize(
    ("spare_pps", "brought"),
    [
        (2000.0, (400.0, 900.0)),
        (600.0, (300.0, 700.0)),
        (4000.0, (800.0, 1400.0)),
    ],
)
def test_it_loses_as_much_as_when_it_is_drawn(
    spare_pps: float, brought: tuple[float, float]
) -> None:
    """Once a second in the mean, by an exponential gap, and either length as often."""
    per_s = [LosingEvents(0.5, frames) for frames in brought]
    backlog = backlog_of(per_s, spare_pps, BUFFER, allowed_pps=0.0)
    foretold = Cumulants.of(backlog.losing(per_s, BUFFER))
    sums = _drawn_sums(spare_pps, brought)
    mean = fmean(sums)
    assert foretold.mean * LONG == pytest.approx(mean, rel=0.08)
    drawn = fmean((each - mean) ** 2 for each in sums)
    # Their number is drawn as well.
    drawn += LONG * (mean / LONG) ** 2
    assert foretold.variance * LONG == pytest.approx(drawn, rel=0.3)


def _drawn_sums(spare_pps: float, brought: tuple[float, float]) -> list[float]:
    chance = random.Random(5)  # noqa: S311 - a simulation to compare with
    sums: list[float] = []
    for _ in range(ROWS):
        lost = waiting = 0.0
        for _ in range(LONG):
            waiting += chance.choice(brought)
            lost += max(0.0, waiting - BUFFER)
            waiting = min(waiting, BUFFER)
            waiting = max(0.0, waiting - spare_pps * chance.expovariate(1.0))
        sums.append(lost)
    return sums


def test_absences_far_apart_find_no_queue() -> None:
    """One in a hundred seconds, and a full buffer is gone in 10 ms."""
    per_s = [LosingEvents(0.01, 1500.0)]
    assert backlog_of(per_s, 1e5, BUFFER, allowed_pps=1.0) is NONE_WAITING
    assert NONE_WAITING.losing(per_s, BUFFER) == [LosingEvents(0.01, 500.0)]


def test_the_little_that_two_in_a_row_lose_counts_where_nothing_else_is_lost() -> None:
    """Either is held, and both at once are not: with little allowed that is what fails a load."""
    per_s = [LosingEvents(0.1, 800.0)]
    assert backlog_of(per_s, 1e4, BUFFER, allowed_pps=100.0) is NONE_WAITING
    backlog = backlog_of(per_s, 1e4, BUFFER, allowed_pps=0.01)
    lost_pps = Cumulants.of(backlog.losing(per_s, BUFFER)).mean
    # The next comes within so long that more than 200 frames are left, and loses up to 600.
    within = 0.1 * 600.0 / 1e4
    assert lost_pps == pytest.approx(0.1 * within * 300.0, rel=0.25)


def test_above_the_capacity_the_queue_stays_full() -> None:
    per_s = [LosingEvents(1.0, 300.0)]
    backlog = backlog_of(per_s, -10.0, BUFFER, allowed_pps=0.0)
    assert Cumulants.of(backlog.losing(per_s, BUFFER)).mean == pytest.approx(300.0, rel=0.02)
