"""What a guest's ports hang on, in the words of DPDK and QEMU."""

import os
from pathlib import Path

import pytest

from plimsoll.dut.guest.guest_ports import InterfacePorts, VhostUserPorts
from plimsoll.dut.guest.testpmd_guest import megabytes
from plimsoll.host.namespaces.network_namespace import NetworkNamespace

SPACE = NetworkNamespace("plimsoll-6a662e")


def test_a_guest_of_a_switch_with_dpdk_listens_on_sockets(tmp_path: Path) -> None:
    sockets = (tmp_path / "a.sock", tmp_path / "b.sock")
    ports = VhostUserPorts(sockets, 512)
    assert ports.namespace is None
    assert ports.devargs(1) == (
        f"net_virtio_user1,path={tmp_path}/b.sock,server=1,queues=1,queue_size=512"
    )
    assert ports.qemu_netdev(0, accelerated=True) == (
        *("-chardev", f"socket,id=port0,path={tmp_path}/a.sock,server=on,wait=off"),
        *("-netdev", "vhost-user,id=net0,chardev=port0"),
    )
    # DPDK left one of them behind.
    sockets[1].touch()
    ports.remove()
    ports.remove()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("accelerated", "has_vhost_net", "vhost"),
    # vhost-net without KVM has not been seen at work.
    [(True, True, "on"), (True, False, "off"), (False, True, "off")],
)
def test_a_guest_of_the_kernels_switch_has_interfaces(
    monkeypatch: pytest.MonkeyPatch, *, accelerated: bool, has_vhost_net: bool, vhost: str
) -> None:
    monkeypatch.setattr(os, "access", lambda path, _: path == "/dev/vhost-net" and has_vhost_net)
    ports = InterfacePorts(SPACE, ("guest0a", "guest0b"), 1518, 1500)
    assert ports.namespace == Path("/run/netns/plimsoll-6a662e")
    assert ports.devargs(0).startswith("net_af_packet0,iface=guest0a,")
    assert ports.qemu_netdev(1, accelerated=accelerated) == (
        "-netdev",
        f"tap,id=net1,ifname=guest0b,script=no,downscript=no,vhost={vhost}",
    )


@pytest.mark.parametrize(
    ("frame_size", "least_bytes", "pages"),
    # A frame without FCS, what the kernel puts before it (66 bytes), and the mbuf's headroom.
    [(64, 2048 + 128, 1), (1518, 2048 + 128, 1), (9216, 9212 + 66 + 128, 3)],
)
def test_an_mbuf_holds_a_buffer_of_the_ring(frame_size: int, least_bytes: int, pages: int) -> None:
    mbuf_bytes = InterfacePorts(SPACE, ("eth0", "eth1"), frame_size, 9198).mbuf_bytes
    assert least_bytes <= mbuf_bytes < least_bytes + 256
    # 8192 mbufs, of pages of 4 kB.
    assert megabytes(mbuf_bytes) - megabytes(2176) == (pages - 1) * 32
