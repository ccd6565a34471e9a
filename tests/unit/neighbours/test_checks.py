"""What is refused of neighbours before anything is started."""

from pathlib import Path

import pytest

from plimsoll.errors import MachineError
from plimsoll.neighbours import noise
from plimsoll.neighbours.memory import MemorySettings
from plimsoll.neighbours.neighbour import NeighbourModel
from plimsoll.neighbours.noise import noise_mistakes
from plimsoll.neighbours.stress_ng import StressNgSettings
from tests.worded.says import Says

MEMORY = {"working_set": "1MiB", "cpus": [0]}


def mistakes(tmp_path: Path, *noise: NeighbourModel, simulated: bool = False) -> list[str]:
    meminfo = tmp_path / "meminfo"
    meminfo.write_text("MemTotal: 4194304 kB\nMemAvailable: 1048576 kB\n")
    found = list(noise_mistakes(noise, simulated=simulated, meminfo=meminfo))
    assert all(each.remedy for each in found)
    return [f"{each.where}: {each.message}" for each in found]


@pytest.fixture(autouse=True)
def _programs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Both are on PATH, on a machine with the CPUs 0 and 1 that this process may use."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("stress-ng", "plimsoll-antagonist"):
        (folder / name).write_text("")
        (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setattr("plimsoll.host.cpus.online_cpus", lambda: frozenset({0, 1}))
    monkeypatch.setattr("plimsoll.host.cpus.allowed_cpus", lambda: frozenset({0, 1}))


def test_neighbours_may_share_cpus(tmp_path: Path) -> None:
    memory = MemorySettings.model_validate(MEMORY)
    assert mistakes(tmp_path, memory, memory) == []


def test_a_missing_cpu_is_named(tmp_path: Path, says: Says) -> None:
    fine, lacking = (MemorySettings(working_set="1MiB", cpus=cpus) for cpus in ((0,), (1, 7)))
    assert mistakes(tmp_path, fine, lacking) == [says("noise[1].cpus[1]", "7")]


def test_stress_ng_that_is_not_installed_is_named_with_the_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, says: Says
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    (found,) = noise_mistakes([StressNgSettings(stressor="timer", cpus=(0,))], simulated=False)
    assert isinstance(found, MachineError)
    assert (found.where, found.message) == ("noise[0]", "stress-ng is missing")
    assert found == says("stress-ng", "noise", "--set", "noise=[]")


def test_more_memory_than_is_available_is_refused(tmp_path: Path, says: Says) -> None:
    half = MemorySettings(working_set="512MiB", cpus=(0,))
    more = MemorySettings(working_set="257MiB", cpus=(0, 1))
    assert mistakes(tmp_path, half, half) == []
    assert mistakes(tmp_path, half, more) == [says("1.08", "1.07")]


def test_a_cgroup_must_be_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, says: Says
) -> None:
    monkeypatch.setattr(noise, "CGROUP_ROOT", tmp_path)
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "cgroup.procs").write_text("")
    there, not_there = (MemorySettings(working_set="1MiB", cgroup=name) for name in ("a", "b"))
    assert mistakes(tmp_path, there, not_there) == [says("noise[1].cgroup", f"{tmp_path}/b")]


def test_a_directory_must_be_there(tmp_path: Path, says: Says) -> None:
    io = StressNgSettings(stressor="io", cpus=(0,), directory=tmp_path / "none")
    assert mistakes(tmp_path, io) == [says("noise[0].directory", f"{tmp_path}/none")]


def test_a_simulated_lab_has_no_neighbours(tmp_path: Path, says: Says) -> None:
    memory = MemorySettings.model_validate(MEMORY)
    assert mistakes(tmp_path, memory, simulated=True) == [says()]
    assert mistakes(tmp_path, simulated=True) == []
