"""Loops of the DUT on CPUs that the tester polls."""

import pytest

from plimsoll.record.trials.trial_parts import PollingThreadRecord, ScheduleRecord
from plimsoll.trial.judging.tester_losses import shared_cpu
from plimsoll.trial.judging.verdict import Judgement
from plimsoll.trial.outcome.finding import Finding
from tests.worded.says import Says

MS = 1_000_000


def thread(process: str, tid: int, cpu: int, last_cpu: int | None = None) -> PollingThreadRecord:
    return PollingThreadRecord(
        process=process, pid=tid - 1, tid=tid, cpu=cpu, run_ns=900 * MS, wait_ns=0, slices=1,
        involuntary_switches=0, last_cpu=cpu if last_cpu is None else last_cpu,
    )  # fmt: skip


def found(dut: PollingThreadRecord, seen_ns: dict[int, int] | None = None) -> list[Finding]:
    threads = (thread("tester", 101, 0), dut)
    schedule = ScheduleRecord(watched_s=1.0, threads=threads, others=())
    return shared_cpu(schedule, seen_ns or {})


@pytest.mark.parametrize(
    ("dut", "seen_ns", "facts"),
    [
        # All of its time, as it never left.
        (thread("testpmd", 201, 0), {}, ("900", "0")),
        # It was moved there during the trial; when, the kernel's trace says.
        (thread("testpmd", 201, 1, 0), {201: 300 * MS}, ("300", "0")),
        (thread("testpmd", 201, 1, 0), {}, ("0",)),
        # It was there and back.
        (thread("testpmd", 201, 1), {201: 4 * MS}, ("4",)),
    ],
)
def test_a_loop_on_the_testers_cpu_spoils_the_trial(
    dut: PollingThreadRecord, seen_ns: dict[int, int], facts: tuple[str, ...], says: Says
) -> None:
    (finding,) = found(dut, seen_ns)
    assert (finding.outcome, finding.invalidates_trial) == ("invalid", True)
    assert finding.text == says(*facts)


def test_a_loop_on_its_own_cpu_is_none() -> None:
    assert found(thread("testpmd", 201, 1)) == []
    assert found(thread("testpmd", 201, 1), {201: 1000}) == []
    assert shared_cpu(None, {201: MS}) == []


def test_it_comes_first_and_makes_a_failed_trial_invalid() -> None:
    lost = Finding("loss-ratio", "0 to 1", 0.1, 0.0, "ratio", "fail", "lost")
    shared = found(thread("testpmd", 201, 0))
    judged = Judgement("fail", (lost,)).spoiled_by(shared)
    assert judged.verdict == "invalid"
    assert judged.findings == (*shared, lost)
    assert Judgement("fail", (lost,)).spoiled_by([]) == Judgement("fail", (lost,))
