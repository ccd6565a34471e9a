"""The observers of DUTs in namespaces, on real ones: what they count is what was sent."""

import shutil
import subprocess
from pathlib import Path

import pytest

from plimsoll.errors import MachineError
from plimsoll.host.ledger.ledger import Ledger
from plimsoll.observe.network.bridge import Bridge
from plimsoll.observe.network.qdisc import Qdisc
from plimsoll.observe.network.xdp import Xdp
from plimsoll.observe.openvswitch.openvswitch import OpenVswitch
from plimsoll.observe.reading.observer import Observation, ObservedHost
from tests.integration.command import until
from tests.integration.dut.namespace_lab import FRAMES, ends_of, exchange, make_lab, settings_of
from tests.unit.observe.watched import Watched


def host_of(ledger: Ledger) -> ObservedHost:
    namespace = ledger.namespace
    return ObservedHost(observation=Observation(namespaces={namespace.name: str(namespace.path)}))


def test_a_bridge_learns_an_address_at_each_port(ledger: Ledger) -> None:
    lab = make_lab(ledger, "linux-bridge")
    ends = ends_of(lab)
    watched = Watched(Bridge, host_of(ledger))
    exchange(ends)
    rows = watched.read()
    netns = ledger.namespace.name
    learned = [
        rows.values("fdb-entries", netns=netns, dev=port, kind="learned")
        for port in ("port0", "port1")
    ]
    assert learned == [[1], [1]]
    lab.down()


def test_actions_of_xdp_are_counted_by_port(ledger: Ledger) -> None:
    try:
        settings_of("xdp").check_machine()
    except MachineError as error:
        pytest.skip(str(error))
    lab = make_lab(ledger, "xdp", mode="generic")
    ends = ends_of(lab)
    watched = Watched(Xdp, host_of(ledger))
    exchange(ends)
    rows = watched.read()
    for port in (0, 1):
        names = {"netns": ledger.namespace.name, "dev": ledger.namespace.dut_end(port)}
        assert rows.counts("actions-sec", **names, action="redirect") == [FRAMES]
        assert rows.counts("actions-sec", **names, action="drop") == [0]
    lab.down()


def test_a_discipline_counts_what_leaves_by_it(ledger: Ledger) -> None:
    if shutil.which("tc") is None:
        pytest.skip("tc is missing (iproute2)")
    lab = make_lab(ledger, "linux-bridge")
    ends = ends_of(lab)
    netns = ledger.namespace.name
    fifo = ("qdisc", "add", "dev", "port1", "root", "pfifo", "limit", "1000")
    subprocess.run(["tc", "-netns", netns, *fifo], check=True)
    watched = Watched(Qdisc, host_of(ledger))
    exchange(ends)
    rows = watched.read()
    names = {"netns": netns, "dev": "port1", "kind": "pfifo"}
    assert rows.counts("packets-sec", **names) == [FRAMES]
    assert rows.counts("drops-sec", **names) == [0]
    lab.down()


def test_what_is_read_does_not_keep_a_lab_from_going(ledger: Ledger) -> None:
    lab = make_lab(ledger, "linux-bridge")
    lab.up()
    watched = Watched(Bridge, host_of(ledger))
    lab.down()
    assert not ledger.namespace.path.exists()
    assert not list(Path("/sys/class/net").glob(ledger.namespace.tester_end(0)))
    watched.read()


def test_open_vswitch_is_read_by_its_control_socket(ledger: Ledger) -> None:
    try:
        settings_of("ovs").check_machine()
    except MachineError as error:
        pytest.skip(str(error))
    lab = make_lab(ledger, "ovs")
    ends = ends_of(lab)
    sockets = {each.name: str(each.unixctl) for each in lab.processes()}
    host = ObservedHost(observation=Observation(openvswitch=sockets))
    watched = Watched(OpenVswitch, host)
    exchange(ends)
    rows = watched.read()
    names = {"app": "ovs-vswitchd", "thread": "main"}
    assert rows.counts("packets-sec", **names) == [2 * FRAMES]
    looked_up = {row.names["kind"]: row.count for row in rows.matching("lookups-sec", **names)}
    # The first of each flow asks the slow path; by which cache the others are found is its own.
    assert looked_up["upcall"] >= 2
    assert sum(count or 0 for count in looked_up.values()) == 2 * FRAMES
    assert set(rows.values("datapath-flows")) <= {0, 1, 2}

    # A switch that comes to its turn late evicts one before it is counted.
    def both_are_there() -> bool:
        exchange(ends)
        return bool(watched.read().values("datapath-flows")[-1] == 2)

    until(both_are_there, "both megaflows")
    lab.down()
