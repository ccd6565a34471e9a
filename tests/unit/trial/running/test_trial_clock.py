"""A trial's times while its wall clock is set."""

import time
from collections.abc import Sequence
from dataclasses import replace

import pytest

from plimsoll.generator.interface import ClockReading, TrialReport
from plimsoll.trial.running.trial import TrialClock
from tests.this_thread import in_this_thread
from tests.unit.record.trial_parts import BEGIN_NS, second

S = 10**9


def taken(clock: TrialClock, set_by_s: Sequence[float]) -> list[float]:
    """When seconds of a trial end by the trial's clock, in s; before each the host's is set."""
    total_s, ends = 0.0, []
    for number, step_s in enumerate(set_by_s):
        total_s += step_s
        each = second(number)
        each = replace(each, end_unix_ns=each.end_unix_ns + round(total_s * S))
        ends.append((clock.interval(each).end_unix_ns - BEGIN_NS) / S)
    return ends


@pytest.mark.parametrize("step_s", [-3600.0, -0.3, 0.3, 3600.0])
def test_times_go_on_as_if_the_clock_had_not_been_set(step_s: float) -> None:
    clock = TrialClock()
    assert taken(clock, [0, 0, step_s, 0]) == pytest.approx([1, 2, 3, 4])
    assert [(each.at_s, each.by_s) for each in clock.steps] == [(3.0, pytest.approx(step_s))]


def test_a_clock_that_is_slewed_is_followed() -> None:
    clock = TrialClock()
    # 500 ppm, the most that ntpd slews by.
    assert taken(clock, [0, 5e-4, 5e-4]) == pytest.approx([1, 2.0005, 3.001])
    assert clock.steps == ()


def test_a_clock_set_before_the_first_interval_ended_moves_the_begin(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = TrialClock()
    real = time.time_ns
    monkeypatch.setattr(time, "time_ns", in_this_thread(time.time_ns, lambda: real() - 60 * S))
    taken(clock, [-60, 0])
    report = clock.report(TrialReport("duration", 2.0, BEGIN_NS, (), (), ()))
    assert report.begin_unix_ns == BEGIN_NS - 60 * S
    ((at_s, by_s),) = [(each.at_s, each.by_s) for each in clock.steps]
    assert (at_s, by_s) == (0.0, pytest.approx(-60, abs=0.1))


def test_clock_readings_are_those_of_a_clock_that_was_not_set() -> None:
    clock = TrialClock()
    taken(clock, [0, -5])
    readings = tuple(
        ClockReading(
            tsc=n, raw_ns=n * S, unix_ns=BEGIN_NS + n * S - (5 * S if n > 1 else 0), width_ns=1
        )
        for n in range(4)
    )
    report = clock.report(TrialReport("duration", 2.0, BEGIN_NS, (), (), (), clock=readings))
    assert [each.unix_ns - BEGIN_NS for each in report.clock] == [0, S, 2 * S, 3 * S]
