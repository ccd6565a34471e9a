"""Timer ticks that last longer than a tick can."""

import pytest

from plimsoll.attribution.explanation.confirm import confirmed
from plimsoll.attribution.incidents.cause import Cause
from tests.unit.attribution.traces import MS, move, stall

NAME = "local_timer (tick_nohz_handler)"


def tick(length_ns: int) -> Cause:
    return Cause("timer-tick", NAME, "tester", 0, None, None, None, 0, length_ns, "exact")


def test_a_tick_of_microseconds_is_a_tick() -> None:
    causes = (tick(50_000), tick(5 * MS))
    assert confirmed(causes, stall(0, 16 * MS), [move("hypervisor-steal", "steal", 0)]) == causes


@pytest.mark.parametrize("cpu", [0, None])
def test_one_of_many_milliseconds_is_the_hypervisor_by_its_counter(cpu: int | None) -> None:
    steal = move("hypervisor-steal", "steal of CPU 0", cpu)
    (cause,) = confirmed((tick(15 * MS),), stall(0, 16 * MS), [steal])
    assert (cause.kind, cause.name) == ("hypervisor-steal", "steal of CPU 0")
    assert (cause.confidence, cause.length_ns) == ("counter", 15 * MS)


def test_without_a_counter_nobody_is_blamed() -> None:
    other_cpu = move("hypervisor-steal", "steal of CPU 1", 1)
    (cause,) = confirmed((tick(15 * MS),), stall(0, 16 * MS), [other_cpu])
    assert (cause.kind, cause.confidence) == ("unexplained", "unexplained")
    assert cause.name == f"the CPU stood still in {NAME}"
