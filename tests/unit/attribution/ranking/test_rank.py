"""The ranking, worked out by hand, and what holds of it for any events."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plimsoll.attribution.explanation.explain import explain
from plimsoll.attribution.incidents.incident import Explanation, Incident, weights
from plimsoll.attribution.ranking.rank import rank
from plimsoll.attribution.ranking.remedies import _RULES, remedy_for
from plimsoll.observe.kernel_trace.trace_program import KernelEvent
from plimsoll.record.causes.causes_record import Cause
from plimsoll.tune.audit.audit import all_checks
from tests.unit.attribution.cause_records import a_cause
from tests.unit.attribution.traces import (
    AT,
    MS,
    US,
    latency,
    loss,
    seen,
    stall,
)


def cause(
    name: str, length_ns: int | None, *, kind: str = "task", begin: int | None = None
) -> Cause:
    return a_cause(kind=kind, name=name, pid=7, begin_tsc=begin, length_ns=length_ns)


def test_shares_are_by_the_time_each_took() -> None:
    found = [
        Explanation(loss(0, 4 * MS, 100), (cause("a", 3 * MS), cause("b", 1 * MS))),
        Explanation(loss(9 * MS, 10 * MS, 300), (cause("b", 1 * MS),)),
        Explanation(latency(0, 4 * MS), (cause("a", 4 * MS),)),
        Explanation(latency(0, 90 * US), (cause("c", 90 * US),)),
    ]
    b, a = rank(found, above_ns=100 * US)
    # b: 25 of 100 and all 300 of 400 lost frames; a: 75, and the one spike above 100 us.
    assert (b.name, b.loss_share, b.spike_share) == ("b", pytest.approx(325 / 400), 0.0)
    assert (a.name, a.loss_share, a.spike_share) == ("a", pytest.approx(75 / 400), 1.0)
    assert (a.worst_ns, a.total_ns) == (4 * MS, 7 * MS)


def test_one_visit_that_delays_many_frames_is_one_occurrence() -> None:
    found = [
        Explanation(latency(n * US, 4 * MS), (cause("a", 4 * MS - n * US, begin=AT),))
        for n in range(5)
    ]
    (row,) = rank(found)
    assert (row.occurrences, row.incidents, row.total_ns) == (1, 5, 4 * MS)


def test_any_of_a_cpus_workers_counts_as_its_kworker() -> None:
    found = [
        Explanation(stall(0, MS), (cause(f"kworker/1:{n} (vmstat_update)", MS, kind="workqueue"),))
        for n in (0, 2)
    ]
    (row,) = rank(found)
    assert (row.name, row.occurrences) == ("kworker (vmstat_update)", 2)
    assert row.remedy is not None
    assert row.remedy.checks == (25,)


def test_causes_of_unknown_length_share_what_is_left_of_the_incident() -> None:
    found = Explanation(stall(0, 4 * MS), (cause("a", 2 * MS), cause("b", None), cause("c", None)))
    assert [weight for _, weight in weights(found)] == [0.5, 0.25, 0.25]


def test_shares_are_not_made_up_where_nothing_was_lost() -> None:
    (row,) = rank([Explanation(stall(0, MS), (cause("a", MS),))])
    assert (row.loss_share, row.spike_share) == (None, None)


def test_own_processes_are_marked() -> None:
    named_alike = cause("plimsoll", MS)
    ours = named_alike.model_copy(update={"own": True})
    found = [Explanation(stall(0, MS), (ours,)), Explanation(stall(9, MS), (named_alike,))]
    row, other = rank(found)
    assert (row.own, other.own) == (True, False)
    assert row.remedy is not None
    assert row.remedy.text.startswith("give Plimsoll a CPU")
    assert other.remedy is not None
    assert other.remedy.text.startswith("keep other processes off")


def test_every_remedy_names_checks_that_exist() -> None:
    numbers = {check.number for check in all_checks()}
    assert {number for rule in _RULES for number in rule.remedy.checks} <= numbers


@pytest.mark.parametrize(
    ("kind", "name", "check"),
    [
        ("timer-tick", "local_timer (tick_nohz_handler)", "nohz-full"),
        ("workqueue", "kworker/u (wb_workfn)", "workqueues"),
        ("workqueue", "kworker (vmstat_update)", "kernel-periodic-work"),
        ("task", "rcu_preempt", "rcu-nocbs"),
        ("task", "rcuop/1", "rcu-nocbs"),
        ("softirq", "softirq RCU", "rcu-nocbs"),
        ("interrupt", "irq 24 virtio0", "irq-affinity"),
        ("throttling", "/pods/x", "cpu-quota"),
        ("frequency", "", "governor"),
        ("idle-exit", "", "idle-states"),
        ("hardware", "SMIs", "smi"),
        ("tlb-shootdown", "IPI call_function", "numa-balancing"),
        ("task", "khugepaged", "memory-merging"),
        ("task", "watchdog/1", "watchdog"),
        ("task", "java", "exclusive-cpus"),
    ],
)
def test_remedies_lead_to_the_check_that_covers_them(kind: str, name: str, check: str) -> None:
    names = {each.number: each.name for each in all_checks()}
    remedy = remedy_for(kind, name, "dut")  # type: ignore[arg-type]
    assert remedy is not None
    assert check in {names[number] for number in remedy.checks}


EVENTS = st.lists(
    st.one_of(
        st.tuples(
            st.just("sched_switch"),
            st.fixed_dictionaries(
                {
                    "prev_pid": st.sampled_from([0, 7, 8, 100, 200]),
                    "next_pid": st.sampled_from([0, 7, 8, 100, 200]),
                    "prev_state": st.sampled_from(["R", "S", "D", "T", "R+"]),
                    "next_comm": st.sampled_from(["a", "kworker/0:1", "plimsoll"]),
                }
            ),
        ),
        st.tuples(
            st.sampled_from(["softirq_entry", "softirq_exit"]),
            st.fixed_dictionaries({"vec": st.integers(0, 9)}),
        ),
        st.tuples(
            st.sampled_from(["local_timer_entry", "local_timer_exit", "reschedule_entry"]),
            st.just({}),
        ),
        st.tuples(
            st.just("sched_waking"),
            st.fixed_dictionaries({"pid": st.sampled_from([7, 8, 100, 200])}),
        ),
    ),
    max_size=40,
)
INCIDENTS = st.lists(
    st.tuples(
        st.sampled_from(["latency", "loss", "stall"]),
        st.integers(0, 4 * MS),
        st.integers(0, 4 * MS),
        st.integers(1, 1000),
    ),
    min_size=1,
    max_size=5,
)


@settings(max_examples=200, deadline=None)
@given(EVENTS, st.data(), INCIDENTS)
def test_shares_add_up_to_at_most_one_and_nothing_lasts_longer_than_its_window(
    events: list[tuple[str, dict[str, int | str]]],
    data: st.DataObject,
    incidents: list[tuple[str, int, int, int]],
) -> None:
    times = sorted(data.draw(st.lists(st.integers(-MS, 9 * MS), min_size=len(events),
                                      max_size=len(events))))  # fmt: skip
    cpus = data.draw(st.lists(st.integers(0, 1), min_size=len(events), max_size=len(events)))
    trace = [
        KernelEvent(AT + at, cpu, name, fields)
        for at, cpu, (name, fields) in zip(times, cpus, events, strict=True)
    ]
    given_incidents = [
        Incident(kind, "CPU 0" if kind == "stall" else "s", AT + at, AT + at + length, n, length)  # type: ignore[arg-type]
        for kind, at, length, n in incidents
    ]
    found = explain(seen(given_incidents, trace))
    for explanation in found:
        begin, end = explanation.incident.begin_tsc, explanation.incident.end_tsc
        for each in explanation.causes:
            within = each.begin_tsc is None or each.begin_tsc >= begin
            if explanation.incident.kind != "loss" and within and each.confidence == "exact":
                assert (each.length_ns or 0) <= end - begin
        assert sum(weight for _, weight in weights(explanation)) == pytest.approx(1.0)
    rows = rank(found)
    assert sum(row.loss_share or 0 for row in rows) <= 1 + 1e-9
    assert sum(row.spike_share or 0 for row in rows) <= 1 + 1e-9
