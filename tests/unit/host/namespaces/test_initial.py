"""Namespaces of this process, by the numbers that the kernel gives its own first ones."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from plimsoll.host.namespaces.network_namespace import has_host_clocks, has_host_process_ids

LOOK = (
    "from plimsoll.host.namespaces.network_namespace import has_host_process_ids as h; print(h())"
)


def test_a_kernel_without_such_namespaces_has_none_but_its_own(tmp_path: Path) -> None:
    assert has_host_process_ids(tmp_path)
    assert has_host_clocks(tmp_path)


def test_any_other_namespace_is_not_the_hosts(tmp_path: Path) -> None:
    for name in ("pid", "time"):
        (tmp_path / name).touch()
    assert not has_host_process_ids(tmp_path)
    assert not has_host_clocks(tmp_path)


def test_a_process_in_a_namespace_of_its_own_has_ids_of_its_own() -> None:
    if os.geteuid() != 0 or shutil.which("unshare") is None:
        pytest.skip("only root makes a namespace of process ids")
    argv = ("unshare", "--pid", "--fork", "--mount-proc", sys.executable, "-c", LOOK)
    done = subprocess.run(argv, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
