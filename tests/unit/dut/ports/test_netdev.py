from dataclasses import replace
from typing import Any

import pytest

from plimsoll.dut.ports.netdev import NetdevFacts, NetdevPort, open_netdev
from plimsoll.errors import InputError, MachineError
from plimsoll.host.ports.netdevs import Netdev
from tests.worded.says import Says

ALL = frozenset({"CAP_NET_ADMIN", "CAP_NET_RAW", "CAP_BPF"})
CARD = Netdev(
    name="ens1",
    kind="pci",
    driver="ice",
    pci_address="0000:87:00.0",
    numa_node=0,
    mac="02:00:00:00:00:01",
    mtu=1500,
    up=True,
    carrier=True,
    speed_mbps=25000,
    rx_queues=1,
    tx_queues=1,
    masters=(),
)


def opened(netdev: Netdev = CARD, why_no_xdp: str | None = None, **changes: Any) -> NetdevPort:
    facts = NetdevFacts(
        netdevs={netdev.name: netdev},
        in_use=changes.pop("in_use", {}),
        capabilities=changes.pop("capabilities", ALL),
        why_no_xdp=lambda name, queue: why_no_xdp,
    )
    settings = {"driver": "auto", "queues": 1, "frame_size": 1518, **changes}
    return open_netdev("ens1", 3, place="lab.ports", facts=facts, **settings)


def test_af_xdp_is_taken_where_it_can_be() -> None:
    assert opened() == NetdevPort(
        devargs="net_af_xdp3,iface=ens1",
        queue_frames=None,
        speed_mbps=25000,
        note="port 3 is ens1, opened by AF_XDP",
    )


def test_af_xdp_is_taken_up_to_its_longest_frames() -> None:
    assert opened(frame_size=3396).devargs == "net_af_xdp3,iface=ens1"


def test_af_packet_is_taken_where_it_cannot(says: Says) -> None:
    assert opened(why_no_xdp="the kernel has no AF_XDP") == NetdevPort(
        devargs="net_af_packet3,iface=ens1,framecnt=4096",
        queue_frames=4096,
        speed_mbps=25000,
        note=says("3", "ens1", "AF_PACKET", "AF_XDP", "the kernel has no AF_XDP"),
    )


@pytest.mark.parametrize(
    ("changes", "facts"),
    [
        ({"frame_size": 3397}, ("3396",)),
        ({"capabilities": {"CAP_NET_RAW"}}, ("CAP_NET_ADMIN", "CAP_BPF")),
        (
            {"netdev": replace(CARD, rx_queues=8), "queues": 2},
            ("2", "8", "ethtool -L ens1 combined 2"),
        ),
    ],
)
def test_the_reason_against_af_xdp_is_noted(
    changes: dict[str, Any], facts: tuple[str, ...], says: Says
) -> None:
    port = opened(**changes)
    assert port.devargs.startswith("net_af_packet3,iface=ens1,")
    assert port.note == says("AF_PACKET", "AF_XDP", *facts)


def test_af_packet_when_requested(says: Says) -> None:
    port = opened(driver="af_packet")
    assert port.devargs == "net_af_packet3,iface=ens1,framecnt=4096"
    assert port.note == says("3", "ens1", "AF_PACKET")


def test_af_xdp_is_not_replaced_when_requested(says: Says) -> None:
    with pytest.raises(MachineError) as refused:
        opened(driver="af_xdp", why_no_xdp="its driver does not support it")
    assert refused.value.where == "lab.ports[3].netdev"
    assert refused.value == says("ens1", "AF_XDP")
    assert "af_packet" in refused.value.remedy


def test_each_driver_has_its_own_word_for_queues() -> None:
    card = replace(CARD, rx_queues=4)
    assert opened(card, queues=4).devargs == "net_af_xdp3,iface=ens1,queue_count=4"
    assert opened(card, "no", queues=4).devargs == (
        "net_af_packet3,iface=ens1,framecnt=4096,qpairs=4"
    )


@pytest.mark.parametrize(
    ("frame_size", "buffers"),
    [
        # 66 bytes of header: 1982 of frame without FCS are the most for buffers of 2048.
        (1986, "framecnt=4096"),
        (1987, "framecnt=3840,blocksz=69632,framesz=2176"),
        (9216, "framecnt=896,blocksz=299008,framesz=9344"),
    ],
)
def test_packet_buffers_hold_the_frames_and_a_ring_takes_8_mb(
    frame_size: int, buffers: str
) -> None:
    port = opened(driver="af_packet", frame_size=frame_size)
    assert port.devargs == f"net_af_packet3,iface=ens1,{buffers}"
    values = dict(part.split("=") for part in port.devargs.split(",")[2:])
    count, size = int(values["framecnt"]), int(values.get("framesz", 2048))
    assert port.queue_frames == count
    assert count * size <= 8 * 2**20
    # The driver takes whole buffers to a block, the kernel whole pages.
    block = int(values.get("blocksz", 4096))
    assert block % size == 0
    assert block % 4096 == 0
    assert count % (block // size) == 0


def test_a_virtual_interface_has_no_line_rate() -> None:
    veth = replace(CARD, kind="virtual", driver=None, pci_address=None, speed_mbps=10000)
    assert opened(veth).speed_mbps is None


@pytest.mark.parametrize(
    ("netdev", "changes", "error", "facts"),
    [
        (replace(CARD, name="ens2"), {}, InputError, ("ens1", "ens2")),
        (
            CARD,
            {"in_use": {"ens1": "it carries the default route"}},
            InputError,
            ("ens1", "plimsoll ports"),
        ),
        (
            CARD,
            {"capabilities": {"CAP_BPF"}},
            MachineError,
            ("ens1", "CAP_NET_RAW"),
        ),
        (
            replace(CARD, up=False, carrier=None),
            {},
            MachineError,
            ("ens1",),
        ),
        (
            replace(CARD, carrier=False),
            {},
            MachineError,
            ("ens1",),
        ),
        (
            replace(CARD, masters=("br0",)),
            {},
            MachineError,
            ("br0", "ip link set ens1 nomaster"),
        ),
    ],
)
def test_an_interface_that_will_not_do_is_refused(
    netdev: Netdev,
    changes: dict[str, Any],
    error: type[Exception],
    facts: tuple[str, ...],
    says: Says,
) -> None:
    with pytest.raises(error) as refused:
        opened(netdev, **changes)
    assert refused.value == says("lab.ports[3].netdev", *facts)
