from collections.abc import Callable
from pathlib import Path

import pytest

from plimsoll.record.recorder import recording
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.report.charts import drawn_types
from plimsoll.report.data.run_data import RunData, load_run
from tests.unit.report.sample_run import STEPS, write_sample_run
from tests.worded.says import Says


def test_a_finished_run_shows_the_validation_behind_its_result(finished: RunData) -> None:
    assert finished.focus is not None
    assert (finished.focus.number, finished.focus.phase) == (14, "validation")
    assert {row.period for row in finished.series} == {"trial-0014"}
    assert finished.finished


def test_distributions_hold_every_sample_of_the_focus_trial_and_no_other(
    finished: RunData,
) -> None:
    assert finished.focus is not None
    counted = {s.name: s.latency.count for s in finished.focus.streams}
    assert {d.stream.name: d.histogram.get_total_count() for d in finished.distributions} == counted


@pytest.mark.parametrize(
    ("trials", "number", "phase"),
    [(4, 4, "search"), (6, 5, "search"), (12, 11, "validation")],
)
def test_an_unfinished_run_shows_its_most_telling_trial(
    cut_short: Callable[[int], RunData], trials: int, number: int, phase: str
) -> None:
    data = cut_short(trials)
    assert data.focus is not None
    assert (data.focus.number, data.focus.phase) == (number, phase)
    assert not data.finished


def test_the_focus_has_its_own_samples_also_when_trials_follow(
    cut_short: Callable[[int], RunData],
) -> None:
    data = cut_short(12)
    assert data.focus is not None
    counted = {s.name: s.latency.count for s in data.focus.streams}
    assert {d.stream.name: d.histogram.get_total_count() for d in data.distributions} == counted


def test_only_calibration_gives_no_focus(cut_short: Callable[[int], RunData]) -> None:
    data = cut_short(3)
    assert data.focus is None
    assert (data.series, data.distributions) == ((), ())
    assert len(data.trials) == 3


def test_a_run_that_has_only_begun_can_be_shown(tmp_path: Path) -> None:
    data = load_run(RunDirectory.create(tmp_path, "demo", {"name": "begun"}), drawn_types())
    assert (data.trials, data.result, data.environment) == ((), None, None)


def test_what_died_is_reported(tmp_path: Path, says: Says) -> None:
    run = write_sample_run(tmp_path, steps=STEPS[:5], finished=False)
    with recording(run) as recorder:
        recorder.event("died", what="dpdk-testpmd (pid 42) was killed by signal 9")
    assert load_run(run, drawn_types()).failures == (says("42", "9"),)


def test_series_end_with_the_last_send(finished: RunData) -> None:
    assert finished.focus is not None
    begins = {row.begin_ms for row in finished.series if row.type == "rx-pps"}
    assert len(begins) == round(finished.focus.sending_s)
