"""Which runs of a matrix share a calibration, and what each has on record of it."""

from pathlib import Path
from typing import Any

import pytest

from plimsoll.benchmark.calibration import calibration
from plimsoll.benchmark.calibration.calibration import SharedCalibrations
from plimsoll.benchmark.experiment.experiment import Experiment
from plimsoll.benchmark.session.session import Session
from plimsoll.record.calibrations.calibration import TesterCalibration
from plimsoll.record.recorder import recording
from plimsoll.record.run.journal import read_journal
from plimsoll.record.run.run_directory import RunDirectory
from tests.unit.benchmark.simulated_tests import Seen

LOAD = {"name": "load", "role": "load", "rate": "1pps"}
EXPERIMENT: dict[str, Any] = {
    "name": "shared",
    "lab": {"kind": "testpmd-memif", "cpu": 1},
    "generator": {"kind": "engine", "cpus": [0]},
    "profile": {"streams": [LOAD]},
    "search": {"minimum": "10kpps", "maximum": "1Mpps"},
}


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The maximum of each calibration that was measured, instead of measuring it."""
    maxima: list[float] = []

    def calibrate(session: Session, port_count: int, maximum_pps: float) -> TesterCalibration:
        maxima.append(maximum_pps)
        return TesterCalibration(how=f"measurement {len(maxima)}", points=())

    monkeypatch.setattr(calibration, "calibrate", calibrate)
    return maxima


def _calibrate(
    shared: SharedCalibrations,
    folder: Path,
    *,
    ports: int = 2,
    maximum_pps: float = 1e6,
    **sections: Any,
) -> TesterCalibration | None:
    experiment = Experiment.model_validate({**EXPERIMENT, **sections})
    run = RunDirectory.within(folder, experiment.normalised())
    with recording(run) as recorder:
        return shared.calibrate(Session(experiment, recorder, Seen(), None), ports, maximum_pps)


def test_another_dut_and_its_noise_leave_the_tester_as_it_was(
    tmp_path: Path, measured: list[float]
) -> None:
    shared = SharedCalibrations()
    first = _calibrate(shared, tmp_path / "iteration-0001" / "sample-1")
    other = tmp_path / "iteration-0002" / "sample-1"
    noise = [{"kind": "memory", "cpus": [1]}]
    second = _calibrate(shared, other, lab={"kind": "linux-bridge", "cpu": 1}, noise=noise)
    assert measured == [1e6]
    assert first is not None
    assert second is not None
    assert (first.how, first.taken_in) == ("measurement 1", None)
    assert (second.how, second.taken_in) == ("measurement 1", "iteration-0001/sample-1")
    (event,) = read_journal(other / "journal.jsonl").events
    recorded = TesterCalibration.model_validate(event.fields["calibration"])
    assert recorded == second


@pytest.mark.parametrize(
    "changed",
    [
        {"maximum_pps": 2e6},
        {"ports": 4},
        {"generator": {"kind": "engine", "cpus": [1]}},
        {"profile": {"streams": [{**LOAD, "frame_size": 128}]}},
        {"profile": {"streams": [{**LOAD, "flows": 8}]}},
        {"tester": {"rate_tolerance": "10%"}},
        {"require_hugepages": True},
    ],
)
def test_another_tester_is_measured(
    tmp_path: Path, measured: list[float], changed: dict[str, Any]
) -> None:
    shared = SharedCalibrations()
    _calibrate(shared, tmp_path / "a")
    _calibrate(shared, tmp_path / "b", **changed)
    assert len(measured) == 2


def test_one_that_cannot_be_measured_alone_has_none(tmp_path: Path, measured: list[float]) -> None:
    lab = {"kind": "simulated", "model": {"kind": "fixed-capacity", "capacity": "1Mpps"}}
    assert _calibrate(SharedCalibrations(), tmp_path, lab=lab) is None
    assert not measured
