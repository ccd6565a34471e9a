"""What the host did during real trials: dpdk-testpmd over memif, all observers on."""

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import psutil
import pytest
from typer.testing import CliRunner

from plimsoll.cli.main import app
from tests.integration.command import (
    Workplace,
    assert_nothing_is_left,
    finished_trials,
    hugepages,
    journal,
    until,
    workplace,
)

pytestmark = pytest.mark.alone

TESTER_CPU, DUT_CPU = 0, 1


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workplace]:
    with workplace(tmp_path_factory.mktemp("observers")) as found:
        yield found


@dataclass(frozen=True)
class Observed:
    directory: Path
    # Of the whole command, read before it began and after it ended.
    interrupts: dict[str, int]


@pytest.fixture(scope="module")
def observed(place: Workplace) -> Observed:
    """A trial of 4 s through testpmd."""
    before = hugepages()
    runs = place.folder / "observed"
    began = interrupts()
    lab = {"kind": "testpmd-memif", "line_rate": "10Gbps"}
    # Said, because a host whose every CPU is polled is read less often by default.
    trial(place, runs, place.experiment(lab=lab, observe={"interval": "1s"}))
    ended = interrupts()
    assert_nothing_is_left(place, before)
    (directory,) = runs.iterdir()
    return Observed(directory, {name: ended[name] - began.get(name, 0) for name in ended})


def trial(place: Workplace, runs: Path, experiment: Path) -> subprocess.CompletedProcess[str]:
    options = ("--load", "5kpps", "--duration", "4s", "--runs", runs)
    done = place.run("trial", experiment, *options)
    assert done.returncode in (0, 1, 5), done.stderr
    return done


def interrupts() -> dict[str, int]:
    """All there were since boot, of all CPUs together, by the kernel's first column."""
    header, *lines = Path("/proc/interrupts").read_text().splitlines()
    cpus = len(header.split())
    found = {}
    for line in lines:
        name, *columns = line.split()
        counts = [int(column) for column in columns[:cpus] if column.isdigit()]
        found[name.removesuffix(":")] = sum(counts)
    return found


def rows(directory: Path, query: str, *values: object) -> list[tuple[Any, ...]]:
    """By DuckDB alone, over the files as they lie there."""
    files = str(directory / "metrics" / "*.parquet")
    with duckdb.connect() as connection:
        statement = f"WITH rows AS (FROM read_parquet(?)) {query}"
        return connection.execute(statement, [files, *values]).fetchall()


def get(directory: Path, *words: str) -> list[dict[str, str]]:
    """What `plimsoll metrics get` answers, as CSV gives it."""
    requests = ["metrics", "get", "--run", str(directory), *words, "--output", "csv"]
    done = CliRunner().invoke(app, requests)
    assert done.exit_code == 0, done.stderr
    header, *lines = done.stdout.strip().splitlines()
    return [dict(zip(header.split(","), line.split(","), strict=True)) for line in lines]


def test_polling_cpus_are_never_idle(observed: Observed) -> None:
    """The engine and testpmd poll: all of their CPUs' time is busy, no matter who has it."""
    shares = rows(
        observed.directory,
        "SELECT names['num'], sum(value * (end_ms - begin_ms)) / any_value(length) FROM rows, "
        "(SELECT max(end_ms) - min(begin_ms) AS length FROM rows WHERE source = 'mpstat') "
        "WHERE type = 'Busy-CPU' GROUP BY ALL",
    )
    assert dict(shares)[str(DUT_CPU)] == pytest.approx(1, abs=0.02)
    assert dict(shares)[str(TESTER_CPU)] == pytest.approx(1, abs=0.02)


def test_interrupts_are_those_that_the_kernel_counted(observed: Observed) -> None:
    """The trial is a part of the command: none may be more than there were in all."""
    found = dict(
        rows(
            observed.directory,
            "SELECT names['irq'], sum(count) FROM rows WHERE type = 'interrupts-sec' GROUP BY ALL",
        )
    )
    assert found["LOC"] > 0
    assert {irq for irq, count in found.items() if count > observed.interrupts[irq]} == set()


def test_the_environment_says_what_was_observed_and_from_where(observed: Observed) -> None:
    environment = json.loads((observed.directory / "environment.json").read_text())
    (host,) = environment["observed"]
    assert host["hostname"] == os.uname().nodename
    assert host["polled"] == {"tester": "0", "dut": "1"}
    assert {"mpstat", "procstat", "sar-mem", "sar-scheduler", "sar-tasks", "dpdk"} <= set(
        host["sources"]
    )
    assert all(reason for reason in host["missing"].values())


def test_the_trial_says_how_often_the_host_was_read_and_what_it_cost(observed: Observed) -> None:
    """Four seconds, the time to begin and to drain, and a last reading; no CPU for all of it."""
    (record,) = finished_trials(observed.directory)
    (host,) = record["hosts"]
    assert host["hostname"] == os.uname().nodename
    assert 4 <= host["readings"] + host["skipped"] <= 60
    assert 0 < host["cpu_s"] < 60
    assert (host["lost"], host["ended"]) == ({}, None)


@pytest.mark.slow
def test_an_observer_that_is_killed_ends_in_the_record_and_in_the_report(place: Workplace) -> None:
    runs = place.folder / "lost"
    options = ("--load", "2kpps", "--duration", "5s", "--runs", runs)
    criteria = [{"kind": "loss-ratio", "at_most": "100%"}, {"kind": "major-faults"}]
    experiment = place.experiment(criteria=criteria, observe={"interval": "500ms"})
    with place.start("trial", experiment, *options) as command:
        until(lambda: any(map(_ticks, runs.glob("*/metrics/*@*.jsonl"))), "a reading")
        # plimsoll-observe of this command, and no other's.
        (agent,) = [
            each
            for each in psutil.Process(command.pid).children(recursive=True)
            if "plimsoll.observe" in each.cmdline()
        ]
        agent.kill()
        _, message = command.communicate()
    assert command.returncode == 5, message
    assert "the observer has ended" in message
    (directory,) = runs.iterdir()
    (record,) = finished_trials(directory)
    assert record["verdict"] == "invalid"
    (host,) = record["hosts"]
    assert (host["readings"], host["cpu_s"]) == (None, None)
    assert host["ended"] == {"period": "trial-0001", "why": "the observer has ended"}
    # What it saw until then is there.
    assert rows(directory, "SELECT count(*) > 0 FROM rows WHERE source = 'mpstat'") == [(True,)]
    page = (directory / "report.html").read_text()
    assert "Its figures end in trial-0001: the observer has ended." in page


def test_the_duts_own_counters_are_there(observed: Observed) -> None:
    """Of testpmd's telemetry: both ports forwarded what the trial sent."""
    types = rows(observed.directory, "SELECT DISTINCT type FROM rows WHERE source = 'dpdk'")
    assert len(types) > 3
    (trial_record,) = [e["trial"] for e in journal(observed.directory) if e["kind"] == "trial"]
    received = sum(port["rx_frames"] for port in trial_record["dut"])
    counted = rows(
        observed.directory,
        "SELECT sum(count) FROM rows WHERE source = 'dpdk' AND type = 'rx-packets-sec'",
    )
    assert counted == [(received,)]


@pytest.mark.parametrize(
    ("source", "kind", "breakout"),
    [
        ("trafficgen", "rx-pps", "port_pair,rx_port,tx_port"),
        ("trafficgen", "l1-rx-bps", "port_pair,rx_port,tx_port"),
        ("trafficgen", "l2-rx-bps", "port_pair,rx_port,tx_port"),
        ("trafficgen-trex-profiler", "rx-port-util", "rx_port"),
        ("trafficgen-trex-profiler", "tx-port-util", "tx_port"),
        ("trafficgen-trex-profiler", "tx-cpu-util", ""),
        ("trafficgen-trex-profiler", "max-round-trip-usec", "stream"),
        ("trafficgen-trex-profiler", "mean-round-trip-usec", "stream"),
        ("trafficgen-trex-profiler", "min-round-trip-usec", "stream"),
        ("procstat", "interrupts-sec", "cstype=profiler,hostname={host},desc"),
        ("sar-mem", "KB-Paged-in-sec", ""),
        ("sar-mem", "KB-Paged-out-sec", ""),
        ("sar-scheduler", "Run-Queue-Length", "hostname={host}"),
        ("sar-scheduler", "Load-Average-15m", "hostname={host}"),
    ],
)
def test_the_articles_queries_run_as_they_are_written(
    observed: Observed, source: str, kind: str, breakout: str
) -> None:
    words = ["--source", source, "--type", kind]
    if breakout:
        words += ["--breakout", breakout.format(host=os.uname().nodename)]
    answer = get(observed.directory, *words)
    assert answer
    assert {line["type"] for line in answer} == {kind}


def test_the_articles_busy_cpus_are_the_polling_ones(observed: Observed) -> None:
    host = os.uname().nodename
    words = ("--source", "mpstat", "--breakout", f"hostname={host},num,type", "--filter", "gt:0.5")
    busy = get(observed.directory, "--type", "Busy-CPU", *words)
    assert {line["num"] for line in busy} <= {str(TESTER_CPU), str(DUT_CPU)}


@pytest.mark.full
def test_a_noisy_neighbour_shows_in_the_figures_and_in_the_verdict(place: Workplace) -> None:
    if shutil.which("stress-ng") is None:
        pytest.skip("stress-ng is not installed")
    criterion = {
        **{"kind": "host-metric", "source": "mpstat", "type": "Busy-CPU"},
        **{"where": {"type": "nice"}, "cpus": "dut", "at_most": 0.001, "on_breach": "fail"},
    }
    experiment = place.experiment(criteria=[{"kind": "loss-ratio", "at_most": "100%"}, criterion])
    runs = place.folder / "neighbour"
    argv = ["nice", "-n", "5", "stress-ng", "--cpu", "1", "--taskset", str(DUT_CPU), "--quiet"]
    with subprocess.Popen([*argv, "--timeout", "120"], start_new_session=True) as neighbour:
        try:
            trial(place, runs, experiment)
        finally:
            os.killpg(neighbour.pid, signal.SIGTERM)
    (directory,) = runs.iterdir()
    (record,) = [event["trial"] for event in journal(directory) if event["kind"] == "trial"]
    (finding,) = [each for each in record["findings"] if each["rule"].startswith("host-metric")]
    assert finding["outcome"] == "fail"
    assert finding["value"] > 0.001
    assert record["verdict"] == "fail"
    switches = "SELECT sum(count) FROM rows WHERE type = 'Context-switches-sec'"
    assert rows(directory, switches)[0][0] > 0


@pytest.mark.full
def test_the_figures_of_a_killed_run_can_be_read(place: Workplace) -> None:
    runs = place.folder / "killed"
    options = ("--load", "2kpps", "--duration", "60s", "--runs", runs)
    experiment = place.experiment(observe={"interval": "500ms"})
    with place.start("trial", experiment, *options) as command:
        until(
            lambda: any(_ticks(each) >= 2 for each in runs.glob("*/metrics/*@*.jsonl")),
            "two readings",
        )
        command.kill()
        command.communicate()
    (directory,) = runs.iterdir()
    # Nobody has tidied up: the lines are as the kill left them.
    assert list(directory.glob("metrics/*.jsonl")) != []
    words = ("--source", "mpstat", "--type", "Busy-CPU", "--period", "all", "--breakout", "num")
    answer = get(directory, *words)
    assert {line["num"] for line in answer} >= {str(TESTER_CPU), str(DUT_CPU)}


def _ticks(growing: Path) -> int:
    return growing.read_text().count('"reader":"mpstat","begin_ns"')
