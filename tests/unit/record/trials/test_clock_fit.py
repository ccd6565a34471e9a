"""Times carried over between the TSC and the kernel's clocks, by hand and against known drift."""

from random import Random

import pytest

from plimsoll.generator.interface import ClockReading
from plimsoll.record.trials.clock_fit import ClockFit

# As they are in the field: a TSC of hours at 2.1 GHz, wall-clock time of 2026.
TSC = 104_123_456_789_012
RAW_NS = 49_582_598_470_958
UNIX_NS = 1_795_123_455_789_012_345


def reading(ticks: int, raw_ns: int, unix_ns: int | None = None, width_ns: int = 0) -> ClockReading:
    """At so many ticks and ns from the origins above."""
    return ClockReading(
        tsc=TSC + ticks,
        raw_ns=RAW_NS + raw_ns,
        unix_ns=UNIX_NS + (raw_ns if unix_ns is None else unix_ns),
        width_ns=width_ns,
    )


def test_two_readings_give_the_line_through_them() -> None:
    fit = ClockFit.of([reading(0, 0, 5), reading(2_000_000_000, 1_000_000_000, 1_000_000_005)])
    assert fit.tsc_hz == pytest.approx(2e9, rel=1e-12)
    assert fit.raw_ns(TSC + 1_000_000_000) == RAW_NS + 500_000_000
    assert fit.unix_ns(TSC + 1_000_000_000) == UNIX_NS + 500_000_005
    assert fit.tsc(UNIX_NS + 500_000_005) == TSC + 1_000_000_000
    assert fit.error_ns == 0


def test_three_readings_by_hand() -> None:
    """x = 0, 1000, 2000; y = 0, 530, 1000: slope 0.5, mean 510, so y = 10 + 0.5 x.

    Residuals: 10, 20 and 10 ns; the widest reading is 80 ns.
    """
    fit = ClockFit.of(
        [
            reading(0, 0, width_ns=40),
            reading(1000, 530, width_ns=80),
            reading(2000, 1000, width_ns=40),
        ]
    )
    assert fit.tsc_hz == pytest.approx(2e9)
    assert fit.raw_ns(TSC) == RAW_NS + 10
    assert fit.raw_ns(TSC + 4000) == RAW_NS + 2010
    assert fit.unix_ns(TSC + 1000) == UNIX_NS + 510
    assert fit.error_ns == pytest.approx(20 + 80)


def test_the_wall_clock_may_drift_against_the_raw_one() -> None:
    """A TSC of 2.1 GHz, a wall clock that NTP lets run 37 ppm fast, an hour of readings."""
    readings = [
        reading(second * 2_100_000_000, second * 1_000_000_000, second * 1_000_037_000)
        for second in range(0, 3601, 64)
    ]
    fit = ClockFit.of(readings)
    assert fit.tsc_hz == pytest.approx(2.1e9, rel=1e-12)
    for second in (0, 1, 1800, 3599):
        tsc = TSC + second * 2_100_000_000
        assert abs(fit.raw_ns(tsc) - RAW_NS - second * 1_000_000_000) <= 1
        assert abs(fit.unix_ns(tsc) - UNIX_NS - second * 1_000_037_000) <= 1
        assert abs(fit.tsc(UNIX_NS + second * 1_000_037_000) - tsc) <= 3
    assert fit.error_ns <= 1


def test_noise_of_the_readings_stays_within_the_stated_error() -> None:
    chance = Random(3)  # noqa: S311 - no secret
    readings = [
        reading(
            second * 3_000_000_000,
            second * 1_000_000_000 + chance.randint(-50, 50),
            second * 1_000_000_000 + chance.randint(-50, 50),
            width_ns=100,
        )
        for second in range(60)
    ]
    fit = ClockFit.of(readings)
    assert fit.tsc_hz == pytest.approx(3e9, rel=1e-8)
    assert 100 < fit.error_ns < 100 + 50 + 50
    for second in range(60):
        truth = RAW_NS + second * 1_000_000_000
        assert abs(fit.raw_ns(TSC + second * 3_000_000_000) - truth) <= fit.error_ns


def test_a_step_of_the_wall_clock_is_in_the_error() -> None:
    """Set forward by a millisecond between the readings: no line can be right about both."""
    readings = [
        reading(second * 2_000_000_000, second * 10**9, second * 10**9 + 10**6 * (second >= 5))
        for second in range(10)
    ]
    assert ClockFit.of(readings).error_ns > 250_000


@pytest.mark.parametrize("readings", [[], [reading(0, 0)], [reading(0, 0), reading(0, 7)]])
def test_readings_at_less_than_two_times_are_refused(readings: list[ClockReading]) -> None:
    with pytest.raises(ValueError, match="two times"):
        ClockFit.of(readings)
