"""Criteria on hosts, held to rows that were written by hand."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.record.samples.metric_type import MetricType
from plimsoll.trial.criteria.criterion import Criterion
from plimsoll.trial.criteria.hosts.host_criterion import HostCriterion
from plimsoll.trial.criteria.loss_ratio import LossRatio
from plimsoll.trial.criteria.registry import CriterionSettings, host_criteria_kinds
from plimsoll.trial.judging.tester import TesterLimits as Limits
from plimsoll.trial.judging.verdict import judge, judge_goals
from plimsoll.trial.outcome.finding import Finding
from plimsoll.trial.outcome.host_metrics import HostMetrics, observed_types
from tests.unit.trial.host_record import (
    PERIOD,
    HostRecord,
    Series,
    interrupts,
    observed_host,
    share,
)
from tests.unit.trial.trial_builder import (
    LOAD_BACK,
    LOAD_OUT,
    PROBE,
    PROBE_PPS,
    RATE_PPS,
    outcome,
    stream_counts,
)
from tests.worded.says import Says


def criterion(**settings: Any) -> Criterion:
    made: Criterion = TypeAdapter(CriterionSettings).validate_python(settings)
    return made


def found(metrics: HostMetrics | None, **settings: Any) -> Finding:
    (finding,) = criterion(**settings).evaluate(replace(outcome(), host=metrics))
    return finding


@pytest.fixture
def run(tmp_path: Path) -> RunDirectory:
    return RunDirectory.create(tmp_path, "demo", {})


@pytest.fixture
def record(run: RunDirectory) -> HostRecord:
    return HostRecord(run)


def throttled(cgroup: str, process: str, periods: int) -> Series:
    return Series(
        "cgroup",
        "cpu-throttled-periods-sec",
        {"cgroup": cgroup, "process": process},
        ((0, 4, 0), (4, 5, periods), (5, 10, 0)),
        unit="periods/s",
        counted=True,
    )


def faults(*counts: tuple[float, float, int]) -> Series:
    return Series("sar-mem", "Page-major-faults-sec", {}, counts, unit="faults/s", counted=True)


def test_stolen_time_is_reported_for_the_worst_cpu_under_test(
    record: HostRecord, says: Says
) -> None:
    metrics = record.write(
        share(0, "steal", 0.0004), share(1, "steal", 0.0025), share(2, "steal", 0.4)
    )
    finding = found(metrics, kind="steal", at_most="0.1%")
    assert finding == Finding(
        rule="steal",
        subject="bench-07 CPU 1",
        value=0.0025,
        limit=0.001,
        unit="ratio",
        outcome="invalid",
        text=says("bench-07 CPU 1:", "0.25 %", "0.1 %"),
        invalidates_trial=True,
    )
    kept = found(metrics, kind="steal", at_most="0.25%")
    assert (kept.outcome, kept.invalidates_trial) == ("ok", False)
    assert found(metrics, kind="steal", on_breach="fail").outcome == "fail"
    everywhere = found(metrics, kind="steal", cpus="all")
    assert everywhere.subject == "bench-07 CPU 2"


def test_interrupts_are_those_of_the_duts_cpus_with_the_most_frequent_named(
    record: HostRecord,
    says: Says,
) -> None:
    metrics = record.write(
        interrupts(0, "LOC", "Local timer interrupts", [1000] * 10),
        interrupts(1, "LOC", "Local timer interrupts", [100] * 10),
        interrupts(1, "31", "nic-rx-0", [0] * 9 + [500]),
    )
    finding = found(metrics, kind="dut-interrupts", at_most=100)
    assert finding.value == pytest.approx(150.0)
    assert finding.outcome == "fail"
    assert not finding.invalidates_trial
    assert finding.text == says("bench-07", "1", "150", "100", "LOC")
    without = found(metrics, kind="dut-interrupts", at_most=50, without=["LOC"])
    assert without.value == pytest.approx(50.0)
    assert without.outcome == "ok"
    worst = found(metrics, kind="dut-interrupts", at_most=100, statistic="max", without=["LOC"])
    assert worst.value == pytest.approx(500.0)
    assert worst.text == says("500", "31", "nic-rx-0")


@pytest.mark.parametrize(
    ("polled", "outcome_of_breach"),
    [({"tester": "0", "dut": "1"}, "invalid"), ({"dut": "1"}, "fail")],
)
def test_major_faults_are_held_against_the_dut_only_on_its_own_host(
    run: RunDirectory, polled: dict[str, str], outcome_of_breach: str, says: Says
) -> None:
    metrics = HostRecord(run, (observed_host(polled=polled),)).write(
        faults((-1, 0, 9), (0, 3, 0), (3, 4, 2), (4, 12, 0))
    )
    finding = found(metrics, kind="major-faults")
    assert (finding.value, finding.outcome) == (2, outcome_of_breach)
    assert finding.text == says("bench-07", "2", "0")
    assert found(metrics, kind="major-faults", at_most=2).outcome == "ok"


def test_each_cgroup_is_judged_by_whose_it_is(record: HostRecord) -> None:
    metrics = record.write(
        throttled("/dut.slice", "dpdk-testpmd", 40),
        throttled("/user.slice", "agent plimsoll-engine", 3),
        throttled("/quiet.slice", "dpdk-testpmd", 0),
        throttled("/agent.slice", "agent", 99),
    )
    findings = criterion(kind="throttled").evaluate(replace(outcome(), host=metrics))
    assert {each.subject: (each.value, each.outcome) for each in findings} == {
        "bench-07 cgroup /dut.slice (dpdk-testpmd)": (40, "fail"),
        "bench-07 cgroup /quiet.slice (dpdk-testpmd)": (0, "ok"),
        "bench-07 cgroup /user.slice (agent plimsoll-engine)": (3, "invalid"),
    }


def test_a_polling_loop_needs_its_cpu_to_itself(record: HostRecord, says: Says) -> None:
    metrics = record.write(share(0, "usr", 0.97), share(1, "usr", 0.985), share(2, "usr", 0.01))
    dut = found(metrics, kind="busy")
    assert (dut.subject, dut.limit, dut.outcome) == ("bench-07 CPU 1", 0.99, "fail")
    assert dut.value == pytest.approx(0.985)
    assert dut.text == says("bench-07", "CPU", "1", "98.5", "99")
    assert found(metrics, kind="busy", at_least="98%").outcome == "ok"
    tester = found(metrics, kind="busy", cpus="tester")
    assert (tester.subject, tester.outcome) == ("bench-07 CPU 0", "invalid")


def test_what_the_tester_did_is_not_hidden_by_a_dut_that_is_worse(record: HostRecord) -> None:
    metrics = record.write(share(0, "usr", 0.985), share(1, "usr", 0.9), share(2, "usr", 0.01))
    both = criterion(kind="busy", cpus="under-test")
    findings = both.evaluate(replace(outcome(), host=metrics))
    assert [(each.subject, each.outcome) for each in findings] == [
        ("bench-07 CPU 0", "invalid"),
        ("bench-07 CPU 1", "fail"),
    ]
    assert found(metrics, kind="busy", cpus="under-test", on_breach="fail").value == 0.9


def test_any_metric_can_be_bounded(record: HostRecord, says: Says) -> None:
    metrics = record.write(share(0, "soft", 0.25), share(1, "soft", 0.5), share(2, "soft", 0.125))
    settings = {"kind": "host-metric", "source": "mpstat", "type": "Busy-CPU"}
    together = found(metrics, **settings, where={"type": "soft"}, at_most=0.8)
    assert (together.subject, together.value, together.outcome) == ("bench-07", 0.875, "fail")
    assert together.text == says("bench-07", "mpstat", "Busy-CPU", "0.875", "0.8")
    by_cpu = found(metrics, **settings, where={"type": ["soft", "irq"]}, cpus="all", at_most=0.5)
    assert (by_cpu.subject, by_cpu.value, by_cpu.outcome) == ("bench-07 CPU 1", 0.5, "ok")
    one = found(metrics, **settings, where={"cpu": 2}, at_least=0.2, on_breach="invalid")
    assert (one.value, one.outcome, one.invalidates_trial) == (0.125, "invalid", True)
    without = found(metrics, **settings, without={"num": [1]}, at_most=1, statistic="max")
    assert without.value == pytest.approx(0.375)


def test_a_maximum_over_time_is_the_maximum(run: RunDirectory, says: Says) -> None:
    record = HostRecord(run, (observed_host(sources=("thermal",)),))
    metrics = record.write(
        Series(
            "thermal",
            "temperature-celsius",
            {"zone": "a"},
            ((0, 9, 40.0), (9, 10, 90.0)),
            "°C",
            "max",
        ),
        Series("thermal", "temperature-celsius", {"zone": "b"}, ((0, 10, 60.0),), "°C", "max"),
    )
    settings = {"kind": "host-metric", "source": "thermal", "type": "temperature-celsius"}
    worst = found(metrics, **settings, at_most=85)
    assert (worst.value, worst.outcome) == (90.0, "fail")
    assert worst.text == says("bench-07", "thermal", "temperature-celsius", "90", "85")
    # Zone a came to 9 * 40 + 90 over ten seconds, b to 60 all the time.
    assert found(metrics, **settings, at_most=85, statistic="mean").value == 60.0


def test_the_lowest_reading_can_be_bounded(record: HostRecord, says: Says) -> None:
    values = ((0, 4, 0.9), (4, 5, 0.25), (5, 10, 1.0))
    metrics = record.write(Series("mpstat", "Busy-CPU", {"num": "1", "type": "usr"}, values))
    settings = {"kind": "host-metric", "source": "mpstat", "type": "Busy-CPU", "statistic": "min"}
    lowest = found(metrics, **settings, at_least=0.5)
    assert lowest.text == says("bench-07", "mpstat", "Busy-CPU", "0.25", "0.5")
    assert lowest.outcome == "fail"


@pytest.mark.parametrize("statistic", [None, "mean"])
def test_a_quantile_of_readings_is_no_quantile_of_the_time(
    monkeypatch: pytest.MonkeyPatch, statistic: str | None, says: Says
) -> None:
    wait = MetricType("disk", "p99-wait-usec", "count", "us", "max")
    known = "plimsoll.trial.criteria.hosts.host_metric.observed_types"
    monkeypatch.setattr(known, lambda: {("disk", "p99-wait-usec"): wait})
    settings = {"kind": "host-metric", "source": "disk", "type": "p99-wait-usec", "at_most": 5}
    with pytest.raises(ValidationError) as caught:
        criterion(**settings, statistic=statistic)
    assert caught.value == says()
    assert isinstance(made := criterion(**settings, statistic="max"), HostCriterion)
    assert made.bound.statistic == "max"


@pytest.mark.parametrize(
    ("hosts", "facts"),
    [
        ((), ("observe.enabled",)),
        (
            (observed_host(polled={}),),
            ("polled_cpus", "observe.hosts"),
        ),
        (
            (observed_host(sources=(), missing={"mpstat": "/proc/stat cannot be read"}),),
            ("bench-07", "mpstat", "/proc/stat", "read"),
        ),
        (
            (observed_host(sources=("procstat",)),),
            ("bench-07", "observe.sources"),
        ),
        (
            (observed_host(polled={"tester": "0", "dut": "1,5"}),),
            ("bench-07", "5"),
        ),
    ],
)  # fmt: skip
def test_what_was_not_observed_is_invalid_and_says_what_would_help(
    run: RunDirectory, hosts: tuple[Any, ...], facts: tuple[str, ...], says: Says
) -> None:
    metrics = HostRecord(run, hosts).write(share(0, "steal", 0.0), share(1, "steal", 0.0))
    finding = found(metrics, kind="steal")
    assert (finding.value, finding.outcome, finding.invalidates_trial) == (None, "invalid", False)
    assert finding.text == says(*facts)


def test_a_trial_without_metrics_is_invalid(record: HostRecord, says: Says) -> None:
    assert found(None, kind="busy").outcome == "invalid"
    nothing = HostMetrics(record.run, PERIOD, record.hosts, 0, 1000)
    assert found(nothing, kind="major-faults").text == says("bench-07", "major-faults")


@pytest.mark.parametrize("kind", sorted(host_criteria_kinds() - {"host-metric"}))
def test_what_each_criterion_asks_for_is_reported_by_an_observer(kind: str) -> None:
    needed = {"at_most": 1} if kind == "dut-interrupts" else {}
    made = criterion(kind=kind, **needed)
    assert isinstance(made, HostCriterion)
    metric = observed_types()[made.bound.question.source, made.bound.question.type]
    assert metric.counted or made.bound.statistic != "total"


def test_what_was_observed_for_part_of_the_time_is_invalid(record: HostRecord, says: Says) -> None:
    metrics = record.write(faults((0, 8, 0)))
    finding = found(metrics, kind="major-faults")
    assert finding.outcome == "invalid"
    assert finding.text == says("8", "10")
    enough = record.write(faults((0, 9.5, 0)))
    assert found(enough, kind="major-faults").outcome == "ok"


def test_a_spoiled_trial_is_invalid_though_the_dut_lost_frames(record: HostRecord) -> None:
    metrics = record.write(share(0, "steal", 0.0), share(1, "steal", 0.2))
    lossy = replace(outcome(lost=5000), host=metrics)
    judgement = judge(lossy, [LossRatio(), criterion(kind="steal")], Limits())
    assert judgement.verdict == "invalid"
    assert [each.rule for each in judgement.reasons] == ["steal"]
    goals: dict[str, list[Criterion]] = {
        "lossless": [LossRatio()],
        "guarded": [LossRatio(), criterion(kind="steal")],
    }
    verdicts = {goal: each.verdict for goal, each in judge_goals(lossy, goals, Limits()).items()}
    assert verdicts == {"lossless": "fail", "guarded": "invalid"}


def test_a_host_criterion_that_fails_or_is_unknown_yields_to_no_loss(record: HostRecord) -> None:
    metrics = record.write(share(0, "usr", 1.0), share(1, "usr", 0.5))
    clean = replace(outcome(), host=metrics)
    judgement = judge(clean, [LossRatio(), criterion(kind="busy")], Limits())
    assert (judgement.verdict, judgement.reasons[0].rule) == ("fail", "busy")
    unknown = criterion(kind="major-faults")
    assert judge(clean, [LossRatio(), unknown], Limits()).verdict == "invalid"
    lossy = replace(outcome(lost=5000), host=metrics)
    assert judge(lossy, [LossRatio(), unknown], Limits()).verdict == "fail"


def test_a_spoiled_trial_that_was_stopped_is_not_called_unfinished(record: HostRecord) -> None:
    metrics = record.write(share(0, "steal", 0.0), share(1, "steal", 0.2))
    streams = [
        stream_counts(LOAD_OUT, RATE_PPS * 2),
        stream_counts(LOAD_BACK, RATE_PPS * 2),
        stream_counts(PROBE, PROBE_PPS * 2),
    ]
    stopped = outcome(streams=streams, sending_s=2.0, ended_by="stop")
    assert [each.rule for each in judge(stopped, [], Limits()).reasons] == ["runtime"]
    judgement = judge(replace(stopped, host=metrics), [criterion(kind="steal")], Limits())
    assert [each.rule for each in judgement.reasons] == ["steal"]
