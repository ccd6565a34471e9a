"""Labs that are refused before a CPU is claimed: a clear message, and an exit code."""

from pathlib import Path

from tests.integration.command import Workplace


def test_a_core_that_does_not_exist(place: Workplace) -> None:
    done = place.run(
        "run", place.experiment(lab={"kind": "testpmd-memif", "cpu": 999}), "--runs", place.runs
    )
    assert done.returncode == 2
    assert "lab.cpu" in done.stderr
    assert "999" in done.stderr
    assert not place.runs.exists()


def test_a_core_used_twice(place: Workplace) -> None:
    lab = {"kind": "testpmd-memif", "cpu": 0}
    done = place.run("run", place.experiment(lab=lab), "--runs", place.runs)
    assert done.returncode == 2
    assert "lab.cpu" in done.stderr
    assert "generator.cpus[0]" in done.stderr


def test_a_socket_path_in_use(place: Workplace, tmp_path: Path) -> None:
    taken = place.state.parent / f"{place.state.name}.sock"
    taken.touch()
    try:
        lab = {"kind": "testpmd-memif", "socket": str(taken)}
        done = place.run("run", place.experiment(lab=lab), "--runs", place.runs)
        assert taken.exists()
    finally:
        taken.unlink()
    assert done.returncode == 2
    assert str(taken) in done.stderr
    assert "lab.socket" in done.stderr
