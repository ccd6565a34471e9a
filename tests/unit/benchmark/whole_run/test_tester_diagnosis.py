from plimsoll.benchmark.whole_run.diagnosis import diagnose
from plimsoll.record.trials.finding_record import FindingRecord
from plimsoll.record.trials.trial_parts import (
    OtherProcessRecord,
    PollingThreadRecord,
    ScheduleRecord,
)
from plimsoll.record.trials.trial_record import TrialRecord
from tests.unit.record.trial_parts import record
from tests.worded.says import Says

MS = 1_000_000


def _thread(process: str, cpu: int, wait_ms: int) -> PollingThreadRecord:
    return PollingThreadRecord(
        process=process,
        pid=10,
        tid=11,
        cpu=cpu,
        run_ns=0,
        wait_ns=wait_ms * MS,
        slices=9,
        involuntary_switches=8,
    )


def _other(
    comm: str, pid: int, run_ms: int, slices: int, *, cpu: int = 0, pinned: bool = True
) -> OtherProcessRecord:
    return OtherProcessRecord(
        comm=comm, pid=pid, cpu=cpu, pinned=pinned, run_ns=run_ms * MS, slices=slices
    )


def _schedule(wait_ms: int, *others: OtherProcessRecord) -> ScheduleRecord:
    """Of five seconds; the DUT's loop waits as well, and is no reason."""
    threads = (_thread("tester", 0, wait_ms), _thread("dut", 1, 4000))
    return ScheduleRecord(watched_s=5.0, threads=threads, others=others)


def _invalid(
    number: int, short: float, schedule: ScheduleRecord | None, rule: str = "offered-rate"
) -> TrialRecord:
    finding = FindingRecord(
        rule=rule,
        subject="load",
        value=short,
        limit=0.05,
        unit="ratio",
        outcome="invalid",
        text=f"load: {short:.0%} off",
    )
    plain = record(number, verdict="invalid", findings=(finding,))
    return plain.model_copy(update={"schedule": schedule})


def test_who_took_the_testers_cpu_is_said_first(says: Says) -> None:
    """400 and 760 of 2 x 5000 ms are 11.6 %."""
    java, cron = _other("java", 812, 500, 300), _other("cron", 99, 20, 7, pinned=False)
    diagnosis = diagnose(
        [
            _invalid(1, 0.2, _schedule(400, cron, java)),
            _invalid(2, 0.66, _schedule(760, _other("java", 812, 640, 240))),
        ]
    )
    assert diagnosis is not None
    assert diagnosis.sentences == (
        says("0", "11.6", "java", "812", "540", "1.1s", "cron", "99", "7", "20ms"),
        says("2"),
        says("66%"),
    )
    assert diagnosis == says()


def test_who_ran_on_the_duts_cpu_is_not_to_blame_for_the_tester(says: Says) -> None:
    diagnosis = diagnose([_invalid(1, 0.2, _schedule(400, _other("java", 812, 500, 300, cpu=1)))])
    assert diagnosis is not None
    assert diagnosis.sentences[0] == says("0", "8")


def test_a_tester_that_had_its_cpu_is_too_slow(says: Says) -> None:
    diagnosis = diagnose([_invalid(1, 0.2, _schedule(1)), _invalid(2, 0.3, None)])
    assert diagnosis is not None
    assert diagnosis.sentences[0] == says("2")
    assert diagnosis == says("generator.cpus")


def test_stalls_that_no_process_explains_are_sought_beneath_them(says: Says) -> None:
    diagnosis = diagnose([_invalid(1, 0.2, _schedule(1), rule="stalled-share")])
    assert diagnosis is not None
    assert diagnosis == says()


def test_a_run_whose_last_trial_was_valid_ended_for_another_reason() -> None:
    trials = [_invalid(1, 0.2, None), record(2, verdict="fail"), record(3, verdict="none")]
    assert diagnose(trials) is None
    assert diagnose([]) is None
