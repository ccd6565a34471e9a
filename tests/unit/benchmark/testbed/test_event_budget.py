"""Of a page with more events than can be kept the largest incidents are explained."""

from plimsoll.attribution.incidents.incident import Incident
from plimsoll.benchmark.testbed.event_budget import (
    MAX_EVENTS,
    events_of_page,
    events_of_trial,
    likely_within_budget,
    within_budget,
)
from plimsoll.observe.kernel_trace.trace_program import KernelEvent

HZ = 1e9
MS = 1_000_000
SECOND = 1_000 * MS


def incidents() -> list[Incident]:
    """A stall of 1, 2, 3 ... 8 ms in each of eight seconds, and in the ninth a loss."""
    stalls = [
        Incident("stall", "CPU 0", at * SECOND, at * SECOND + at * MS, 0, at * MS)
        for at in range(1, 9)
    ]
    return [*stalls, Incident("loss", "load/0-1", 9 * SECOND, 9 * SECOND + MS, 12, MS)]


def events(found: list[Incident]) -> list[KernelEvent]:
    """Ten in each incident."""
    return [
        KernelEvent(each.begin_tsc + number, 0, "sched_switch", {})
        for each in found
        for number in range(10)
    ]


def test_a_page_within_its_budget_stays_as_it_is() -> None:
    found = incidents()
    assert within_budget(found, events(found), HZ, 90) == (found, events(found))


def test_beyond_it_the_smaller_ones_go_with_the_events_around_them() -> None:
    found = incidents()
    kept, around = within_budget(found, events(found), HZ, 50)
    assert sorted(each.length_ns // MS for each in kept if each.kind == "stall") == [5, 6, 7, 8]
    assert [each.frames for each in kept if each.kind == "loss"] == [12]
    assert around == events([each for each in found if each in kept])


def test_one_of_each_kind_stays_whatever_it_costs() -> None:
    found = incidents()
    kept, around = within_budget(found, events(found), HZ, 1)
    assert [(each.kind, each.length_ns // MS) for each in kept] == [("stall", 8), ("loss", 1)]
    assert len(around) == 20


def test_what_is_read_is_chosen_by_the_rate_of_events() -> None:
    # Stalls of 1 ... 8 ms and a loss of 1 ms, each with its length once more and 25 ms around it:
    # 299 ms in all; without the four smaller stalls 179 ms.
    found = incidents()
    assert likely_within_budget(found, 1_000_000.0, HZ, 300_000) == found
    kept = likely_within_budget(found, 1_000_000.0, HZ, 298_000)
    assert sorted(each.length_ns // MS for each in kept) == [1, 5, 6, 7, 8]
    (stall, loss) = likely_within_budget(found, 1_000_000.0, HZ, 1)
    assert (stall.kind, loss.kind) == ("stall", "loss")
    assert likely_within_budget([], 1_000_000.0, HZ, 1) == []


def test_pages_share_what_a_trial_may_keep() -> None:
    assert events_of_page(300.0, 30.0) == MAX_EVENTS // 10
    # Of three days each page still has some.
    assert events_of_page(3 * 86_400.0, 30.0) == 1_000


def test_a_short_trial_has_a_smaller_budget_and_a_long_one_not_a_larger() -> None:
    assert [events_of_trial(seconds) for seconds in (0.1, 1.0, 2.0, 5.0, 100.0)] == [
        50_000,
        50_000,
        100_000,
        250_000,
        250_000,
    ]
