from plimsoll.record.trials.trial_parts import (
    OtherProcessRecord,
    PollingThreadRecord,
    ScheduleRecord,
)
from plimsoll.report.hosts.section import loop_lines
from tests.worded.says import Says


def thread(cpu: int, run_ns: int, wait_ns: int, switches: int) -> PollingThreadRecord:
    return PollingThreadRecord(
        process="tester",
        pid=7,
        tid=8,
        cpu=cpu,
        run_ns=run_ns,
        wait_ns=wait_ns,
        slices=switches + 1,
        involuntary_switches=switches,
    )


def java(cpu: int) -> OtherProcessRecord:
    return OtherProcessRecord(comm="java", pid=99, cpu=cpu, pinned=False, run_ns=1, slices=0)


def test_a_loop_that_shares_its_cpu_is_distinguished_from_the_program_that_takes_it(
    says: Says,
) -> None:
    """Both are user time to the CPU: 6 s of the loop's and 4 s of java's are 100 % user."""
    shared, alone = (
        thread(1, 6_000_000_000, 4_000_000_000, 1200),
        thread(0, 9_999_000_000, 1_000_000, 3),
    )
    first, second = loop_lines(
        ScheduleRecord(watched_s=10.0, threads=(shared, alone), others=(java(1), java(2)))
    )
    assert (first.where, first.mark) == ("tester (pid 7) CPU 0", "ok")
    assert first.figure == says("99.99", "0.01", "3")
    assert (second.where, second.mark) == ("tester (pid 7) CPU 1", "invalid")
    assert second.figure == says("60", "40", "1,200")
    assert second.meaning == says("99")


def test_nothing_is_reported_where_the_kernel_counts_nothing() -> None:
    assert loop_lines(None) == ()
