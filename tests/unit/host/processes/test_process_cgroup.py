"""A process's cgroup, from files as the kernel writes them."""

import os
from pathlib import Path

import pytest

from plimsoll.host.processes.identity import cgroup_of


@pytest.mark.parametrize(
    ("text", "cgroup"),
    [
        ("0::/kubepods/pod1/c2\n", "/kubepods/pod1/c2"),
        ("12:cpu,cpuacct:/old\n0::/init.scope\n", "/old"),
        ("3:cpuset:/set\n12:cpuacct,cpu:/old\n", "/old"),
        ("3:cpuset:/set\n", None),
    ],
)
def test_the_cpu_controllers_hierarchy_counts_then_the_unified_one(
    tmp_path: Path, text: str, cgroup: str | None
) -> None:
    (tmp_path / "7").mkdir()
    (tmp_path / "7/cgroup").write_text(text)
    assert cgroup_of(7, tmp_path) == cgroup


def test_a_process_that_ended_has_none(tmp_path: Path) -> None:
    assert cgroup_of(7, tmp_path) is None
    assert cgroup_of(os.getpid()) is None or str(cgroup_of(os.getpid())).startswith("/")
