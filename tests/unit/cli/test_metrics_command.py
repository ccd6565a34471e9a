"""`plimsoll metrics`, with the queries and the table layout of the article "Build deterministic
OpenShift dataplane performance with TRex"."""

import csv
import io
import json
import shlex
import time
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from plimsoll.cli.records import metrics
from plimsoll.record.run.journal import Journal
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.terminal.options.metric_completion import (
    complete_period,
    complete_source,
    complete_type,
)
from plimsoll.terminal.options.run_choice import complete_run
from tests.unit.record.query.metric_runs import (
    BEGIN_MS,
    END_MS,
    make_run,
    row,
    sending,
    write_rows,
)
from tests.worded.says import Says

HOST = {"hostname": "y37-h13-000-r740xd", "cstype": "profiler"}
TIME = f"--period trial-0001 --begin {BEGIN_MS} --end {END_MS}"


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """A run with the article's figures, of which some are made of two halves."""
    run = make_run(tmp_path, "20251212T045318-article")
    middle_ms = (BEGIN_MS + END_MS) // 2
    ports = {"port_pair": "0:1"}
    generator = [
        row("trafficgen", "rx-pps", {**ports, "rx_port": rx, "tx_port": tx}, value)
        for rx, tx, value in (("0", "1", 13360184.86), ("1", "0", 13360783.40))
    ]
    engine = [
        row("trafficgen-engine", "rx-port-util", {"rx_port": p}, 35.92, aggregation="mean")
        for p in "01"
    ]
    host = [
        row("mpstat", "Busy-CPU", {**HOST, "num": num, "type": kind}, value)
        for num, kind, value in (
            *(("9", "usr", 1.0), ("5", "usr", 0.998), ("5", "irq", 0.002)),
            *(("10", "usr", 0.5), ("0", "sys", 0.2)),
        )
    ]
    host += [
        row("procstat", "interrupts-sec", {**HOST, "desc": desc, "cpu": cpu, "irq": irq}, value)
        for desc, cpu, irq, value in (
            *(("i40e-ens7f0-TxRx-12", "0", "7", 0.20), ("i40e-ens7f0-TxRx-12", "1", "7", 0.01)),
            *(("i40e-ens7f0-TxRx-0", "0", "8", 0.05), ("i40e-0000:87:00.0:misc", "0", "9", 0.2)),
            *(("timer", "0", "LOC", 1000.0), ("i40e-ens7f0-TxRx-39", "1", "6", 0.0)),
        )
    ]
    queue = ("sar-scheduler", "Run-Queue-Length", HOST)
    host += [row(*queue, 5.0, BEGIN_MS, middle_ms, aggregation="mean")]
    host += [row(*queue, 6.88, middle_ms, END_MS, aggregation="mean")]
    host += [row("sar-mem", "KB-Paged-in-sec", HOST, 0.31)]
    write_rows(run, "trial-0001", [sending(), *generator, *engine])
    write_rows(run, "trial-0001@y37-h13-000-r740xd", host)
    return tmp_path


def queried(runs: Path, words: str, *, code: int = 0) -> tuple[str, str]:
    """What `plimsoll metrics <words>` writes to standard output and to standard error."""
    result = CliRunner().invoke(metrics.app, [*shlex.split(words), "--runs", str(runs)])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == code, result.output
    return result.stdout, result.stderr


def table(runs: Path, words: str) -> list[str]:
    out, _ = queried(runs, f"get --run 20251212 {TIME} --utc {words}")
    return out.splitlines()


def test_received_rate_by_ports(runs: Path) -> None:
    words = "--source trafficgen --type rx-pps --breakout port_pair,rx_port,tx_port"
    assert table(runs, words) == [
        "                                              2025-12-12",
        "     source   type port_pair rx_port tx_port    07:53:45",
        "--------------------------------------------------------",
        " trafficgen rx-pps       0:1       0       1 13360184.86",
        " trafficgen rx-pps       0:1       1       0 13360783.40",
    ]


def test_busy_cpus_of_a_host_with_a_filter(runs: Path) -> None:
    words = "--source mpstat --type Busy-CPU --filter gt:0.5"
    assert table(runs, f"{words} --breakout hostname=y37-h13-000-r740xd,num,type") == [
        "                                                      2025-12-12",
        " source     type hostname=y37-h13-000-r740xd num type   07:53:45",
        "----------------------------------------------------------------",
        " mpstat Busy-CPU          y37-h13-000-r740xd   5  usr       1.00",
        " mpstat Busy-CPU          y37-h13-000-r740xd   9  usr       1.00",
    ]


def test_interrupts_of_a_host_by_what_they_are(runs: Path) -> None:
    words = "--source procstat --type interrupts-sec"
    lines = table(runs, f"{words} --breakout cstype=profiler,hostname=y37-h13-000-r740xd,desc")
    assert lines[1].split() == [
        *("source", "type", "cstype=profiler", "hostname=y37-h13-000-r740xd", "desc", "07:53:45"),
    ]
    # Two CPUs take the interrupts of queue 12: their rates are added.
    assert [line for line in lines if "i40e" in line] == [
        " procstat interrupts-sec        profiler          y37-h13-000-r740xd "
        f"{desc:>22} {value:>10}"
        for desc, value in (
            ("i40e-0000:87:00.0:misc", "0.20"),
            ("i40e-ens7f0-TxRx-0", "0.05"),
            ("i40e-ens7f0-TxRx-12", "0.21"),
            ("i40e-ens7f0-TxRx-39", "0.00"),
        )
    ]


def test_run_queue_of_a_host(runs: Path) -> None:
    words = "--source sar-scheduler --type Run-Queue-Length"
    assert table(runs, f"{words} --breakout hostname=y37-h13-000-r740xd") == [
        "                                                            2025-12-12",
        "        source             type hostname=y37-h13-000-r740xd   07:53:45",
        "----------------------------------------------------------------------",
        " sar-scheduler Run-Queue-Length          y37-h13-000-r740xd       5.94",
    ]


def test_paging_without_a_breakout(runs: Path) -> None:
    assert table(runs, "--source sar-mem --type KB-Paged-in-sec") == [
        "                         2025-12-12",
        "  source            type   07:53:45",
        "-----------------------------------",
        " sar-mem KB-Paged-in-sec       0.31",
    ]


def test_what_trex_tells_of_itself_is_answered_by_our_engine(runs: Path, says: Says) -> None:
    words = "--source trafficgen-trex-profiler --type rx-port-util --breakout rx_port"
    out, err = queried(runs, f"get --run last --utc {words}")
    assert out.splitlines()[3:] == [
        " trafficgen-engine rx-port-util       0      35.92",
        " trafficgen-engine rx-port-util       1      35.92",
    ]
    assert err == says("trafficgen-engine")


def test_a_column_for_each_window_and_blanks_for_gaps(runs: Path) -> None:
    run = RunDirectory(runs / "20251212T045318-article")
    late = (BEGIN_MS + 500, BEGIN_MS + 1000)
    write_rows(run, "trial-0002", [row("s", "t", {"n": "b"}, -1.5, *late)])
    write_rows(run, "trial-0002-002", [row("s", "t", {"n": "a"}, 2.0, BEGIN_MS, late[1])])
    words = "--period 2 --source s --type t --breakout n --resolution 2"
    out, _ = queried(runs, f"get --run last --utc {words}")
    assert out.splitlines() == [
        "                 2025-12-12   2025-12-12",
        " source type n 04:53:19.342 04:53:19.842",
        "----------------------------------------",
        "      s    t a         2.00         2.00",
        "      s    t b                     -1.50",
    ]


def test_times_are_those_of_this_host_unless_requested_in_utc(
    runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", "EAST-02:00")
    time.tzset()
    try:
        words = f"get {TIME} --source sar-mem --type KB-Paged-in-sec"
        assert queried(runs, words)[0].splitlines()[1].endswith(" 09:53:45")
        assert queried(runs, f"{words} --utc")[0].splitlines()[1].endswith(" 07:53:45")
        local = "--begin 2025-12-12T07:00 --end 2025-12-12T09:53:45.254"
        words = f"get {local} --source sar-mem --type KB-Paged-in-sec --output json"
        document = json.loads(queried(runs, words)[0])
        assert document["runs"]["20251212T045318-article"]["end_ms"] == END_MS
    finally:
        monkeypatch.undo()
        time.tzset()


def test_many_runs_have_a_column_for_the_run(runs: Path) -> None:
    for number in (1, 2):
        run = make_run(runs, f"2026010{number}T120000-other")
        span = (1000 * number, 1000 * number + 1000)
        rows = [sending(*span), row("sar-mem", "KB-Paged-in-sec", HOST, float(number), *span)]
        write_rows(run, "trial-0001", rows)
    out, _ = queried(runs, "get --run '2026*' --source sar-mem --type KB-Paged-in-sec")
    assert out.splitlines() == [
        "                                               window",
        "                   run  source            type 1 of 1",
        "-----------------------------------------------------",
        " 20260101T120000-other sar-mem KB-Paged-in-sec   1.00",
        " 20260102T120000-other sar-mem KB-Paged-in-sec   2.00",
    ]


def test_json_and_csv_keep_every_digit(runs: Path) -> None:
    words = "--source sar-scheduler --type Run-Queue-Length --breakout hostname --resolution 2"
    document = json.loads(queried(runs, f"get --run last {words} --output json")[0])
    assert document["rows"] == [
        {
            "run": "20251212T045318-article",
            "source": "sar-scheduler",
            "names": {"hostname": "y37-h13-000-r740xd"},
            "series": 1,
            "aggregation": "mean",
            "whole_range": pytest.approx(5.94),
            "values": [5.0, 6.88],
        }
    ]
    assert document["remaining_breakouts"] == {"cstype": 1}
    assert (document["aggregation"], document["unit"]) == ("mean", "1/s")
    lines = list(csv.reader(io.StringIO(queried(runs, f"get {words} --output csv")[0])))
    after = ["begin_ms", "end_ms", "value", "aggregation"]
    assert lines[0] == ["run", "source", "type", "hostname", *after]
    middle = str((BEGIN_MS + END_MS) // 2)
    assert lines[2][3:] == [HOST["hostname"], middle, str(END_MS), "6.88", "mean"]


def test_what_is_left_to_break_out_by_is_distinguished_from_the_table(
    runs: Path, says: Says
) -> None:
    _, err = queried(runs, "get --source mpstat --type Busy-CPU --breakout num")
    assert err == says("1", "type", "3")


def test_a_filter_that_nothing_passes_prints_no_table(runs: Path, says: Says) -> None:
    out, err = queried(runs, "get --source mpstat --type Busy-CPU --breakout num --filter gt:2")
    assert out == ""
    assert err == says("4", "gt:2", "0.2", "1")


def test_a_damaged_run_is_reported_after_the_others_are_answered(runs: Path, says: Says) -> None:
    bad = make_run(runs, "20260101T120000-bad")
    (bad.metrics / "trial-0001.parquet").write_text("no parquet")
    out, err = queried(runs, "get --run '2*' --source sar-mem --type KB-Paged-in-sec", code=4)
    assert "0.31" in out
    assert "20260101T120000-bad" in err
    assert err == says("20260101T120000-bad/metrics/trial-0001.parquet")
    out, err = queried(runs, "list --run '2*'", code=4)
    assert "Run-Queue-Length" in out
    assert err == says("20260101T120000-bad/metrics/trial-0001.parquet")


def test_names_of_others_do_not_drive_the_terminal(runs: Path) -> None:
    run = RunDirectory(runs / "20251212T045318-article")
    write_rows(run, "trial-0003", [row("s", "t", {"dev": "a\x1b[2J\nb"}, 1.0)])
    out, _ = queried(runs, "get --run last --period 3 --source s --type t --breakout dev")
    assert r"a\x1b[2J\nb" in out.splitlines()[3]


def test_names_of_others_are_no_formulas_in_a_spreadsheet(runs: Path) -> None:
    run = RunDirectory(runs / "20251212T045318-article")
    write_rows(run, "trial-0003", [row("s", "=1+1", {"dev": "=A1+1", "n": "-2"}, 1.0)])
    words = "get --run last --period 3 --source s --type =1+1 --breakout dev,n --output csv"
    (found,) = csv.DictReader(io.StringIO(queried(runs, words)[0]))
    assert (found["type"], found["dev"], found["n"]) == ("'=1+1", "'=A1+1", "-2")
    listed = queried(runs, "list --run last --period 3 --output csv")[0]
    assert listed.splitlines()[1].startswith("s,'=1+1,")


def test_metrics_are_listed(runs: Path) -> None:
    out, err = queried(runs, "list --source mpstat")
    assert out.splitlines()[-1].split() == [
        *("mpstat", "Busy-CPU", "throughput", "1/s", "sum"),
        *("cstype", "(1),", "hostname", "(1),", "num", "(4),", "type", "(3)", "5"),
    ]
    assert "20251212T045318-article" in err
    listed = json.loads(queried(runs, "list --run last --output json")[0])
    assert [metric["type"] for metric in listed if metric["source"] == "trafficgen"] == [
        "rx-pps",
        "tx-pps",
    ]
    lines = queried(runs, "list --run last --output csv")[0].splitlines()
    assert lines[0] == "source,type,class,unit,aggregation,names,series"


def context(**params: object) -> typer.Context:
    made = typer.Context(typer.main.get_command(metrics.app))
    made.params.update(params)
    return made


def test_a_shell_is_offered_what_the_run_has(runs: Path) -> None:
    here = context(runs=runs, run=["last"])
    assert complete_run(here, "") == ["last", "20251212T045318-article"]
    assert complete_source(here, "sar") == ["sar-mem", "sar-scheduler"]
    assert complete_type(context(runs=runs, source="mpstat"), "") == ["Busy-CPU"]
    assert complete_type(here, "KB") == ["KB-Paged-in-sec"]
    assert complete_period(here, "") == ["measurement", "all", "trial-0001"]


def test_periods_are_offered_by_phase_too_and_of_a_run_that_is_an_argument(runs: Path) -> None:
    (run,) = runs.iterdir()
    with Journal(run / "journal.jsonl") as journal:
        journal.append("trial-started", number=1, phase="soak")
    # As plimsoll export has it.
    assert complete_period(context(runs=runs, run="last"), "s") == ["soak"]


@pytest.mark.parametrize(
    "complete", [complete_run, complete_source, complete_type, complete_period]
)
def test_a_shell_is_offered_nothing_where_there_is_nothing(complete, tmp_path: Path) -> None:
    assert complete(context(runs=tmp_path / "none"), "x") == []
    run = make_run(tmp_path, "20260101T120000-bad")
    (run.metrics / "trial-0001.parquet").write_text("no parquet")
    assert complete(context(runs=tmp_path), "x") == []
