"""A tester and a DUT on hosts of their own, with the same CPU numbers and thread ids on both."""

from dataclasses import replace
from typing import Any

import pytest

from plimsoll.attribution.events.trace_reading import TraceCoverage
from plimsoll.attribution.explanation.explain import explain
from plimsoll.attribution.explanation.latency_parts import TimedFrames, latency_parts
from plimsoll.attribution.explanation.observations import HostObservations, Observations, PathLoad
from plimsoll.attribution.explanation.seen_windows import seen_windows
from plimsoll.attribution.explanation.sentence import sentence
from plimsoll.attribution.incidents.incident import Explanation, Incident
from plimsoll.attribution.incidents.loops import PollingLoop
from plimsoll.attribution.ranking.rank import dut_disturbances, rank
from plimsoll.attribution.ranking.summary import limit_sentence, summarise
from plimsoll.attribution.ranking.trial_causes import TrialFacts, causes_of_trial, loss_blame
from plimsoll.host.processes.ticks import HostTicks
from plimsoll.observe.kernel_trace.trace_program import KernelEvent
from plimsoll.record.causes.causes_record import TraceState
from tests.unit.attribution.cause_records import a_cause
from tests.unit.attribution.traces import AT, HZ, MS, US, event, latency, loss, move, stall, visit

FAR = "dut.lab"
# Both on CPU 1, both thread 200.
TESTER = PollingLoop("tester", "plimsoll-engine", 1, 200)
DUT = PollingLoop("dut", "dpdk-testpmd", 1, 200, host=FAR)
LOOPS = (TESTER, DUT)
WHOLE = TraceCoverage({1: (0, 2**62)})
# 300 frames of a queue of 1000 at 1 Mpps: away for 1.3 ms.
LOAD = PathLoad(offered_pps=1e6, queue_frames=1000)


def seen(
    incidents: list[Incident],
    *,
    here: list[KernelEvent] | None = None,
    there: list[KernelEvent] | None = None,
    error: int = 0,
    far: dict[str, Any] | None = None,
    **more: Any,
) -> Observations:
    """Of both hosts, the other's times off by `error` at most; whole traces if not otherwise."""
    other = {"host": FAR, "coverage": WHOLE, "clock_error": error, **(far or {})}
    given = {"coverage": WHOLE, "loops": LOOPS, "tsc_hz": HZ, **more}
    return Observations(
        incidents=incidents,
        events=sorted(here or [], key=lambda each: each.tsc),
        others=[HostObservations(events=sorted(there or [], key=lambda e: e.tsc), **other)],
        **given,
    )


def explained(incident: Incident, **more: Any) -> Explanation:
    (found,) = explain(seen([incident], **more))
    return found


def told(explanation: Explanation) -> list[tuple[str, str | None, int | None, str]]:
    return [(c.kind, c.host, c.cpu, c.confidence) for c in explanation.causes]


def test_what_had_cpu_1_there_had_nothing_here() -> None:
    found = explained(latency(0, 4 * MS), there=visit(-10 * US, 4 * MS, DUT, 812, "java"))
    assert told(found) == [("task", FAR, 1, "exact")]
    assert found.causes[0].owner == "dut"
    assert sentence(found, LOOPS) == (
        "spike of probe/0-1, 4 ms: frames waited in the DUT's queue because CPU 1 of dut.lab "
        "was taken from dpdk-testpmd for 4 ms by java [812]"
    )


def test_what_had_cpu_1_here_had_nothing_there() -> None:
    found = explained(
        latency(0, 4 * MS),
        here=visit(-10 * US, 4 * MS, TESTER, 812, "java"),
        stalls=[stall(-10 * US, 4 * MS, cpu=1)],
    )
    assert {(cause.kind, cause.host) for cause in found.causes} == {
        ("tester-stall", None),
        ("task", None),
    }


def test_a_stall_of_the_tester_is_not_explained_by_a_counter_of_the_dut() -> None:
    """Its own CPU has the same number; the chain's link stays an end of its own."""
    stalled = stall(0, 20 * MS, cpu=1)
    stolen = replace(move("hypervisor-steal", "steal of CPU 1", 1), host=FAR)
    found = explained(stalled, far={"counters": [stolen]}, coverage=TraceCoverage())
    assert {cause.kind for cause in found.causes} == {"unexplained"}
    link = a_cause(kind="tester-stall", name="away", owner="tester", length_ns=9)
    steal = {"kind": "hypervisor-steal", "owner": "dut", "confidence": "counter", "host": FAR}
    counted = link.model_copy(update=steal)
    assert Explanation(stalled, (link, counted)).roots == (link, counted)


def test_a_counter_explains_its_own_host() -> None:
    stolen = replace(move("hypervisor-steal", "steal of CPU 1", 1), host=FAR)
    lost = loss(0, 20 * MS)
    found = explained(lost, far={"counters": [stolen], "coverage": TraceCoverage()})
    assert told(found) == [("hypervisor-steal", FAR, 1, "partial")]
    assert "steal of CPU 1 of dut.lab" in sentence(
        Explanation(lost, (found.causes[0].model_copy(update={"confidence": "counter"}),)), LOOPS
    )
    # The same of the tester's own host is none of the DUT's.
    here = explained(
        lost,
        counters=[move("hypervisor-steal", "steal of CPU 1", 1)],
        far={"coverage": TraceCoverage()},
        loops=(DUT,),
    )
    assert told(here) == [("unexplained", FAR, 1, "unexplained")]


def test_processes_are_known_by_their_ids_on_their_own_host() -> None:
    more: dict[str, Any] = {
        "there": visit(0, 4 * MS, DUT, 812, "java"),
        "own_threads": {812},
        "cgroups": {812: "/here"},
        "noise_tasks": {812: "memory"},
    }
    (cause,) = explained(latency(0, 4 * MS), **more, far={"cgroups": {812: "/there"}}).causes
    assert (cause.own, cause.cgroup, cause.name) == (False, "/there", "java")
    (cause,) = explained(latency(0, 4 * MS), **more, far={"own_threads": {812}}).causes
    assert (cause.own, cause.cgroup) == (True, None)


def test_a_loop_of_another_host_is_no_loop_on_the_testers_cpu() -> None:
    """A task that took the tester's CPU has the id that the DUT's loop has on its own host."""
    took = visit(0, 4 * MS, PollingLoop("tester", "plimsoll-engine", 1, 100), 200, "java")
    found = explained(
        stall(0, 4 * MS, cpu=1),
        here=took,
        loops=(PollingLoop("tester", "plimsoll-engine", 1, 100), DUT),
    )
    assert [(cause.kind, cause.name) for cause in found.causes] == [("task", "rte-worker-1")]


def test_a_signal_to_a_thread_of_that_id_stops_the_loop_of_that_host() -> None:
    def stopped(loop: PollingLoop) -> list[KernelEvent]:
        left, back = visit(0, 4 * MS, loop, 0, "swapper/1")
        sent = event(-5 * US, 0, "signal_generate", sig=19, pid=200, comm="x", common_pid=77)
        named = event(-6 * US, 0, "sched_switch", next_pid=77, next_comm="stopper", prev_pid=0)
        stops = replace_state(left, "T")
        return [named, sent, stops, back]

    found = explained(latency(0, 4 * MS), there=stopped(DUT))
    assert [(c.kind, c.name, c.host, c.woken_by) for c in found.causes] == [
        ("stopped", "SIGSTOP", FAR, "stopper (77)")
    ]


def replace_state(left: KernelEvent, state: str) -> KernelEvent:
    return KernelEvent(left.tsc, left.cpu, left.name, {**left.fields, "prev_state": state})


@pytest.mark.parametrize(
    ("off", "confidence"),
    [
        # As well as no error.
        (100 * US, "exact"),
        # More than a fifth of the incident.
        (900 * US, "partial"),
    ],
)
def test_an_absence_is_placed_within_the_error_of_its_clock(off: int, confidence: str) -> None:
    away = visit(off, 4 * MS + off, DUT, 812, "java")
    (cause,) = explained(latency(0, 4 * MS), there=away, error=off).causes
    assert (cause.kind, cause.confidence) == ("task", confidence)
    assert cause.length_ns == 4 * MS
    # As that clock has it: one absence is one, whatever frames it held up.
    assert cause.begin_tsc == AT + off


def test_beyond_the_error_of_its_clock_it_is_no_cause() -> None:
    away = visit(3 * MS, 3 * MS + 800 * US, DUT, 812, "java")
    found = explained(latency(0, 1 * MS), there=away, error=100 * US)
    assert [cause.kind for cause in found.causes] == ["unexplained"]


def test_it_becomes_no_longer_for_being_moved() -> None:
    away = visit(2 * MS, 2 * MS + 500 * US, DUT, 812, "java")
    found = explained(latency(0, 2 * MS), there=away, error=1 * MS)
    by_task = [cause for cause in found.causes if cause.kind == "task"]
    assert [cause.length_ns for cause in by_task] == [500 * US]
    assert sum(c.length_ns or 0 for c in found.causes if c.kind == "unexplained") == 1500 * US


def test_all_absences_of_a_host_are_moved_together() -> None:
    """Two visits with a gap between them cannot both be moved onto the frame."""
    away = [
        *visit(0, 500 * US, DUT, 812, "java"),
        *visit(3 * MS, 3 * MS + 500 * US, DUT, 813, "cc1"),
    ]
    found = explained(latency(1 * MS, 2 * MS), there=away, error=1 * MS)
    assert len({cause.pid for cause in found.causes if cause.kind == "task"}) == 1


def test_a_clock_that_is_known_no_better_than_the_incident_is_long_says_so() -> None:
    away = visit(0, 200 * US, DUT, 812, "java")
    found = explained(latency(0, 200 * US), there=away, error=1_500 * US)
    assert [cause.kind for cause in found.causes] == ["unexplained"]
    assert "the clock of dut.lab is only known to ±1.5 ms" in sentence(found, LOOPS)


def test_the_gates_of_a_loss_are_as_strict_as_without_an_error() -> None:
    """The queue overflows after a millisecond: an absence of less has lost nothing."""
    lost = loss(1 * MS, 1_300 * US, frames=300)
    short = explained(lost, there=visit(400 * US, 1_300 * US, DUT, 812, "j"), error=MS, load=LOAD)
    assert [cause.kind for cause in short.causes] == ["unexplained"]
    long = explained(lost, there=visit(900 * US, 2_230 * US, DUT, 812, "j"), error=MS, load=LOAD)
    assert [(c.kind, c.host) for c in long.causes] == [("task", FAR)]
    assert loss_blame([long]).platform == 300


def test_a_dut_that_runs_and_passes_nothing_on_is_busy_elsewhere_also_there() -> None:
    ticks = [
        event(at * 4 * MS, 1, "hrtimer_expire_entry", function="tick_nohz_handler", common_pid=200)
        for at in range(-2, 15)
    ]
    far = {"ticks": HostTicks(0.004)}
    found = explained(loss(0, 40 * MS), there=ticks, far=far, error=100 * US)
    assert told(found) == [("busy-elsewhere", FAR, 1, "partial")]
    # By so bad a clock too few of them are certainly within the loss.
    unsure = explained(loss(0, 40 * MS), there=ticks, far=far, error=18 * MS)
    assert told(unsure)[0][0] == "unexplained"


def test_causes_of_two_hosts_are_two_rows_of_the_table() -> None:
    found = [
        explained(latency(0, 4 * MS), there=visit(0, 4 * MS, DUT, 812, "java")),
        explained(
            latency(0, 4 * MS),
            here=visit(0, 4 * MS, TESTER, 812, "java"),
            loops=(replace(TESTER, owner="dut"), DUT),
        ),
    ]
    rows = rank(found)
    assert {(row.name, row.cpu, row.host) for row in rows} == {("java", 1, None), ("java", 1, FAR)}
    disturbances = dut_disturbances(found, AT, HZ)
    assert {(each.cpu, each.host) for each in disturbances} == {(1, None), (1, FAR)}


def test_of_a_latency_only_what_is_certain_is_the_duts() -> None:
    """Sent 1 ms into an absence of 10 ms, by a clock that is known to half a millisecond."""
    frames = TimedFrames("probe/0-1", 1, AT + MS, AT + 11 * MS, across_stall=True)
    away = visit(0, 10 * MS, DUT, 812, "java")
    observed = seen([latency(1 * MS, 11 * MS)], there=away, error=MS // 2)
    (parts,) = latency_parts([frames], list(seen_windows(observed)), observed)
    assert parts.held_by_dut_ns == 8_500 * US
    assert (parts.tester_ns, parts.dut_ns, parts.undecided_ns) == (0, 8_500 * US, 1_500 * US)
    early = replace(observed, others=[replace(observed.others[0], clock_error=2 * MS)])
    (parts,) = latency_parts([frames], list(seen_windows(early)), early)
    assert parts.held_by_dut_ns == 0


def test_the_record_names_the_host_of_each_loop_cause_and_event() -> None:
    observed = seen([latency(0, 4 * MS)], there=visit(0, 4 * MS, DUT, 812, "java"), error=US)
    facts = {name: getattr(observed, name) for name in Observations.__dataclass_fields__}
    found = causes_of_trial(
        TrialFacts(number=1, trace=TraceState(clock="x86-tsc"), **facts),
    )
    assert [each.host for each in found.record.loops] == [None, FAR]
    (incident,) = found.record.incidents
    assert [each.host for each in incident.causes] == [FAR]
    assert {each.host for each in found.events} == {FAR}
    assert "by java on the DUT's CPU 1 of dut.lab (task" in limit_sentence(
        summarise([found.record], 0)
    )
