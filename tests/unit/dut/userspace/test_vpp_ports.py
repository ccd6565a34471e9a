"""VPP's ports: the commands that make them and bring them up."""

from pathlib import Path

import pytest

from plimsoll.dut.userspace.vpp_startup import VppCardPorts, VppMemifPorts

MACS = ("02:00:01:00:00:01", "02:00:00:00:00:01")
PCI = ("0000:86:00.0", "0000:86:00.1")


def test_memif_ports_are_made_upon_a_socket() -> None:
    ports = VppMemifPorts(9216, MACS, Path("/run/m.sock"), ring_frames=1024, buffer_bytes=9216)
    assert [" ".join(each) for each in ports.commands()][:4] == [
        "create memif socket id 1 filename /run/m.sock",
        "create interface memif id 0 socket-id 1 master ring-size 1024 buffer-size 9216 "
        "hw-addr 02:00:01:00:00:01",
        "set interface mtu packet 9198 memif1/0",
        "set interface state memif1/0 up",
    ]


@pytest.mark.parametrize(("frame_size", "mtu"), [(64, 1500), (1518, 1500), (9018, 9000)])
def test_a_card_is_set_to_the_longest_frame(frame_size: int, mtu: int) -> None:
    """A card that refuses the MTU would else lose such frames without a word."""
    ports = VppCardPorts(frame_size, MACS, PCI)
    assert [" ".join(each) for each in ports.commands()] == [
        "set interface mac address port0 02:00:01:00:00:01",
        f"set interface mtu {mtu} port0",
        "set interface state port0 up",
        "set interface mac address port1 02:00:00:00:00:01",
        f"set interface mtu {mtu} port1",
        "set interface state port1 up",
    ]
