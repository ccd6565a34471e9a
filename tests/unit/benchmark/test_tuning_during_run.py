"""What the counters of a trial add to an audit; figures worked out from the rows by hand."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from plimsoll.record.run.audit_record import AuditRecord
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.report.tuning.tuning_during_run import Happening, happenings, joined, joint
from plimsoll.trial.outcome.host_metrics import HostMetrics
from plimsoll.tune.audit.finding import CheckVerdict
from tests.unit.benchmark.audits import audit_of, finding
from tests.unit.trial.host_record import (
    HOSTNAME,
    HostRecord,
    Series,
    interrupts,
    observed_host,
)
from tests.worded.says import Says

NUMBERS = (3, 13, 15, 16, 33, 34, 43, 47)
AUDIT = audit_of(HOSTNAME, *(finding(number, "ok") for number in NUMBERS))


def counted(source: str, kind: str, names: dict[str, str], total: int, **more: Any) -> Series:
    return Series(source, kind, names, ((0, 10, total),), unit="1/s", counted=True, **more)


@pytest.fixture
def record(tmp_path: Path) -> HostRecord:
    return HostRecord(RunDirectory(tmp_path))


def judgements(
    metrics: HostMetrics | None, trial: Any = None, audit: AuditRecord = AUDIT
) -> dict[int, tuple[CheckVerdict, str]]:
    return {each.number: (each.verdict, each.text) for each in happenings(audit, metrics, trial)}


def test_interrupts_of_the_cpus_under_test_by_kind(record: HostRecord, says: Says) -> None:
    """In ten seconds: a tick of 250 Hz on CPU 1, 5 interrupts of a card on CPU 0."""
    metrics = record.write(
        interrupts(0, "LOC", "Local timer interrupts", [1] * 10),
        interrupts(1, "LOC", "Local timer interrupts", [250] * 10),
        interrupts(0, "31", "eth0-rx", [5, *[0] * 9]),
        # Housekeeping is no CPU under test.
        interrupts(2, "32", "nvme0q1", [9999] * 10),
        counted("procstat", "softirqs-sec", {"cpu": "1", "type": "TIMER"}, 30),
    )
    found = judgements(metrics)
    assert found[33] == ("fail", says("31", "eth0-rx", "0.5"))
    assert found[3] == ("fail", says("250"))
    assert found[34] == (
        "fail",
        says("LOC", "250", "0.5", "TIMER", "3"),
    )


def test_devices_of_different_cpus_are_not_added_up(record: HostRecord, says: Says) -> None:
    """Two queues of a card interrupt one CPU, and a third another."""
    metrics = record.write(
        interrupts(0, "30", "eth0-rx0", [100] * 10),
        interrupts(0, "31", "eth0-rx1", [20] * 10),
        interrupts(1, "32", "eth0-rx2", [100] * 10),
    )
    assert judgements(metrics)[34] == ("fail", says("120"))


def test_a_quiet_cpu_is_ok(record: HostRecord) -> None:
    metrics = record.write(
        interrupts(0, "LOC", "Local timer interrupts", [1] * 10),
        interrupts(0, "31", "eth0-rx", [0] * 10),
    )
    found = judgements(metrics)
    assert {found[number][0] for number in (3, 33, 34)} == {"ok"}


def test_a_tick_without_devices_is_a_warning_of_34(record: HostRecord) -> None:
    metrics = record.write(interrupts(0, "LOC", "Local timer interrupts", [100] * 10))
    assert judgements(metrics)[34][0] == "warn"


def test_an_arm_cpus_timer_is_its_tick_and_no_device(record: HostRecord, says: Says) -> None:
    found = judgements(record.write(interrupts(0, "11", "arch_timer", [250] * 10)))
    assert found[3] == ("fail", says("250"))
    assert found[33][0] == "ok"
    assert found[34] == ("warn", says("arch_timer", "250"))


def test_deep_idle_states(record: HostRecord, says: Says) -> None:
    entries = ("cpuidle", "entries-sec")
    shallow = counted(*entries, {"num": "1", "state": "C1_ACPI"}, 400)
    assert judgements(record.write(shallow))[13][0] == "ok"
    deep = counted(*entries, {"num": "1", "state": "C6"}, 1200)
    elsewhere = counted(*entries, {"num": "3", "state": "C8"}, 7)
    found = judgements(record.write(shallow, deep, elsewhere))
    assert found[13] == ("fail", says("C6", "1,200"))


def test_throttled_periods(record: HostRecord, says: Says) -> None:
    kind = "cpu-throttled-periods-sec"
    names = {"cgroup": "/dut.slice", "process": "dpdk-testpmd"}
    assert judgements(record.write(counted("cgroup", kind, names, 0)))[43][0] == "ok"
    found = judgements(record.write(counted("cgroup", kind, names, 4)))
    assert found[43] == ("fail", says("/dut.slice", "4"))


def test_smis_are_those_of_the_package_with_most(record: HostRecord, says: Says) -> None:
    """Every package counts the same SMIs."""
    each = [
        counted("smi", "smis-sec", {"package": package}, 3, aggregation="max") for package in "01"
    ]
    assert judgements(record.write(*each))[16] == ("fail", says("3"))


def test_the_range_of_frequencies(record: HostRecord, says: Says) -> None:
    def mhz(cpu: int, *values: float) -> Series:
        steps = tuple((5.0 * n, 5.0 * n + 5, value) for n, value in enumerate(values))
        return Series("cpufreq", "MHz", {"num": str(cpu)}, steps, aggregation="mean")

    assert judgements(record.write(mhz(0, 2400, 2400), mhz(1, 2400, 2390)))[15][0] == "ok"
    found = judgements(record.write(mhz(0, 2400, 2400), mhz(1, 2400, 1200)))
    assert found[15] == ("warn", says("1,800", "2,400", "MHz"))


@pytest.mark.parametrize(
    ("stalls", "worst_ns", "verdict"),
    [(0, 0, "ok"), (3, 15_000, "ok"), (3, 400_000, "warn"), (3, 4_810_000, "fail")],
)
def test_the_testers_own_loops_are_a_noise_floor(
    stalls: int, worst_ns: int, verdict: CheckVerdict
) -> None:
    trial = SimpleNamespace(workers=(SimpleNamespace(stalls=stalls, worst_stall_ns=worst_ns),))
    found = judgements(None, trial)
    assert found[47][0] == verdict
    assert list(found) == [47]


def test_another_hosts_counters_are_not_this_ones(record: HostRecord) -> None:
    metrics = record.write(interrupts(0, "31", "eth0-rx", [5] * 10))
    elsewhere = audit_of("another-host", finding(33, "ok"))
    assert list(happenings(elsewhere, metrics, None)) == []


def of_dut(**changed: object) -> AuditRecord:
    """Of the other host, where the CPUs under test are not declared."""
    own = {"role": "observed", "under_test": "2-3", **changed}
    return audit_of("dut-7", *AUDIT.findings).model_copy(update=own)


@pytest.fixture
def two_hosts(record: HostRecord) -> HostMetrics:
    """On the tester a card interrupts CPU 0 five times, on the DUT CPU 2 seven and CPU 1 nine."""
    hosts = (observed_host(), observed_host("dut-7", {"dut": ""}))
    record = HostRecord(record.run, hosts)
    record.write(interrupts(0, "31", "eth0-rx", [5] + [0] * 9))
    dut = [
        replace(each, hostname="dut-7")
        for each in (
            interrupts(2, "40", "ice-q0", [7] + [0] * 9),
            interrupts(1, "41", "nvme0q1", [9] + [0] * 9),
            counted("cgroup", "cpu-throttled-periods-sec", {"cgroup": "/dut"}, 4),
            counted("smi", "smis-sec", {"package": "0"}, 2, aggregation="max"),
        )
    ]
    return record.write(*dut, hostname="dut-7")


def test_each_host_has_what_happened_on_its_own_cpus(two_hosts: HostMetrics, says: Says) -> None:
    devices = "devices interrupted CPUs under test, a second:"
    assert judgements(two_hosts)[33] == ("fail", f"{devices} 31 eth0-rx 0.5")
    found = judgements(two_hosts, audit=of_dut())
    assert found[33] == ("fail", f"{devices} 40 ice-q0 0.7")
    assert found[43] == ("fail", says("/dut", "4"))
    assert found[16] == ("fail", says("2"))
    assert {16, 43}.isdisjoint(judgements(two_hosts))


def test_where_the_cpus_under_test_are_not_known_nothing_is_reported_of_them(
    two_hosts: HostMetrics,
) -> None:
    assert sorted(judgements(two_hosts, audit=of_dut(under_test=""))) == [16, 43]


def test_the_testers_loops_are_none_of_another_host() -> None:
    trial = SimpleNamespace(workers=(SimpleNamespace(stalls=3, worst_stall_ns=4_810_000),))
    assert list(judgements(None, trial)) == [47]
    assert judgements(None, trial, of_dut()) == {}


def test_nothing_is_found_of_a_host_that_was_not_audited(two_hosts: HostMetrics) -> None:
    unread = AuditRecord.not_audited("observed", "ssh://dut", "dut-7", "no route")
    assert joined(unread, two_hosts, None) == ()


@pytest.mark.parametrize(
    ("number", "static", "happened", "both"),
    [
        (33, "ok", "ok", "ok"),
        (33, "ok", "fail", "fail"),
        (33, "fail", "ok", "warn"),
        (33, "warn", "ok", "warn"),
        (33, "fail", "warn", "fail"),
        (33, "unknown", "ok", "ok"),
        (33, "unknown", "fail", "fail"),
        (33, "not-applicable", "fail", "fail"),
        (33, "fail", None, "fail"),
        (33, "unknown", None, "unknown"),
        # A tick is no harm where no CPUs without one were requested.
        (3, "not-applicable", "fail", "not-applicable"),
        (3, "ok", "fail", "fail"),
    ],
)
def test_two_verdicts_become_one(
    number: int, static: CheckVerdict, happened: CheckVerdict | None, both: CheckVerdict
) -> None:
    happening = Happening(number, happened, "") if happened else None
    assert joint(finding(number, static), happening) == both


def test_the_worst_come_first(record: HostRecord) -> None:
    metrics = record.write(interrupts(0, "31", "eth0-rx", [5] * 10))
    audit = audit_of(
        HOSTNAME, finding(21, "ok"), finding(22, "warn"), finding(27, "unknown"), finding(33, "ok")
    )
    lines = joined(audit, metrics, None)
    assert [(line.static.number, line.verdict) for line in lines] == [
        (33, "fail"),
        (22, "warn"),
        (27, "unknown"),
        (21, "ok"),
    ]
    assert lines[1].happened is None
