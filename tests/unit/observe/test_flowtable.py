"""Paths through a flowtable: netlink's messages as the kernel writes them, made here by hand."""

import struct
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from plimsoll.host.namespaces import flowtable_counts
from plimsoll.host.namespaces.flowtable_counts import read_counter
from plimsoll.host.namespaces.netlink import LINKS
from plimsoll.observe.network import flowtable
from plimsoll.observe.network.flowtable import FlowtableObserver
from plimsoll.observe.network.watched_namespace import WatchedNamespace
from plimsoll.observe.reading.observer import NotObservable, Observation, ObservedHost
from plimsoll.observe.reading.readings import Readings
from plimsoll.record.metrics.metric_log import MetricLog
from tests.unit.observe.test_network import attribute
from tests.unit.observe.watched import Watched

LAB = "plimsoll-f10a7b"
HOST = ObservedHost(observation=Observation(namespaces={LAB: f"/run/netns/{LAB}"}))


def link(name: str, received: int) -> bytes:
    # struct rtnl_link_stats64 begins with rx_packets and tx_packets.
    stats = attribute(23, struct.pack("=QQ", received, 999) + bytes(176))
    return struct.pack("=BBHiII", 0, 0, 1, 7, 0, 0) + attribute(3, name.encode() + b"\0") + stats


def counter(name: str, packets: int, table: str = "plimsoll", kind: int = 1) -> bytes:
    """NFTA_OBJ_TABLE, _NAME, _TYPE, and _DATA with bytes and packets; numbers big-endian."""
    data = attribute(1, struct.pack(">Q", packets * 46)) + attribute(2, struct.pack(">Q", packets))
    return (
        struct.pack("=BBH", 1, 0, 0)
        + attribute(1, table.encode() + b"\0")
        + attribute(2, name.encode() + b"\0")
        + attribute(3, struct.pack(">I", kind))
        + attribute(4 | 0x8000, data)
    )


class Kernel:
    """Answers in place of both sockets."""

    def __init__(self) -> None:
        self.links: list[bytes] = []
        self.objects: list[bytes] = []

    def ask(self, request: int, head: bytes) -> Iterator[bytes]:
        # NFNL_SUBSYS_NFTABLES is 10, NFT_MSG_GETOBJ 19.
        return iter({LINKS: self.links, 0x0A13: self.objects}[request])

    def count(self, received: int, slow: int) -> None:
        self.links = [link("lo", 5), link("port0", received)]
        self.objects = [counter("port0", slow)]


@pytest.fixture
def kernel(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Kernel:
    def run(self: WatchedNamespace, work: Callable[[], object]) -> object:
        assert self.names == {"netns": LAB}
        return work()

    known = Kernel()
    monkeypatch.setattr(flowtable_counts, "RouteSocket", lambda: known)
    monkeypatch.setattr(flowtable_counts, "NetlinkSocket", lambda protocol: known)
    monkeypatch.setattr(WatchedNamespace, "run", run)
    monkeypatch.setattr(flowtable, "_ENTRY_COUNT", tmp_path / "count")
    (tmp_path / "count").write_text("64\n")
    return known


def test_a_counter_is_read() -> None:
    assert read_counter(counter("port0", 123)) == ("plimsoll", "port0", 123)
    # NFT_OBJECT_QUOTA.
    assert read_counter(counter("port0", 123, kind=2)) is None


def test_what_the_slow_path_did_not_see_took_the_fast(kernel: Kernel) -> None:
    kernel.count(received=100, slow=60)
    watched = Watched(FlowtableObserver, HOST)
    kernel.count(received=1100, slow=62)
    rows = watched.read()
    names = {"netns": LAB, "dev": "port0"}
    assert rows.counts("frames-sec", **names, path="fast") == [998]
    assert rows.counts("frames-sec", **names, path="slow") == [2]
    assert rows.values("conntrack-entries", netns=LAB) == [64]


def test_frames_between_the_two_readings_are_no_step_back(kernel: Kernel) -> None:
    kernel.count(received=100, slow=10)
    watched = Watched(FlowtableObserver, HOST)
    # Twenty frames came by the slow path, five of them after the interface was read.
    kernel.count(received=115, slow=30)
    watched.read()
    kernel.count(received=140, slow=30)
    rows = watched.read()
    assert sum(rows.counts("frames-sec", dev="port0", path="fast")) == 20  # type: ignore[arg-type]
    assert sum(rows.counts("frames-sec", dev="port0", path="slow")) == 20  # type: ignore[arg-type]


@pytest.mark.parametrize("objects", [[], [counter("port0", 5, table="firewall")]])
def test_a_lab_without_a_flowtable_says_so(kernel: Kernel, objects: list[bytes]) -> None:
    kernel.count(received=100, slow=60)
    kernel.objects = objects
    readings = Readings("flowtable", MetricLog("trial-0001", 0, {}))
    with pytest.raises(NotObservable, match="no router of a lab's has a flowtable"):
        FlowtableObserver(HOST, readings)


def test_a_kernel_without_nftables_has_none(
    kernel: Kernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(request: int, head: bytes) -> Iterator[bytes]:
        raise OSError(22, "Invalid argument")

    monkeypatch.setattr(kernel, "ask", refuse)
    readings = Readings("flowtable", MetricLog("trial-0001", 0, {}))
    with pytest.raises(NotObservable):
        FlowtableObserver(HOST, readings)
