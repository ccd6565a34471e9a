import os
from pathlib import Path

import pytest

from plimsoll.observe.reading.observer import NotObservable
from plimsoll.observe.sysfs.smi import Smi
from tests.this_thread import in_this_thread
from tests.unit.observe.cpu_tree import CpuTree
from tests.unit.observe.watched import Watched


@pytest.fixture
def tree(tmp_path: Path) -> CpuTree:
    tree = CpuTree(tmp_path, cpus=8)
    for cpu in range(8):
        tree.smis(cpu, 100 + cpu)
    return tree


def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The paths that are opened from now on."""
    paths: list[str] = []
    really_open = os.open

    def note(path: os.PathLike[str], flags: int) -> int:
        paths.append(Path(path).parent.name)
        return really_open(path, flags)

    monkeypatch.setattr(os, "open", in_this_thread(os.open, note))
    return paths


def test_smis_are_counted_once_for_the_host(tree: CpuTree) -> None:
    smi = Watched(Smi, tree.host())
    tree.smis(0, 103)
    tree.smis(5, 900)
    rows = smi.read()
    assert rows.counts("smis-sec") == [3]
    assert dict(rows.rows[0].names) == {"hostname": "host", "cstype": "profiler"}


def test_only_the_lower_half_of_the_register_counts(tree: CpuTree) -> None:
    smi = Watched(Smi, tree.host())
    tree.smis(0, 102 + (5 << 32))
    assert smi.read().counts("smis-sec") == [2]


def test_polled_cpus_are_never_asked(tree: CpuTree, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = opened(monkeypatch)
    Watched(Smi, tree.host(polled_cpus=[0, 2, 4, 5, 6]))
    assert paths == ["1"]


def test_the_agents_own_cpus_are_queried_first(
    tree: CpuTree, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = opened(monkeypatch)
    Watched(Smi, tree.host(run_on=[2, 3], polled_cpus=[2]))
    assert paths == ["3"]


def test_with_every_cpu_under_test_none_is_queried(tree: CpuTree) -> None:
    with pytest.raises(NotObservable, match=r"every CPU is under test.*leave a CPU to the rest"):
        Watched(Smi, tree.host(polled_cpus=range(8)))


def test_without_the_module_it_says_what_to_load(tmp_path: Path) -> None:
    tree = CpuTree(tmp_path, cpus=2)
    with pytest.raises(
        NotObservable, match=r"cpu/0/msr: No such file .*load the kernel module msr"
    ):
        Watched(Smi, tree.host())


def test_without_the_right_it_says_who_may(tree: CpuTree, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: os.PathLike[str], flags: int) -> int:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "open", in_this_thread(os.open, refuse))
    with pytest.raises(NotObservable, match=r"Operation not permitted .run as root.*lockdown"):
        Watched(Smi, tree.host())


def test_a_cpu_without_the_register_says_whose_have_it(tree: CpuTree) -> None:
    # On AMD the driver answers EIO; a file that is too short stands in for it.
    (tree.files.dev / "cpu/0/msr").write_bytes(b"")
    with pytest.raises(NotObservable, match="only Intel CPUs count SMIs there"):
        Watched(Smi, tree.host())
