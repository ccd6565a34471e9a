"""What a kernel was built with, by the files that say so."""

import gzip
import platform
from pathlib import Path

import pytest

from plimsoll.host.kernel_options import KernelOption

VLAN = KernelOption("VLAN_8021Q", "8021q", "VLAN interfaces")


def configured(root: Path, line: str, modules: str | None = None) -> Path:
    """A root directory of a kernel whose configuration has that line."""
    text = f"CONFIG_BRIDGE=y\n{line}\n# CONFIG_VLAN_8021Q_GVRP is not set\n"
    (root / "proc").mkdir()
    (root / "proc/config.gz").write_bytes(gzip.compress(text.encode()))
    if modules is not None:
        folder = root / "lib/modules" / platform.release()
        folder.mkdir(parents=True)
        (folder / "modules.dep").write_text(modules)
    return root


@pytest.mark.parametrize(
    ("line", "modules", "missing"),
    [
        ("CONFIG_VLAN_8021Q=y", None, False),
        ("# CONFIG_VLAN_8021Q is not set", None, True),
        ("", None, True),
        ("CONFIG_VLAN_8021Q=m", "kernel/net/8021q/8021q.ko.xz: kernel/net/llc/llc.ko.xz\n", False),
        ("CONFIG_VLAN_8021Q=m", "kernel/net/bridge/bridge.ko:\n", True),
        ("CONFIG_VLAN_8021Q=m", None, True),
    ],
)
def test_the_configuration_says(
    tmp_path: Path, line: str, modules: str | None, *, missing: bool
) -> None:
    assert VLAN.is_missing(configured(tmp_path, line, modules)) is missing


def test_a_module_that_is_loaded_is_there(tmp_path: Path) -> None:
    root = configured(tmp_path, "CONFIG_VLAN_8021Q=m")
    (root / "sys/module/8021q").mkdir(parents=True)
    assert not VLAN.is_missing(root)


def test_the_configuration_may_lie_next_to_the_kernel(tmp_path: Path) -> None:
    (tmp_path / "boot").mkdir()
    (tmp_path / f"boot/config-{platform.release()}").write_text("# CONFIG_VLAN_8021Q is not set\n")
    assert VLAN.is_missing(tmp_path)


def test_a_kernel_that_says_nothing_is_tried(tmp_path: Path) -> None:
    assert not VLAN.is_missing(tmp_path)


def test_it_is_named_by_what_it_brings() -> None:
    assert str(VLAN) == "VLAN interfaces (CONFIG_VLAN_8021Q)"
