"""Traffic, drops and errors of network devices."""

import socket
from pathlib import Path

import pytest

from plimsoll.observe.agent.agent import Sampler
from plimsoll.observe.procfs.sar_net import SarNet
from plimsoll.observe.reading.observer import ObservedHost
from tests.unit.observe.trees import HostTree
from tests.unit.observe.watched import Watched


@pytest.fixture
def tree(tmp_path: Path) -> HostTree:
    return HostTree(tmp_path, cpus=2, interrupts=0, devices=2)


def watched(tree: HostTree) -> Watched:
    return Watched(SarNet, ObservedHost(tree.files))


def test_each_direction_has_its_own_figures(tree: HostTree) -> None:
    net = watched(tree)
    #           bytes        packets bad drop fifo frame compressed multicast
    received = [250_000_000, 200_000, 3, 40, 900, 900, 900, 900]
    #       bytes       packets bad drop fifo collisions carrier compressed
    sent = [12_500_000, 100_000, 5, 6, 900, 900, 900, 900]
    tree.tables.devices["eth1"] = received + sent
    tree.write()
    rows = net.read()
    rx, tx = ({"dev": "eth1", "direction": way, "type": "physical"} for way in ("rx", "tx"))
    # 250 MB in a second are 2 Gbit/s.
    assert rows.values("L2-Gbps", **rx) == [pytest.approx(2.0)]
    assert rows.counts("L2-Gbps", **rx) == [250_000_000]
    assert rows.values("L2-Gbps", **tx) == [pytest.approx(0.1)]
    assert rows.counts("packets-sec", **rx) == [200_000]
    assert rows.counts("packets-sec", **tx) == [100_000]
    errors = {
        (row.names["direction"], row.names["error"]): row.count
        for row in rows.matching("errors-sec", dev="eth1")
    }
    assert errors == {
        ("rx", "bad"): 3, ("rx", "dropped"): 40, ("tx", "bad"): 5, ("tx", "dropped"): 6,
    }  # fmt: skip


def test_what_is_on_no_bus_is_virtual(tree: HostTree) -> None:
    rows = watched(tree).read()
    kinds = {row.names["dev"]: row.names["type"] for row in rows.rows}
    assert kinds == {"lo": "virtual", "eth0": "physical", "eth1": "physical"}
    # No traffic is a figure: one row for all the time.
    assert rows.counts("errors-sec", dev="lo", direction="rx", error="dropped") == [0]


def test_devices_come_and_go(tree: HostTree) -> None:
    devices = tree.tables.devices
    net = watched(tree)
    devices["veth7"] = [1000, 10, *[0] * 14]
    del devices["eth0"]
    tree.write()
    net.read()
    devices["veth7"][1] += 5
    tree.write()
    net.read()
    # Another device of that name, which counts from its own beginning.
    devices["veth7"] = [0] * 16
    tree.write()
    net.read()
    devices["veth7"][1] = 2
    tree.write()
    rows = net.read()
    assert rows.matching("packets-sec", dev="eth0") == []
    received = {"dev": "veth7", "direction": "rx"}
    assert rows.times("packets-sec", **received) == [(1, 2), (3, 4)]
    assert rows.counts("packets-sec", **received) == [5, 2]


@pytest.mark.parametrize(
    ("name", "dev"),
    [
        ("eth0:1", "eth0:1"),
        ("../../../etc", "../../../etc"),
        ("'); DROP--", "'); DROP--"),
        ("a\x1bb", "a\\x1bb"),
        ("\udcff", "\\xff"),
    ],
)
def test_hostile_names_stay_names(tree: HostTree, name: str, dev: str) -> None:
    (tree.root / "etc/device").mkdir(parents=True)
    tree.tables.devices = {name: [0] * 16}
    tree.write()
    net = watched(tree)
    tree.tables.devices[name][1] = 3
    tree.write()
    rows = net.read()
    assert rows.counts("packets-sec", dev=dev, direction="rx") == [3]
    assert {row.names["type"] for row in rows.rows} == {"virtual"}


def test_other_columns_end_it(tree: HostTree) -> None:
    (tree.files.proc / "net/dev").write_text("one\ntwo\n  eth0: 1 2 3\n")
    sampler = Sampler(ObservedHost(tree.files), [SarNet], "host", "trial-0001")
    said = sampler.missing["sar-net"]
    assert said.endswith(f"{tree.files.proc}/net/dev has other columns")


def test_datagrams_over_loopback_are_counted_on_this_host() -> None:
    live = Watched(SarNet, ObservedHost())
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as here:
        here.bind(("127.0.0.1", 0))
        for _ in range(20):
            here.sendto(b"x" * 1000, here.getsockname())
            here.recv(2000)
    rows = live.read()
    for direction in ("rx", "tx"):
        own = {"dev": "lo", "direction": direction, "type": "virtual"}
        assert sum(n or 0 for n in rows.counts("packets-sec", **own)) >= 20
        assert sum(n or 0 for n in rows.counts("L2-Gbps", **own)) >= 20_000
