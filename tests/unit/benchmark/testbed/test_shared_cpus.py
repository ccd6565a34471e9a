"""How quiet a trial is made where Plimsoll has no CPU but those of the polling loops."""

from dataclasses import replace

import pytest

from plimsoll.benchmark.testbed.shared_cpus import SharedCpus
from plimsoll.generator.interface import CpuTime, LossLimit, ProcessCpuTime, TrialReport
from tests.unit.trial.trial_builder import PLAN

CROWDED = SharedCpus(frozenset({0, 1}), {7: "plimsoll"}, main_thread=True, crowded=True)
LIMITS = (LossLimit(40, (0, 1)),)
ROOMY = SharedCpus(frozenset({2, 3}), {}, main_thread=False, crowded=False)


@pytest.mark.parametrize(("duration_s", "seconds"), [(1.0, 4.0), (60.0, 63.0), (118.0, 121.0)])
def test_no_process_wakes_before_a_short_trial_ends(duration_s: float, seconds: float) -> None:
    plan = replace(PLAN, duration_s=duration_s, drain_s=2.0)
    without_wakeups = CROWDED.without_wakeups(plan, LIMITS)
    assert without_wakeups == replace(plan, hold_s=seconds, loss_limits=LIMITS, cpu_time_of=(7,))


@pytest.mark.parametrize("duration_s", [119.0, 28800.0])
@pytest.mark.parametrize(("interval_s", "longer_s"), [(0.1, 2.0), (1.0, 2.0), (5.0, 5.0)])
def test_a_long_trial_comes_in_pages_of_fewer_intervals(
    duration_s: float, interval_s: float, longer_s: float
) -> None:
    plan = replace(PLAN, duration_s=duration_s, drain_s=2.0, interval_s=interval_s)
    without_wakeups = CROWDED.without_wakeups(plan, LIMITS)
    assert without_wakeups == replace(plan, interval_s=longer_s, hold_s=30.0, cpu_time_of=(7,))


def test_with_cpus_of_its_own_every_interval_comes_as_it_ends() -> None:
    assert ROOMY.without_wakeups(PLAN, LIMITS) == PLAN


def test_a_live_trial_is_measured_and_not_quieted() -> None:
    assert CROWDED.without_wakeups(PLAN, LIMITS, live=True) == replace(PLAN, cpu_time_of=(7,))


def test_own_time_needs_polled_cpus() -> None:
    report = TrialReport("duration", 2.0, 0, (), (), (), CpuTime(0, (ProcessCpuTime(7, 4000),)))
    own = CROWDED.own_time(report)
    assert own is not None
    assert own.share == pytest.approx(1e-6)
    assert SharedCpus().own_time(report) is None
    assert CROWDED.own_time(replace(report, cpu_time=None)) is None
