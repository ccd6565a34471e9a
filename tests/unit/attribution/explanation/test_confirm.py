"""Timer ticks that last longer than a tick can."""

from dataclasses import replace

import pytest

from plimsoll.attribution.explanation.confirm import confirmed
from plimsoll.record.causes.causes_record import Cause
from tests.unit.attribution.cause_records import a_cause
from tests.unit.attribution.traces import HZ, MS, move, stall

NAME = "local_timer (tick_nohz_handler)"


def tick(length_ns: int) -> Cause:
    return a_cause(kind="timer-tick", name=NAME, owner="tester", cpu=0, length_ns=length_ns)


def test_a_tick_of_microseconds_is_a_tick() -> None:
    causes = (tick(50_000), tick(5 * MS))
    steal = move("hypervisor-steal", "steal", 0)
    assert confirmed(causes, stall(0, 16 * MS), [steal], HZ) == causes


@pytest.mark.parametrize("cpu", [0, None])
def test_one_of_many_milliseconds_is_the_hypervisor_where_its_counter_moved_as_much(
    cpu: int | None,
) -> None:
    steal = move("hypervisor-steal", "steal of CPU 0", cpu)
    (cause,) = confirmed((tick(15 * MS),), stall(0, 16 * MS), [steal], HZ)
    assert (cause.kind, cause.name) == ("hypervisor-steal", "steal of CPU 0")
    assert (cause.confidence, cause.length_ns) == ("exact", 15 * MS)


def test_a_counter_that_moved_by_less_does_not_make_it_sure() -> None:
    steal = move("hypervisor-steal", "steal of CPU 0", 0)
    (cause,) = confirmed((tick(15 * MS),), stall(0, 16 * MS), [replace(steal, moved_ns=5 * MS)], HZ)
    assert (cause.kind, cause.confidence) == ("hypervisor-steal", "counter")


def test_without_a_counter_no_one_is_blamed() -> None:
    other_cpu = move("hypervisor-steal", "steal of CPU 1", 1)
    (cause,) = confirmed((tick(15 * MS),), stall(0, 16 * MS), [other_cpu], HZ)
    assert (cause.kind, cause.confidence) == ("unexplained", "unexplained")
    assert cause.name == f"the CPU stood still in {NAME}"
