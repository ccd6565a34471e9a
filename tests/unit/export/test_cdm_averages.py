"""Crucible's own arithmetic over exported documents gives the figures of the record."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from plimsoll.export.cdm.document import CdmVersion
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.record.trials.trial_parts import TrialPhase
from tests.unit.export.crucible_query import crucible_value, documents, sources_of
from tests.unit.export.exported_run import (
    EXPERIMENT,
    Row,
    append_event,
    append_trial,
    idle,
    of_trial,
    write_metrics,
)
from tests.unit.record.trial_parts import record

ENGINE, MEAN, MAX = "trafficgen-engine", "mean-round-trip-usec", "max-round-trip-usec"
# Means of two seconds for each stream.
Streams = Mapping[str, tuple[float, float]]


def latency(stream: str, begin_ms: int, value: float, kind: str, aggregation: str) -> Row:
    """A second's latency of a stream, in µs."""
    return Row(
        ENGINE,
        kind,
        {"stream": stream},
        begin_ms,
        begin_ms + 1000,
        value,
        metric_class="count",
        unit="usec",
        aggregation=aggregation,
    )


def latencies(streams: Streams) -> list[Row]:
    """Means of two seconds for each stream, and maxima of ten times as much."""
    return [
        latency(stream, 1000 * second, factor * value, kind, aggregation)
        for stream, values in streams.items()
        for second, value in enumerate(values)
        for factor, kind, aggregation in ((1.0, MEAN, "mean"), (10.0, MAX, "max"))
    ]


def run_of(folder: Path, trials: Sequence[tuple[TrialPhase, Sequence[Row]]]) -> RunDirectory:
    """Trials of two seconds, ten seconds apart, at 1000 frames per second and direction."""
    run = RunDirectory.create(folder, "demo", EXPERIMENT)
    append_event(run, "run-started", method="trial")
    for number, (phase, rows) in enumerate(trials, start=1):
        later_ms, name = 10_000 * number, f"trial-{number:04}"
        trial = record(number, phase=phase, load_pps=1000.0)
        begin_ns = trial.begin_unix_ns + later_ms * 10**6
        append_trial(run, trial.model_copy(update={"begin_unix_ns": begin_ns}))
        moved = [
            replace(row, begin_ms=row.begin_ms + later_ms, end_ms=row.end_ms + later_ms)
            for row in (*of_trial(1000.0), *rows)
        ]
        write_metrics(run, name, moved, period=name)
    return run


BOTH: Streams = {"0-1": (90.0, 110.0), "1-0": (60.0, 80.0)}


def test_averages_are_those_of_the_record_next_to_a_calibration(tmp_path: Path) -> None:
    run = run_of(
        tmp_path,
        [
            ("calibration", latencies({"0-0": (5.0, 7.0), "1-1": (6.0, 6.0)})),
            ("search", latencies({"0-1": (400.0, 200.0), "1-0": (100.0, 100.0)})),
            ("validation", latencies(BOTH)),
        ],
    )
    found = documents(run, CdmVersion.V10)
    # By hand: the mean of 90, 110, 60 and 80, and ten times the greatest of them.
    assert crucible_value(found, ENGINE, MEAN) == 85.0
    assert crucible_value(found, ENGINE, MAX) == 1100.0
    assert crucible_value(found, "trafficgen", "rx-pps") == 2000.0
    assert crucible_value(found, ENGINE, MEAN, "trial-0002") == 200.0
    assert crucible_value(found, f"{ENGINE}-calibration", MEAN, "trial-0001") == 6.0
    shown = {
        each["metric_desc"]["names"]["stream"]
        for each in found["metric_desc"]
        if each["metric_desc"]["source"] == ENGINE
    }
    assert shown == {"0-1", "1-0"}


def test_a_series_that_a_trial_has_not_does_not_halve_its_average(tmp_path: Path) -> None:
    run = run_of(
        tmp_path,
        [
            # Nothing came back of 1-0.
            ("search", latencies({"0-1": (300.0, 500.0)})),
            ("search", latencies({"0-1": (20.0, 40.0), "1-0": (60.0, 80.0)})),
            ("validation", latencies(BOTH)),
        ],
    )
    found = documents(run, CdmVersion.V10)
    assert crucible_value(found, ENGINE, MEAN) == 85.0
    assert crucible_value(found, ENGINE, MEAN, "trial-0002") == 50.0
    assert crucible_value(found, f"{ENGINE}-search", MEAN, "trial-0001") == 400.0
    # Maxima bear it, and stay where they are.
    assert crucible_value(found, ENGINE, MAX, "trial-0001") == 5000.0
    assert sources_of(found, MAX) == {ENGINE}


def test_trials_of_one_phase_with_other_series_each_are_apart(tmp_path: Path) -> None:
    run = run_of(
        tmp_path,
        [
            ("search", latencies({"0-1": (300.0, 500.0)})),
            ("search", latencies({"1-0": (20.0, 40.0)})),
            ("validation", latencies(BOTH)),
        ],
    )
    found = documents(run, CdmVersion.V10)
    assert crucible_value(found, f"{ENGINE}-trial-0001", MEAN, "trial-0001") == 400.0
    assert crucible_value(found, f"{ENGINE}-trial-0002", MEAN, "trial-0002") == 30.0
    assert sources_of(found, MEAN) == {ENGINE, f"{ENGINE}-trial-0001", f"{ENGINE}-trial-0002"}


def test_breakouts_have_the_share_of_each_series(tmp_path: Path) -> None:
    run = run_of(tmp_path, [("validation", latencies(BOTH))])
    found = documents(run, CdmVersion.V10)
    assert crucible_value(found, ENGINE, MEAN, names={"stream": "0-1"}) == 100.0
    assert crucible_value(found, ENGINE, MEAN, names={"stream": "1-0"}) == 70.0


def test_rows_of_hosts_that_lie_across_a_periods_ends_lose_no_millisecond(tmp_path: Path) -> None:
    # From 300 ms before the first frame to the drain's end; frames are sent for 2000 ms.
    rows = [idle(-300, 700, 0.5), idle(700, 1700, 0.25), idle(1700, 2500, 1.0)]
    run = run_of(tmp_path, [("validation", rows)])
    found = documents(run, CdmVersion.V10)
    # Beside that of of_trial, which is idle for 0 CPUs.
    assert crucible_value(found, "mpstat", "NonBusy-CPU") == (
        (700 * 0.5 + 1000 * 0.25 + 300 * 1.0) / 2000
    )
    # Nothing of them is left out, and none lies on both sides of a border.
    (period,) = (p["period"] for p in found["period"] if p["period"]["name"] == "measurement")
    data = [each["metric_data"] for each in found["metric_data"]]
    assert sum(each["value"] * each["duration"] for each in data if each["value"] <= 1.0) == (
        1000 * 0.5 + 1000 * 0.25 + 800 * 1.0
    )
    for border in (period["begin"], period["end"] + 1):
        assert not [each for each in data if each["begin"] < border <= each["end"]]
