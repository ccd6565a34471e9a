"""Devargs that have nothing run and no file written."""

import pytest

from plimsoll.dut.ports.tester_ports import is_plain


@pytest.mark.parametrize(
    "devargs",
    [
        "0000:03:00.0",
        "03:00.1",
        "0000:03:00.0,representor=[0-3]",
        "net_memif0,role=client,id=0,socket=/run/dut/memif.sock,socket-abstract=no",
        "net_vhost1,iface=/run/dut/vhost.sock,queues=2",
        "net_virtio_user0,path=/run/dut/vhost.sock,server=1,mac=02:00:00:00:00:01",
        "net_af_packet0,iface=eth0.100",
        "net_tap0,iface=plimsoll0",
        "net_null0",
    ],
)
def test_cards_and_plain_vdevs(devargs: str) -> None:
    assert is_plain(devargs)


@pytest.mark.parametrize(
    "devargs",
    [
        # DPDK, "Fail-safe poll mode driver library": a command that a shell runs.
        "net_failsafe0,exec(touch /tmp/x)",
        "vdev:net_failsafe0,exec(touch /tmp/x)",
        "bus=vdev,name=net_failsafe0,exec(id)",
        "net_bonding0,mode=1,member=net_failsafe0",
        # Files written and read.
        "net_pcap0,tx_pcap=/etc/cron.d/x",
        "net_pcap0,tx_pcap=x",
        "net_softnic0,firmware=/tmp/script.cli",
        "net_af_xdp0,iface=eth0,xdp_prog=/tmp/program.o",
        # Arguments of drivers that take none of these.
        "0000:03:00.0,ddp=/tmp/package.pkg",
        "net_memif0,socket=/run/x,secret=/etc/shadow",
        "net_vhost0,socket=/run/x",
        "net_memif0,socket=/run/x\nnet_pcap0",
        "net_memif0,exec(id)",
        "net_memifx",
        "",
    ],
)
def test_what_does_more(devargs: str) -> None:
    assert not is_plain(devargs)
