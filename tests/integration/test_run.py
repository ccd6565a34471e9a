"""`plimsoll run` and `plimsoll trial` for real: dpdk-testpmd over memif, from YAML to report."""

import json
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hdrh.histogram import HdrHistogram
from hdrh.log import HistogramLogReader

from plimsoll.errors import MachineError
from plimsoll.host.ledger.cpu_claims import refuse_polled_cpus
from tests.integration.command import (
    Workplace,
    assert_keeps_to_schema,
    assert_nothing_is_left,
    finished_trials,
    hugepages,
    journal,
    until,
    workplace,
)
from tests.integration.unspoilt import refuse_repeated, unspoilt
from tests.tried_again import tried_again


@dataclass(frozen=True)
class FinishedRun:
    directory: Path
    result: dict[str, Any]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FinishedRun]:
    """One run from YAML to report, which must have cleaned up after itself."""
    before = hugepages()
    with workplace(tmp_path_factory.mktemp("run")) as place:

        def attempt() -> subprocess.CompletedProcess[str]:
            done = unspoilt(place, "run", place.experiment(), "--runs", place.runs, "--json")
            assert done.returncode == 0, done.stderr
            refuse_repeated(place.only_run())
            return done

        done = tried_again(attempt)
        assert_nothing_is_left(place, before)
        yield FinishedRun(place.only_run(), json.loads(done.stdout))


def events(runs: Path, kind: str) -> list[dict[str, Any]]:
    """Those of a kind in the journals of all runs below the folder."""
    lines = [line for run in runs.glob("*/") for line in journal(run)]
    return [line for line in lines if line["kind"] == kind]


def offered_pps(directory: Path, number: int) -> dict[str, float]:
    """By the frames of a trial's record: the least share of the plan, and the most in pps."""
    (proof,) = (each for each in finished_trials(directory) if each["number"] == number)
    loads = [each for each in proof["streams"] if each["role"] == "load"]
    frames = [each["received"] - each["duplicate"] + each["lost"] for each in loads]
    dues = [each["planned_pps"] * proof["sending_s"] for each in loads]
    # A frame more or less is how the last one fell.
    shares = [1 if abs(f - due) <= 1 else f / due for f, due in zip(frames, dues, strict=True)]
    return {"worst": min(shares), "most": max(frames) / proof["sending_s"]}


def test_from_an_experiment_to_a_validated_load_line(finished: FinishedRun) -> None:
    result = finished.result
    assert_keeps_to_schema(result, "result")
    assert json.loads((finished.directory / "result.json").read_text()) == result
    line = result["load_line"]
    assert line["intended_pps_per_direction"] == 8000
    rates = offered_pps(finished.directory, result["validation"]["trial"])
    assert line["pps_per_direction"] == pytest.approx(8000 * rates["worst"])
    # 64 B with preamble and gap are 672 bits on the wire, without FCS 480.
    assert line["l1_bps_per_direction"] == pytest.approx(rates["most"] * 672)
    assert line["l2_bps_per_direction"] == pytest.approx(rates["most"] * 480)
    assert result["limited_by"] == "maximum"
    assert result["validation"]["verdict"] == "pass"


def test_every_trial_is_in_the_journal(finished: FinishedRun) -> None:
    trials = finished_trials(finished.directory)
    assert [trial["phase"] for trial in trials] == [
        *("calibration", "calibration", "warmup", "ceiling"),
        *("search", "search", "validation"),
    ]
    assert [trial["number"] for trial in trials] == list(range(1, 8))
    events = journal(finished.directory)
    assert events[0]["kind"] == "run-started"
    assert events[-1]["kind"] == "finished"


def test_the_schedule_of_both_polling_loops_is_in_every_record(finished: FinishedRun) -> None:
    (validation,) = (
        trial for trial in finished_trials(finished.directory) if trial["phase"] == "validation"
    )
    schedule = validation["schedule"]
    threads = schedule["threads"]
    assert {(each["process"], each["cpu"]) for each in threads} == {
        ("tester", 0),
        ("dpdk-testpmd", 1),
    }
    # Polling loops want their CPUs all the time.
    sent_ns = validation["sending_s"] * 1e9
    assert all(sent_ns <= each["run_ns"] + each["wait_ns"] for each in threads)
    assert schedule["watched_s"] >= validation["sending_s"]


def test_the_record_is_complete(finished: FinishedRun) -> None:
    names = {path.name for path in finished.directory.iterdir()}
    assert names >= {
        *("experiment.yaml", "environment.json", "journal.jsonl", "metrics", "result.json"),
        *("histograms.hlog", "spikes.parquet", "report.html"),
    }
    environment = json.loads((finished.directory / "environment.json").read_text())
    assert environment["versions"]["dpdk"].startswith("DPDK ")
    assert [point["name"] for point in environment["calibration"]["points"]] == [
        "idle",
        "at the search's maximum",
    ]


def test_the_duts_counters_agree_to_the_frame(finished: FinishedRun) -> None:
    judged = [each for each in finished_trials(finished.directory) if each["dut"]]
    assert len(judged) >= 3
    for trial in judged:
        sent, received = {0: 0, 1: 0}, {0: 0, 1: 0}
        for stream in trial["streams"]:
            sent[stream["tx_port"]] += stream["sent"]
            received[stream["rx_port"]] += stream["received"]
        for port in trial["dut"]:
            assert port["rx_frames"] == sent[port["port"]] > 0
            assert port["tx_frames"] == received[port["port"]] > 0


def test_the_series_add_up_to_the_trial(finished: FinishedRun) -> None:
    validation = finished_trials(finished.directory)[-1]
    series = finished.directory / f"metrics/trial-{validation['number']:04d}.parquet"
    ((frames,),) = duckdb.execute(
        "SELECT sum(value * (end_ms - begin_ms) / 1000) FROM read_parquet(?) "
        "WHERE source = 'trafficgen' AND type = 'rx-pps'",
        [str(series)],
    ).fetchall()
    received = sum(stream["received"] for stream in validation["streams"])
    # The ends of intervals are rounded to whole milliseconds.
    assert frames == pytest.approx(received, rel=0.01)


def test_the_histogram_log_holds_every_sample(finished: FinishedRun) -> None:
    samples: dict[str, int] = {"latency": 0, "less-stalls": 0, "lateness": 0, "gaps": 0}
    log = HistogramLogReader(
        str(finished.directory / "histograms.hlog"), HdrHistogram(1, 2**37 - 1, 2)
    )
    while (histogram := log.get_next_interval_histogram()) is not None:
        tag = histogram.get_tag()
        kind = "gaps" if tag.startswith("polling-gaps@") else "latency"
        ending = tag.rpartition("+")[2]
        samples[ending if ending in samples else kind] += histogram.get_total_count()
    trials = finished_trials(finished.directory)
    streams = [stream for trial in trials for stream in trial["streams"]]
    assert samples == {
        "latency": sum(s["latency"]["count"] + s["samples_across_stalls"] for s in streams),
        "less-stalls": sum(s["samples_across_stalls"] for s in streams),
        "lateness": sum(s["lateness"]["count"] for s in streams),
        "gaps": sum(worker["gaps"]["count"] for trial in trials for worker in trial["workers"]),
    }
    # A stall of the tester's may have been missing.
    assert all(count for kind, count in samples.items() if kind != "less-stalls")


def test_a_finished_run_keeps_its_result(finished: FinishedRun, place: Workplace) -> None:
    again = place.run("run", "--resume", finished.directory, "--json")
    assert again.returncode == 0
    assert json.loads(again.stdout) == finished.result
    assert "already finished" in again.stderr


@pytest.mark.slow
def test_the_report_and_its_charts_are_made_anew(finished: FinishedRun, place: Workplace) -> None:
    (finished.directory / "report.html").unlink()
    done = place.run("report", finished.directory)
    assert done.returncode == 0, done.stderr
    written = [Path(line) for line in done.stdout.splitlines()]
    assert finished.directory / "report.html" in written
    assert {path.suffix for path in written} == {".csv", ".html", ".png", ".svg"}
    assert all(path.stat().st_size > 1000 for path in written if path.suffix != ".csv")
    # A head and a row at least.
    assert all(path.read_text().count("\n") > 1 for path in written if path.suffix == ".csv")


def test_a_single_trial_on_a_loopback_which_needs_no_dut(place: Workplace) -> None:
    before = hugepages()
    experiment = place.experiment(lab={"kind": "loopback"})
    done = unspoilt(
        place,
        *("trial", experiment, "--load", "4kpps", "--duration", "2s"),
        *("--runs", place.runs, "--json"),
    )
    assert done.returncode == 0, done.stderr
    trial = json.loads(done.stdout)
    assert_keeps_to_schema(trial, "trial-record")
    assert trial["verdict"] == "pass"
    # The tester gives up those that it was kept from sending for too long.
    due = [stream["sent"] + stream["skipped"] for stream in trial["streams"]]
    assert due == [8000, 8000, 1000]
    assert all(stream["lost"] == 0 for stream in trial["streams"])
    assert trial["dut"] is None
    assert (place.only_run() / "report.html").exists()
    assert_nothing_is_left(place, before)


@pytest.mark.full
def test_the_cpus_of_a_run_are_refused_to_others_and_free_when_it_ends(place: Workplace) -> None:
    before = hugepages()
    words = ("trial", place.experiment(), "--load", "2kpps", "--duration", "10m")
    with place.start(*words, "--runs", place.runs) as first:
        until(lambda: bool(events(place.runs, "lab-up")), "the run's lab")
        # Within this process: on two CPUs, both polled, another command takes minutes to start.
        with pytest.raises(
            MachineError, match=r"CPU 1 is polled by trial-\w+ \(\S+ \d+\)"
        ) as refused:
            refuse_polled_cpus([("lab.cpu", 1)])
        first.send_signal(signal.SIGINT)
        _, said = first.communicate(timeout=200)
    assert refused.value.where == "lab.cpu"
    assert refused.value.remedy.startswith(f"wait until that run ends (process {first.pid})")
    assert first.returncode == 130, said
    refuse_polled_cpus([("lab.cpu", 1)])
    assert_nothing_is_left(place, before)
