"""The interfaces of a lab, watched in a tree of sysfs that the test writes."""

from pathlib import Path

import pytest

from plimsoll.dut.lab import LabPorts, LinkGone
from plimsoll.dut.wired import NetdevLab
from plimsoll.host.ports.netdevs import LinkState, read_link_state
from tests.worded.says import Says

PORTS = LabPorts(("net_null0", "net_af_packet1,iface=eth1"), 1024, 1024, ((0, 1),), "wire", None)


class Interface:
    def __init__(self, sys: Path, name: str) -> None:
        self.path = sys / "class/net" / name
        self.path.mkdir(parents=True)
        self.write(ifindex=7, carrier=1, carrier_down_count=3)

    def write(self, **files: int) -> None:
        for name, value in files.items():
            (self.path / name).write_text(f"{value}\n")

    def vanish(self) -> None:
        self.path.rename(self.path.with_name("elsewhere"))


@pytest.fixture
def eth1(tmp_path: Path) -> Interface:
    return Interface(tmp_path, "eth1")


@pytest.fixture
def lab(tmp_path: Path, eth1: Interface) -> NetdevLab:
    made = NetdevLab("external", PORTS, {1: "eth1"}, "lab.ports", tmp_path)
    assert made.up() is PORTS
    return made


def test_a_link_that_stays_is_not_lost(lab: NetdevLab) -> None:
    lost = lab.watch_links()
    lab.check()
    assert lost() == ()


def test_a_lost_carrier_is_noticed_even_when_it_is_back(lab: NetdevLab, eth1: Interface) -> None:
    lost = lab.watch_links()
    eth1.write(carrier=0, carrier_down_count=4)
    assert lost() == ("interface eth1",)
    eth1.write(carrier=1)
    assert lost() == ("interface eth1",)
    lab.check()
    # The next trial begins anew.
    assert lab.watch_links()() == ()


def test_a_carrier_that_is_not_there_from_the_first_is_lost(
    lab: NetdevLab, eth1: Interface
) -> None:
    eth1.write(carrier=0)
    assert lab.watch_links()() == ("interface eth1",)


def test_an_interface_that_is_down_has_no_carrier_to_read(tmp_path: Path, eth1: Interface) -> None:
    (eth1.path / "carrier").unlink()
    (eth1.path / "carrier_down_count").unlink()
    assert read_link_state("eth1", tmp_path) == LinkState(index=7, carrier=False, losses=None)


def test_an_interface_that_vanishes_is_named(lab: NetdevLab, eth1: Interface) -> None:
    lost = lab.watch_links()
    eth1.vanish()
    for ask in (lab.check, lost, lab.watch_links):
        with pytest.raises(LinkGone) as gone:
            ask()
        assert gone.value.message == "interface eth1 is gone"
        assert gone.value.where == "lab.ports[1].netdev"
        assert gone.value.exit_code == 3
        assert gone.value.remedy


def test_another_interface_of_the_same_name_is_not_the_one(
    lab: NetdevLab, eth1: Interface, says: Says
) -> None:
    eth1.write(ifindex=8)
    with pytest.raises(LinkGone) as caught:
        lab.check()
    assert caught.value == says("eth1")
