"""Open vSwitch by its control socket: what it says comes to series; a switch may hang or die."""

import json
import socket
import threading
from pathlib import Path

import pytest

from plimsoll.observe.openvswitch import openvswitch
from plimsoll.observe.openvswitch.openvswitch import OpenVswitch
from plimsoll.observe.reading.observer import NotObservable, Observation, ObservedHost
from tests.unit.observe.watched import Watched

PMD = "pmd thread numa_id 0 core_id 5:"


def stats(received: int, emc: int, upcalls: int, idle: int) -> str:
    """As Open vSwitch 3.1.0 prints it."""
    return f"""{PMD}
  packets received: {received}
  packet recirculations: 0
  avg. datapath passes per packet: 1.00
  emc hits: {emc}
  miss with success upcall: {upcalls}
  miss with failed upcall: 0
  idle cycles: {idle} (97.15%)
  processing cycles: 900 (2.85%)
main thread:
  packets received: 0
"""


FLOWS = """netdev@ovs-netdev:
  flows         : (current {flows}) (avg 3) (max 9) (limit 10000)
  dump duration : 1ms
"""


class SwitchServer:
    """Answers as ovs-vswitchd does, in pieces; or not at all."""

    def __init__(self, path: Path) -> None:
        self.answers = {"dpif-netdev/pmd-stats-show": stats(0, 0, 0, 0), "upcall/show": FLOWS}
        self.flows = 0
        self.hangs = False
        self.connections: list[socket.socket] = []
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(path))
        self._listener.listen()
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            connection, _ = self._listener.accept()
            self.connections.append(connection)
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        while request := connection.recv(4096):
            if self.hangs:
                continue
            query = json.loads(request)
            asked = " ".join([query["method"], *query["params"]])
            result = self.answers[asked].replace("{flows}", str(self.flows))
            answer = json.dumps({"error": None, "id": query["id"], "result": result}).encode()
            connection.sendall(answer[:40])
            connection.sendall(answer[40:] + b"\n")


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A switch that answers does so here, however busy the machine."""
    monkeypatch.setattr(openvswitch, "_PATIENCE_S", 60.0)


def host(tmp_path: Path) -> ObservedHost:
    sockets = {"ovs-vswitchd": str(tmp_path / "ctl")}
    observation = Observation(openvswitch=sockets, interval_s=240.0)
    return ObservedHost(observation=observation)


def test_counts_of_threads_and_caches_come_to_series(tmp_path: Path) -> None:
    server = SwitchServer(tmp_path / "ctl")
    watched = Watched(OpenVswitch, host(tmp_path))
    server.answers["dpif-netdev/pmd-stats-show"] = stats(400, 390, 10, 5000)
    server.flows = 2
    rows = watched.read()
    names = {"app": "ovs-vswitchd", "thread": "pmd", "core": "5"}
    assert rows.counts("packets-sec", **names) == [400]
    assert rows.counts("lookups-sec", **names, kind="emc") == [390]
    assert rows.counts("lookups-sec", **names, kind="upcall") == [10]
    assert rows.counts("cycles-sec", **names, kind="idle") == [5000]
    assert rows.counts("packets-sec", thread="main") == [0]
    assert rows.values("datapath-flows") == [2]
    assert rows.values("datapath-flow-limit") == [10000]


def kernel(hit: int, missed: int, lost: int, masks_hit: int, by_cache: int) -> str:
    """As `dpctl/show` prints it."""
    return f"""system@ovs-system:
  lookups: hit:{hit} missed:{missed} lost:{lost}
  flows: 2
  masks: hit:{masks_hit} total:1 hit/pkt:0.67
  cache: hit:{by_cache} hit-rate:33.11%
  caches:
    masks-cache: size:256
  port 0: ovs-system (internal)
"""


def test_the_kernels_datapath_comes_to_series_by_its_lookups(tmp_path: Path) -> None:
    server = SwitchServer(tmp_path / "ctl")
    server.answers["upcall/show"] = FLOWS.replace("netdev@ovs-netdev", "system@ovs-system")
    server.answers["dpctl/show system@ovs-system"] = kernel(10, 2, 0, 12, 0)
    # Its switch has no userspace datapath to tell of.
    del server.answers["dpif-netdev/pmd-stats-show"]
    watched = Watched(OpenVswitch, host(tmp_path))
    server.answers["dpctl/show system@ovs-system"] = kernel(259, 203, 3, 312, 149)
    server.flows = 2
    rows = watched.read()
    names = {"app": "ovs-vswitchd", "thread": "kernel"}
    counts = {
        kind: rows.counts("lookups-sec", **names, kind=kind)
        for kind in ("mask-cache", "megaflow", "upcall", "failed-upcall")
    }
    assert counts == {"mask-cache": [149], "megaflow": [100], "upcall": [198], "failed-upcall": [3]}
    assert rows.counts("mask-lookups-sec", **names) == [300]
    assert rows.values("datapath-flows") == [2]


def test_a_switch_with_both_datapaths_has_series_of_both(tmp_path: Path) -> None:
    server = SwitchServer(tmp_path / "ctl")
    server.answers["upcall/show"] = FLOWS + FLOWS.replace("netdev@ovs-netdev", "system@ovs-system")
    server.answers["dpctl/show system@ovs-system"] = kernel(0, 0, 0, 0, 0)
    watched = Watched(OpenVswitch, host(tmp_path))
    server.answers["dpctl/show system@ovs-system"] = kernel(5, 0, 0, 5, 0)
    server.answers["dpif-netdev/pmd-stats-show"] = stats(400, 390, 10, 5000)
    rows = watched.read()
    assert rows.counts("lookups-sec", thread="kernel", kind="megaflow") == [5]
    assert rows.counts("lookups-sec", thread="pmd", kind="emc") == [390]


def test_a_switch_that_hangs_is_absent_until_it_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = SwitchServer(tmp_path / "ctl")
    watched = Watched(OpenVswitch, host(tmp_path))
    server.answers["dpif-netdev/pmd-stats-show"] = stats(100, 0, 0, 0)
    watched.read()
    server.hangs = True
    with monkeypatch.context() as impatient:
        impatient.setattr(openvswitch, "_PATIENCE_S", 0.05)
        watched.read()
    server.hangs = False
    server.answers["dpif-netdev/pmd-stats-show"] = stats(900, 0, 0, 0)
    watched.read()
    server.answers["dpif-netdev/pmd-stats-show"] = stats(1000, 0, 0, 0)
    rows = watched.read()
    counts = rows.counts("packets-sec", thread="pmd")
    # What it counted while it could not be queried belongs to no time.
    assert (counts[0], counts[-1]) == (100, 100)
    assert 800 not in counts
    assert 900 not in counts


def test_a_switch_that_is_gone_ends_nothing_else(tmp_path: Path) -> None:
    server = SwitchServer(tmp_path / "ctl")
    watched = Watched(OpenVswitch, host(tmp_path))
    for connection in server.connections:
        connection.shutdown(socket.SHUT_RDWR)
    (tmp_path / "ctl").unlink()
    watched.read()
    watched.read()


def test_what_is_no_switch_is_no_source(tmp_path: Path) -> None:
    with pytest.raises(NotObservable, match="ovs-vswitchd: "):
        Watched(OpenVswitch, host(tmp_path))
    with pytest.raises(NotObservable, match="no Open vSwitch of this host"):
        Watched(OpenVswitch, ObservedHost())
