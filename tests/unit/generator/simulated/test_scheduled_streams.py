"""Streams that pause, on a simulated DUT: what they send, second by second."""

from dataclasses import replace

import pytest

from plimsoll.traffic.plan import Pacing, Schedule
from tests.unit.generator.simulated.driving import generator_of, load_stream, plan_of

ON_AND_OFF = Schedule(start_s=2.0, duration_s=2.0, pause_s=2.0)


def _sent(pacing: Pacing, schedule: Schedule) -> list[int]:
    stream = replace(load_stream(10_000.0, pacing=pacing), schedule=schedule)
    intervals = []
    generator = generator_of("fixed-capacity")
    report = generator.trial(plan_of(stream), lambda each: bool(intervals.append(each)))
    (total,) = report.streams
    sent = [each.streams[0].sent for each in intervals if each.phase == "send"]
    assert total.sent == sum(sent)
    assert total.received == total.sent
    return sent


def test_a_stream_sends_in_the_seconds_of_its_schedule() -> None:
    sent = _sent(Pacing(), ON_AND_OFF)
    assert sent == [0, 0, 10_000, 10_000, 0, 0, 10_000, 10_000, 0, 0]


def test_a_stream_that_starts_later_sends_to_the_end() -> None:
    assert _sent(Pacing(), Schedule(start_s=7.5)) == [0] * 7 + [5000, 10_000, 10_000]


def test_random_gaps_pause_as_well() -> None:
    sent = _sent(Pacing("poisson", seed=3), ON_AND_OFF)
    assert [each > 0 for each in sent] == [False, False, True, True] * 2 + [False, False]
    assert sum(sent) == pytest.approx(40_000, rel=0.05)
