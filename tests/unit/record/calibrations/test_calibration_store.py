"""Calibrations survive between runs, and only the very tester they are of gets them back."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from plimsoll.record.calibrations.calibration import CalibrationPoint
from plimsoll.record.calibrations.stored_calibration import (
    CleanRate,
    StoredCalibration,
    calibration_folder,
    keep_calibration,
    kept_calibration,
)
from plimsoll.record.calibrations.stored_calibration import TesterIdentity as Identity
from plimsoll.record.files.record_error import RecordError
from tests.unit.record.trial_parts import record
from tests.worded.says import Says

TESTER = Identity(
    host="bench-07",
    cpu_model="Fast CPU @ 3 GHz",
    cpus=(2, 3),
    port_kind="net_ring",
    latency_clock="tsc",
    engine="0.1.0",
    dpdk="DPDK 22.11.6",
)


def calibration(**changes: Any) -> StoredCalibration:
    made = StoredCalibration(
        tester=TESTER,
        measured_at=datetime(2026, 3, 14, 9, 26, 53, tzinfo=UTC),
        kernel="6.1.0",
        traffic="load 64 B in 1024 flows",
        directions=2,
        points=(CalibrationPoint.from_trial("idle", record(1, phase="calibration")),),
        clean_rate=CleanRate(
            pps_per_direction=8e6, clean_trials=3, trials=4, trial_s=0.5, fault_above=None
        ),
    )
    return made.model_copy(update=changes)


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state"


def test_a_calibration_comes_back_as_it_was_kept(state: Path) -> None:
    path = keep_calibration(calibration())
    assert path.parent == state / "plimsoll" / "calibrations" == calibration_folder()
    assert kept_calibration(TESTER) == calibration()
    assert [each.name for each in path.parent.iterdir()] == [path.name]


def test_the_last_one_stands() -> None:
    keep_calibration(calibration())
    keep_calibration(calibration(kernel="6.2.0"))
    found = kept_calibration(TESTER)
    assert found is not None
    assert found.kernel == "6.2.0"


@pytest.mark.parametrize(
    "change",
    [
        {"host": "bench-08"},
        {"cpu_model": "Slow CPU"},
        {"cpus": (3, 2)},
        {"cpus": (2,)},
        {"port_kind": "net_memif"},
        {"latency_clock": "hardware"},
        {"engine": "0.2.0"},
        {"dpdk": "DPDK 24.11.1"},
        # The same file name.
        {"host": "bench_07"},
    ],
)
def test_another_testers_calibration_is_not_this_ones(change: dict[str, Any]) -> None:
    keep_calibration(calibration())
    other = TESTER.model_copy(update=change)
    assert kept_calibration(other) is None
    keep_calibration(calibration(tester=other, kernel="other"))
    found = kept_calibration(other)
    assert found is not None
    assert found.kernel == "other"


def test_before_any_calibration_there_is_none(state: Path) -> None:
    assert kept_calibration(TESTER) is None
    assert not state.exists()


def test_a_damaged_one_is_named(says: Says) -> None:
    path = keep_calibration(calibration())
    path.write_text("{")
    with pytest.raises(RecordError) as caught:
        kept_calibration(TESTER)
    assert caught.value == says("plimsoll calibrate")
    assert caught.value.where == str(path)


def test_a_place_that_cannot_be_written_is_named(state: Path) -> None:
    state.write_text("a file")
    with pytest.raises(RecordError, match="cannot record") as caught:
        keep_calibration(calibration())
    assert caught.value.where.startswith(str(state))


def test_without_an_absolute_state_home_it_is_in_the_users(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for relative in ("", "state"):
        monkeypatch.setenv("XDG_STATE_HOME", relative)
        assert calibration_folder() == tmp_path / ".local/state/plimsoll/calibrations"


def test_the_bias_is_the_median_of_idle_probes() -> None:
    # The record's first probe has 100, 200, 200 and 250 ns.
    assert calibration().bias_ns == 200
