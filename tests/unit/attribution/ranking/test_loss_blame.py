"""Whose lost frames are, worked out by hand."""

from dataclasses import replace

import pytest

from plimsoll.attribution.explanation.explain import explain
from plimsoll.attribution.incidents.cause import Cause, Explanation
from plimsoll.attribution.ranking.loss_blame import LossBlame, loss_blame
from tests.unit.attribution.traces import MS, explained, latency, loss, move, seen


def cause(
    name: str, owner: str | None, length_ns: int = MS, confidence: str = "exact", kind: str = "task"
) -> Cause:
    return Cause(kind, name, owner, 1, 7, None, None, 0, length_ns, confidence)  # type: ignore[arg-type]


def test_frames_go_to_the_absent_loops_by_the_time_each_took() -> None:
    found = [
        # 3 ms of the DUT's CPU, 1 ms of the tester's: 75 and 25 frames.
        Explanation(
            loss(0, 4 * MS, 100), (cause("kworker/1:2", "dut", 3 * MS), cause("java", "tester"))
        ),
        Explanation(loss(9 * MS, 10 * MS, 40), (cause("python3", "dut", confidence="partial"),)),
        Explanation(latency(0, 4 * MS), (cause("kworker/1:2", "dut", 4 * MS),)),
    ]
    assert loss_blame(found) == LossBlame(tester=25.0, platform=115.0, unseen=0.0)


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
    assert loss_blame(found) == LossBlame(tester=0.0, platform=0.0, unseen=9.0)


@pytest.mark.parametrize("name", ["plimsoll", "plimsoll-engine", "plimsoll (python)"])
def test_our_own_process_on_the_duts_cpu_is_the_tester(name: str) -> None:
    found = [Explanation(loss(0, MS, 9), (cause(name, "dut"),))]
    assert loss_blame(found) == LossBlame(tester=9.0, platform=0.0, unseen=0.0)


PLATFORM = LossBlame(tester=0.0, platform=900.0, unseen=0.0)
NOBODY = LossBlame(tester=0.0, platform=0.0, unseen=900.0)


@pytest.mark.parametrize(
    ("length_ns", "stolen", "blame"),
    [
        # The CPU was away, and as much was stolen in that second.
        (90 * MS, 0.1, PLATFORM),
        (2 * MS, 0.01, PLATFORM),
        # Of the 90 ms the hypervisor took 20.
        (90 * MS, 0.02, NOBODY),
        # An overloaded DUT loses a little all the time, whatever is stolen in that time.
        (MS // 2, 0.1, NOBODY),
    ],
)
def test_what_was_lost_while_the_hypervisor_had_the_cpu_is_the_platforms(
    length_ns: int, stolen: float, blame: LossBlame
) -> None:
    steal = replace(move("hypervisor-steal", "steal of CPU 1", 1), amount=stolen)
    found = explained(loss(0, length_ns, 900), [], (steal,))
    assert [cause.kind for cause in found.causes] == ["hypervisor-steal"]
    assert loss_blame([found]) == blame


@pytest.mark.parametrize(("count", "blamed"), [(10, "platform"), (11, "unseen")])
def test_what_was_stolen_explains_no_more_than_twice_its_time(count: int, blamed: str) -> None:
    # Each of 2 ms, and 10 ms were stolen: what is counted late is forgiven up to a half.
    steal = replace(move("hypervisor-steal", "steal of CPU 1", 1), amount=0.01)
    lost = [loss(at * 10 * MS, at * 10 * MS + 2 * MS, 900) for at in range(count)]
    found = explain(seen(lost, [], counters=(steal,)))
    assert getattr(loss_blame(found), blamed) == 900.0 * count


def test_two_frames_lost_one_after_the_other_are_no_silence() -> None:
    steal = move("hypervisor-steal", "steal of CPU 1", 1)
    assert loss_blame([explained(loss(0, 2 * MS, 2), [], (steal,))]).unseen == 2.0
