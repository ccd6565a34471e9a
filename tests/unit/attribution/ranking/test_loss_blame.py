"""Whose lost frames are, worked out by hand."""

from dataclasses import replace

import pytest

from plimsoll.attribution.explanation.explain import explain
from plimsoll.attribution.incidents.incident import Explanation
from plimsoll.attribution.ranking.trial_causes import LossAttribution, loss_blame
from plimsoll.record.causes.causes_record import Cause
from tests.unit.attribution.cause_records import a_cause
from tests.unit.attribution.traces import DUT, MS, explained, latency, loss, move, seen, visit


def cause(
    name: str, owner: str | None, length_ns: int = MS, confidence: str = "exact", kind: str = "task"
) -> Cause:
    return a_cause(
        kind=kind, name=name, owner=owner, pid=7, length_ns=length_ns, confidence=confidence
    )


def test_frames_go_to_the_absent_loops_by_the_time_each_took() -> None:
    found = [
        # 3 ms of the DUT's CPU, 1 ms of the tester's: 75 and 25 frames.
        Explanation(
            loss(0, 4 * MS, 100), (cause("kworker/1:2", "dut", 3 * MS), cause("java", "tester"))
        ),
        Explanation(loss(9 * MS, 10 * MS, 40), (cause("python3", "dut", confidence="partial"),)),
        Explanation(latency(0, 4 * MS), (cause("kworker/1:2", "dut", 4 * MS),)),
    ]
    assert loss_blame(found) == LossAttribution(tester=25.0, platform=115.0, unseen=0.0)


@pytest.mark.parametrize(
    "causes",
    [
        (),
        (cause("steal of CPU 1", "dut", confidence="counter", kind="hypervisor-steal"),),
        (cause("no kernel event", None, confidence="unexplained", kind="unexplained"),),
    ],
)
def test_what_was_not_seen_is_unattributed(causes: tuple[Cause, ...]) -> None:
    found = [Explanation(loss(0, MS, 9), causes)]
    assert loss_blame(found) == LossAttribution(tester=0.0, platform=0.0, unseen=9.0)


def test_our_own_process_on_the_duts_cpu_is_the_tester() -> None:
    found = [
        Explanation(loss(0, MS, 9), (cause("python3", "dut").model_copy(update={"own": True}),))
    ]
    assert loss_blame(found) == LossAttribution(tester=9.0, platform=0.0, unseen=0.0)


@pytest.mark.parametrize("name", ["plimsoll", "plimsoll-x", "plimsoll (python)"])
def test_another_process_that_is_called_like_ours_is_the_platforms(name: str) -> None:
    events = visit(0, 4 * MS, DUT, 812, name)
    blamed = loss_blame(explain(seen([loss(0, 4 * MS, 9)], events)))
    assert blamed == LossAttribution(tester=0.0, platform=9.0, unseen=0.0)
    ours = loss_blame(explain(seen([loss(0, 4 * MS, 9)], events, own_threads={812})))
    assert ours == LossAttribution(tester=9.0, platform=0.0, unseen=0.0)


PLATFORM = LossAttribution(tester=0.0, platform=900.0, unseen=0.0)
NOBODY = LossAttribution(tester=0.0, platform=0.0, unseen=900.0)


@pytest.mark.parametrize(
    ("length_ns", "stolen_ns", "blame"),
    [
        # The CPU was away, and as much was stolen in that second.
        (90 * MS, 90 * MS, PLATFORM),
        (12 * MS, 10 * MS, PLATFORM),
        # Of the 90 ms the hypervisor took 30 at most, counted in steps of 10.
        (90 * MS, 20 * MS, NOBODY),
        # What is shorter than a step may be anywhere between two of them.
        (9 * MS, 100 * MS, NOBODY),
        (MS // 2, 100 * MS, NOBODY),
    ],
)
def test_what_was_lost_while_the_hypervisor_had_the_cpu_is_the_platforms(
    length_ns: int, stolen_ns: int, blame: LossAttribution
) -> None:
    steal = replace(move("hypervisor-steal", "steal of CPU 1", 1), moved_ns=stolen_ns)
    found = explained(loss(0, length_ns, 900), [], (steal,))
    kind = "hypervisor-steal" if blame == PLATFORM else "unexplained"
    assert [cause.kind for cause in found.causes] == [kind]
    assert loss_blame([found]) == blame


def test_what_was_stolen_explains_no_more_than_its_time_and_one_step() -> None:
    # 30 ms were stolen: 40 at most, and each of these lasted 12.
    steal = replace(move("hypervisor-steal", "steal of CPU 1", 1), moved_ns=30 * MS)
    lost = [loss(at * 20 * MS, at * 20 * MS + 12 * MS, 900) for at in range(5)]
    blamed = loss_blame(explain(seen(lost, [], counters=(steal,))))
    assert blamed == LossAttribution(tester=0.0, platform=2700.0, unseen=1800.0)


def test_streams_that_were_lost_at_the_same_time_share_what_was_stolen() -> None:
    steal = replace(move("hypervisor-steal", "steal of CPU 1", 1), moved_ns=10 * MS)
    lost = [replace(loss(0, 20 * MS, 900), subject=f"load/{n}") for n in range(4)]
    blamed = loss_blame(explain(seen(lost, [], counters=(steal,))))
    assert blamed == LossAttribution(tester=0.0, platform=3600.0, unseen=0.0)


def test_two_frames_lost_one_after_the_other_are_no_silence() -> None:
    steal = move("hypervisor-steal", "steal of CPU 1", 1)
    assert loss_blame([explained(loss(0, 12 * MS, 2), [], (steal,))]).unseen == 2.0
