"""The script that divides and binds a host's ports, run on PCI functions that are stood in for."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.unit.tune.intent_documents import HOST, intent_with
from tests.unit.tune.render.pci_stand_in import PciStandIn
from tests.unit.tune.render.rendering import rendered
from tests.worded.says import Says

PORTS = "host/usr/local/sbin/plimsoll-ports"
DIVIDED = {
    "name": "east",
    "pf_names": ["ens1"],
    "num_vfs": 2,
    "driver": "vfio-pci",
    "mtu": 9000,
    "trust": True,
    "spoofchk": False,
}
WHOLE = {"name": "west", "pci": ["0000:05:00.0"], "driver": "vfio-pci"}
NAMED = {"name": "west", "pf_names": ["ens5"], "driver": "vfio-pci"}


def script_of(*nics: dict[str, Any]) -> str:
    return rendered(intent_with(HOST, nics=list(nics)))[PORTS].text


@pytest.fixture
def host(tmp_path: Path) -> PciStandIn:
    """A port ens1 with two VFs where one is requested so far, and a whole one, ens5."""
    host = PciStandIn(tmp_path)
    port = host.function("0000:87:00.0", "ice", "ens1")
    (port / "sriov_numvfs").write_text("1\n")
    for number in (0, 1):
        vf = host.function(f"0000:87:02.{number}", "iavf")
        (port / f"virtfn{number}").symlink_to(vf)
    host.function("0000:05:00.0", "i40e", "ens5")
    return host


def test_ports_are_divided_set_and_bound(host: PciStandIn, says: Says) -> None:
    ended = host.run(script_of(DIVIDED, WHOLE))
    assert (ended.returncode, ended.stderr) == (0, "")
    vfs = [
        (
            f"ip link set dev ens1 vf {number} trust on spoofchk off",
            f"bus/pci/devices/0000:87:02.{number}/driver_override vfio-pci",
            f"bus/pci/drivers/iavf/unbind 0000:87:02.{number}",
            f"bus/pci/drivers_probe 0000:87:02.{number}",
        )
        for number in (0, 1)
    ]
    assert host.log() == [
        "bus/pci/devices/0000:87:00.0/sriov_numvfs 0",
        "bus/pci/devices/0000:87:00.0/sriov_numvfs 2",
        says("ens1", "9000", "ip link set dev ens1 mtu 9000"),
        *vfs[0],
        *vfs[1],
        "bus/pci/devices/0000:05:00.0/driver_override vfio-pci",
        "bus/pci/drivers/i40e/unbind 0000:05:00.0",
        "bus/pci/drivers_probe 0000:05:00.0",
    ]
    bound = [host.driver_of(each) for each in ("0000:87:02.0", "0000:87:02.1", "0000:05:00.0")]
    assert bound == ["vfio-pci"] * 3
    assert host.driver_of("0000:87:00.0") == "ice"


def test_a_second_run_in_one_boot_touches_no_function(host: PciStandIn) -> None:
    """A port that is bound may be in use: unbinding would wait for who uses it."""
    script = script_of(DIVIDED, NAMED)
    host.run(script)
    assert not (host.root / "sys/class/net/ens5").exists()
    host.log()
    ended = host.run(script)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert [line for line in host.log() if not line.startswith("ip ")] == []


def test_another_port_that_takes_over_the_name_is_left_alone(host: PciStandIn) -> None:
    host.run(script_of(NAMED))
    host.log()
    host.function("0000:06:00.0", "ixgbe", "ens5")
    ended = host.run(script_of(NAMED))
    assert (ended.returncode, host.log(), host.driver_of("0000:06:00.0")) == (0, [], "ixgbe")


def test_after_a_boot_the_name_counts_anew(host: PciStandIn) -> None:
    host.run(script_of(NAMED))
    shutil.rmtree(host.root / "run")
    host.function("0000:06:00.0", "ixgbe", "ens5")
    host.run(script_of(NAMED))
    assert host.driver_of("0000:06:00.0") == "vfio-pci"


def test_a_run_that_stopped_half_way_is_finished_by_the_next(host: PciStandIn, says: Says) -> None:
    """Without its module vfio-pci takes nothing; by the next run it is loaded."""
    driver = host.driver("vfio-pci")
    driver.rmdir()
    ended = host.run(script_of(NAMED))
    assert ended.returncode == 1
    folder = host.devices / "0000:05:00.0"
    assert ended.stderr == says(str(folder), "vfio-pci")
    driver.mkdir()
    ended = host.run(script_of(NAMED))
    assert (ended.returncode, ended.stderr) == (0, "")
    assert host.driver_of("0000:05:00.0") == "vfio-pci"


def test_a_virtio_interface_is_bound_by_its_pci_function(host: PciStandIn) -> None:
    function = host.function("0000:00:03.0", "virtio-pci")
    host.interface("eth1", function / "virtio1")
    ended = host.run(script_of({**NAMED, "pf_names": ["eth1"]}))
    assert (ended.returncode, ended.stderr) == (0, "")
    assert host.driver_of("0000:00:03.0") == "vfio-pci"


def test_an_interface_that_is_not_there_is_named(host: PciStandIn, says: Says) -> None:
    ended = host.run(script_of({**NAMED, "pf_names": ["ens9"]}))
    assert ended.returncode == 1
    assert ended.stderr == says("ens9")


def test_a_port_that_is_not_there_is_named(host: PciStandIn, says: Says) -> None:
    ended = host.run(script_of({**WHOLE, "pci": ["0000:09:00.0"]}))
    assert ended.returncode == 1
    assert ended.stderr == says(f"{host.devices}/0000:09:00.0")


def test_ports_by_id_are_not_bound_for_they_may_carry_other_traffic() -> None:
    by_id = {"name": "any", "vendor": "8086", "device_id": "158b", "driver": "vfio-pci"}
    files = rendered(intent_with(HOST, nics=[by_id]))
    assert PORTS not in files
    assert files["host/etc/modules-load.d/plimsoll-box.conf"].text.endswith("\nvfio-pci\n")


def test_an_interfaces_name_is_no_command(host: PciStandIn) -> None:
    name = "$(touch${IFS}x)"
    host.run(script_of({"name": "east", "pf_names": [name], "num_vfs": 1, "mtu": 1500}))
    assert not (host.root / "x").exists()
