"""What is drawn from a host's rows: every expectation was computed by hand."""

from pathlib import Path

import pytest

from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.trial.outcome.host_metrics import CpuRole, HostFigure, HostMetrics, HostQuestion
from tests.unit.trial.host_record import (
    BEGIN_MS,
    HostRecord,
    Series,
    interrupts,
    observed_host,
    share,
)

INTERRUPTS = HostQuestion("procstat", "interrupts-sec", cpus="all")


@pytest.fixture
def record(tmp_path: Path) -> HostRecord:
    return HostRecord(RunDirectory.create(tmp_path, "demo", {}))


def only(metrics: HostMetrics, question: HostQuestion) -> HostFigure:
    (figure,) = metrics.figures(question)
    return figure


def test_a_row_of_any_length_weighs_by_what_of_it_frames_were_sent_in(record: HostRecord) -> None:
    steal = ("type", ("steal",))
    values = ((-5.0, 2.0, 0.5), (2.0, 12.0, 0.0))
    metrics = record.write(Series("mpstat", "Busy-CPU", {"num": "1", "type": "steal"}, values))
    figure = only(metrics, HostQuestion("mpstat", "Busy-CPU", where=(steal,), cpus="all"))
    # Two of the ten seconds at a half.
    assert figure.mean == pytest.approx(0.1)
    assert (figure.peak, figure.total, figure.observed_s) == (0.5, None, 10.0)
    assert figure.names == {"cpu": "1"}
    assert figure.unit == "CPUs"


def test_interrupts_of_one_cpu_are_added_up_moment_by_moment(record: HostRecord) -> None:
    timer = [100, 0, 0, 0, 0, 0, 0, 0, 0, 0]
    queue = [0, 0, 0, 0, 70, 0, 0, 0, 0, 30]
    # One row as long as the trial, as a counter has that stands still.
    still = Series(
        "procstat",
        "interrupts-sec",
        {"cpu": "1", "irq": "NMI", "desc": "Non-maskable interrupts"},
        ((-1, 12, 0),),
        counted=True,
    )
    metrics = record.write(
        interrupts(1, "LOC", "Local timer interrupts", timer),
        interrupts(1, "31", "nic-rx-0", queue),
        still,
    )
    figure = only(metrics, INTERRUPTS)
    assert figure.mean == pytest.approx(20.0)
    assert figure.peak == pytest.approx(100.0)
    assert figure.total == 200


def test_the_highest_moment_is_that_of_the_sum(record: HostRecord) -> None:
    metrics = record.write(
        interrupts(1, "31", "nic-rx-0", [10, 40, 10, 0, 0, 0, 0, 0, 0, 0]),
        interrupts(1, "32", "nic-rx-1", [5, 45, 5, 60, 0, 0, 0, 0, 0, 0]),
    )
    assert only(metrics, INTERRUPTS).peak == pytest.approx(85.0)


def test_a_bound_of_zero_is_not_broken_by_how_floats_cancel_out(record: HostRecord) -> None:
    series = [interrupts(1, str(n), "nic", [0] * 10) for n in range(3)]
    assert only(record.write(*series), INTERRUPTS).peak == 0.0
    # 0.1 + 0.2 - 0.1 - 0.2 is not 0 in floats.
    tenths = [
        Series("sar-net", "L2-Gbps", {"dev": name}, ((0, 1, value), (1, 12, 0)), unit="Gbit/s")
        for name, value in (("a", 0.1), ("b", 0.2))
    ]
    metrics = record.write(*tenths, period="trial-0002")
    later = metrics.during((BEGIN_MS + 1000) * 10**6, 9.0)
    assert only(later, HostQuestion("sar-net", "L2-Gbps")).peak == 0.0


def test_a_count_belongs_to_the_reading_whose_middle_lies_in_the_time(record: HostRecord) -> None:
    values = ((-0.6, 0.4, 7), (0.4, 1.4, 2), (1.4, 9.4, 0), (9.4, 10.4, 3), (10.4, 11.4, 9))
    metrics = record.write(
        Series("sar-mem", "Page-major-faults-sec", {}, values, unit="faults/s", counted=True)
    )
    figure = only(metrics, HostQuestion("sar-mem", "Page-major-faults-sec"))
    # 7 were before the first frame, mostly; of the 3, most of the reading was before the last.
    assert figure.total == 2 + 3
    assert figure.mean == pytest.approx((0.4 * 7 + 2 + 0.6 * 3) / 10)


@pytest.mark.parametrize(
    ("aggregation", "mean", "peak", "low"),
    # Together they come to 30, then 50; by themselves to 5 and 35, at most to 10 and 50, at
    # least to 0 and 20.
    [
        ("sum", 40.0, 50.0, 30.0),
        ("mean", 20.0, 25.0, 15.0),
        ("max", 35.0, 50.0, 20.0),
        ("min", 5.0, 10.0, 0.0),
    ],
)
def test_series_are_drawn_together_as_their_metric_says(
    record: HostRecord, *, aggregation: str, mean: float, peak: float, low: float
) -> None:
    values = {"0": ((0, 5, 10.0), (5, 10, 0.0)), "1": ((0, 5, 20.0), (5, 10, 50.0))}
    metrics = record.write(
        *(
            Series("thermal", "Celsius", {"zone": zone}, rows, "°C", aggregation)
            for zone, rows in values.items()
        )
    )
    figure = only(metrics, HostQuestion("thermal", "Celsius"))
    assert (figure.mean, figure.peak, figure.low) == pytest.approx((mean, peak, low))


def test_no_moment_is_low_because_a_series_was_not_seen(record: HostRecord) -> None:
    whole = Series("sar-net", "L2-Gbps", {"dev": "a"}, ((0, 10, 5.0),), unit="Gbit/s")
    part = Series("sar-net", "L2-Gbps", {"dev": "b"}, ((2, 6, 3.0), (6, 8, 1.0)), unit="Gbit/s")
    figure = only(record.write(whole, part), HostQuestion("sar-net", "L2-Gbps"))
    # 5, then 5 + 3, then 5 + 1, then 5 again.
    assert (figure.peak, figure.low) == (8.0, 6.0)


def test_a_gap_is_neither_zero_nor_carried_on(record: HostRecord) -> None:
    values = ((0.0, 3.0, 1.0), (7.0, 9.0, 0.5))
    metrics = record.write(Series("mpstat", "Busy-CPU", {"num": "1", "type": "usr"}, values))
    figure = only(metrics, HostQuestion("mpstat", "Busy-CPU"))
    assert figure.mean == pytest.approx((3 * 1.0 + 2 * 0.5) / 5)
    assert figure.observed_s == 5.0


@pytest.mark.parametrize(
    ("cpus", "found"),
    [
        ("dut", ["1"]),
        ("tester", ["0"]),
        ("under-test", ["0", "1"]),
        ("housekeeping", ["2", "3"]),
        ("all", ["0", "1", "2", "3"]),
    ],
)
def test_cpus_are_chosen_by_whose_they_are(
    record: HostRecord, cpus: CpuRole, found: list[str]
) -> None:
    metrics = record.write(*(share(cpu, "usr", cpu / 10) for cpu in range(4)))
    figures = metrics.figures(HostQuestion("mpstat", "Busy-CPU", cpus=cpus))
    assert [each.names["cpu"] for each in figures] == found
    assert [each.mean for each in figures] == pytest.approx([int(cpu) / 10 for cpu in found])


def test_the_cpus_of_one_host_are_not_those_of_another(tmp_path: Path) -> None:
    hosts = (observed_host("tester", {"tester": "0"}), observed_host("dut", {"dut": "0,2-3"}))
    record = HostRecord(RunDirectory.create(tmp_path, "demo", {}), hosts)
    record.write(*(share(cpu, "usr", 1.0, hostname="dut") for cpu in range(4)), hostname="dut")
    metrics = record.write(*(share(cpu, "usr", 0.5, hostname="tester") for cpu in range(2)))
    figures = metrics.figures(HostQuestion("mpstat", "Busy-CPU", cpus="dut"))
    assert [(each.hostname, each.names["cpu"]) for each in figures] == [
        ("dut", "0"),
        ("dut", "2"),
        ("dut", "3"),
    ]
    assert [host.hostname for host in metrics.concerned("dut")] == ["dut"]
    assert [host.hostname for host in metrics.concerned("housekeeping")] == ["tester", "dut"]


def test_names_keep_apart_and_leave_out(record: HostRecord) -> None:
    metrics = record.write(
        interrupts(1, "LOC", "Local timer interrupts", [1] * 10),
        interrupts(1, "31", "nic'; DROP TABLE rows", [2] * 10),
        interrupts(2, "31", "nic'; DROP TABLE rows", [4] * 10),
    )
    by = HostQuestion("procstat", "interrupts-sec", by=("irq", "desc"))
    assert {each.names["irq"]: each.total for each in metrics.figures(by)} == {"LOC": 10, "31": 60}
    question = HostQuestion(
        "procstat",
        "interrupts-sec",
        where=(("cpu", ("1", "7")), ("desc", ("nic'; DROP TABLE rows", "other"))),
    )
    assert only(metrics, question).total == 20
    without = HostQuestion("procstat", "interrupts-sec", without=(("irq", ("31",)),))
    assert only(metrics, without).total == 10
    hostile = HostQuestion(
        "procstat", "interrupts-sec", where=(("x'] = '' OR names['cpu", ("1",)),)
    )
    assert metrics.figures(hostile) == ()


def test_a_window_asks_for_its_own_time(record: HostRecord) -> None:
    metrics = record.write(interrupts(1, "LOC", "Local timer interrupts", range(10)))
    assert only(metrics, INTERRUPTS).total == 45
    window = metrics.during((BEGIN_MS + 2000) * 10**6, 3.0)
    assert window.length_s == 3.0
    assert only(window, INTERRUPTS).total == 2 + 3 + 4


def test_other_periods_do_not_count(record: HostRecord) -> None:
    record.write(interrupts(1, "LOC", "Local timer interrupts", [9] * 10), period="trial-0002")
    metrics = record.write(interrupts(1, "LOC", "Local timer interrupts", [1] * 10))
    assert only(metrics, INTERRUPTS).total == 10
