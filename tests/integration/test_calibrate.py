"""`plimsoll calibrate` for real: the engine alone on net_ring ports, kept and shown later."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.integration.command import Workplace, assert_nothing_is_left, hugepages, workplace
from tests.integration.unspoilt import unspoilt

pytestmark = pytest.mark.alone


@dataclass(frozen=True)
class Calibrated:
    place: Workplace
    found: dict[str, Any]


@pytest.fixture(scope="module")
def calibrated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Calibrated]:
    """One calibration over rings, which must have cleaned up after itself."""
    before = hugepages()
    with workplace(tmp_path_factory.mktemp("calibrate")) as place:
        place.environment["XDG_STATE_HOME"] = str(place.folder / "state")
        done = place.run("calibrate", "--json")
        assert done.returncode == 0, done.stderr
        assert_nothing_is_left(place, before)
        (found,) = json.loads(done.stdout)
        yield Calibrated(place, found)


@pytest.mark.slow
def test_the_tester_is_measured_alone(calibrated: Calibrated) -> None:
    found = calibrated.found
    assert found["tester"]["cpus"] == [0]
    assert (found["tester"]["port_kind"], found["tester"]["latency_clock"]) == ("net_ring", "tsc")
    assert found["tester"]["dpdk"].startswith("DPDK ")
    assert found["directions"] == 2
    idle, one_in_flight = found["points"][:2]
    assert (idle["name"], one_in_flight["name"]) == ("idle", "one in flight")
    assert 0 < idle["latency"]["min_ns"] <= idle["latency"]["p50_ns"] <= idle["latency"]["max_ns"]
    # The next probe leaves when the last is back, so they are no longer 1000 a second.
    assert one_in_flight["sent_pps"] > 10 * idle["sent_pps"]


@pytest.mark.slow
def test_its_clean_rate_is_confirmed_and_loaded(calibrated: Calibrated) -> None:
    """Any machine carries the least rate that is searched for, whatever disturbs it."""
    rate = calibrated.found["clean_rate"]
    assert rate["clean_trials"] == 3 <= rate["trials"]
    assert rate["pps_per_direction"] >= 1000
    half, whole = calibrated.found["points"][2:]
    assert half["load_pps"] == pytest.approx(rate["pps_per_direction"] / 2)
    assert whole["load_pps"] == rate["pps_per_direction"]
    assert whole["latency"]["count"] > 0


@pytest.mark.slow
def test_it_is_kept(calibrated: Calibrated) -> None:
    folder = calibrated.place.folder / "state/plimsoll/calibrations"
    (path,) = folder.iterdir()
    assert json.loads(path.read_text()) == calibrated.found


def _trial(calibrated: Calibrated, runs: str, **generator: Any) -> Path:
    """The run directory of a trial by the tester that was calibrated, or by another."""
    place = calibrated.place
    experiment = place.experiment(lab={"kind": "loopback"}, **generator)
    done = unspoilt(
        place,
        *("trial", experiment, "--load", "2kpps", "--duration", "500ms"),
        *("--runs", place.folder / runs),
    )
    assert done.returncode == 0, done.stderr
    (run,) = (place.folder / runs).iterdir()
    return run


@pytest.mark.full
def test_a_run_of_the_same_tester_shows_it(calibrated: Calibrated) -> None:
    run = _trial(calibrated, "same")
    environment = json.loads((run / "environment.json").read_text())
    assert environment["earlier_calibrations"] == [calibrated.found]
    page = (run / "report.html").read_text()
    assert "By plimsoll calibrate over net_ring" in page
    assert "Port 0: time stamp counter of the polling loop" in page


@pytest.mark.full
def test_a_run_on_another_cpu_does_not(calibrated: Calibrated) -> None:
    run = _trial(calibrated, "other", generator={"cpus": [1]})
    environment = json.loads((run / "environment.json").read_text())
    assert environment["earlier_calibrations"] == []
    assert "By plimsoll calibrate" not in (run / "report.html").read_text()


@pytest.mark.full
def test_a_damaged_calibration_is_reported_and_spoils_no_run(calibrated: Calibrated) -> None:
    (path,) = (calibrated.place.folder / "state/plimsoll/calibrations").iterdir()
    whole = path.read_text()
    path.write_text("{")
    try:
        place = calibrated.place
        done = unspoilt(
            place,
            *("trial", place.experiment(lab={"kind": "loopback"}), "--load", "2kpps"),
            *("--duration", "500ms", "--runs", place.folder / "damaged"),
        )
    finally:
        path.write_text(whole)
    assert done.returncode == 0, done.stderr
    assert f"{path}: cannot be read" in done.stderr
    assert "measure anew: plimsoll calibrate" in done.stderr


@pytest.mark.full
def test_without_json_it_is_a_table_and_a_sentence(
    calibrated: Calibrated, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Over a wire of memif as well: both ends are the tester's own, so it is a cable."""
    place = calibrated.place
    monkeypatch.setitem(place.environment, "XDG_STATE_HOME", str(tmp_path))
    socket = place.state / "cable.sock"
    done = place.run(
        "calibrate",
        *("--ports", f"net_memif0,role=server,socket={socket}"),
        *("--ports", f"net_memif1,role=client,socket={socket}"),
    )
    assert done.returncode == 0, done.stderr
    for words in ("net_ring: load 64 B in 1024 flows, probe 64 B at 1 kpps", "one in flight"):
        assert words in done.stdout
    sentences = [line for line in done.stdout.splitlines() if line.startswith("On CPU 0 this")]
    assert ["over net_ring" in line for line in sentences] == [True, False]
    assert "over net_memif" in sentences[1]
    assert "kept in" in done.stderr


@pytest.mark.parametrize(
    ("ports", "wrong"),
    [
        (("net_nosuch0", "net_nosuch1"), "net_nosuch0"),
        (("net_null0", "netdev:pl-no"), "netdev:pl-no"),
    ],
)
def test_a_wrong_port_is_reported_before_anything_is_measured(
    place: Workplace, ports: tuple[str, str], wrong: str
) -> None:
    place.environment["XDG_STATE_HOME"] = str(place.folder / "state")
    before = hugepages()
    done = place.run("calibrate", "--ports", ports[0], "--ports", ports[1])
    assert done.returncode != 0
    assert f"--ports {wrong}: " in done.stderr
    assert "remedy:" in done.stderr
    # Neither the rings nor anything else was measured and kept.
    assert not (place.folder / "state").exists()
    assert_nothing_is_left(place, before)
