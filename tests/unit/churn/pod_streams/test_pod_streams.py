"""Streams between pods: what is made in which order, and what is said where a pod fails.

The API server here is a stand-in; real pods, real iperf3 and a real kubelet are
tests/integration/test_churn_pods.py's.
"""

from __future__ import annotations

import gzip
import json
import time
from collections.abc import Mapping, Sequence
from typing import Any, cast

import pytest

from plimsoll.churn.pod_streams import pod_streams
from plimsoll.churn.pod_streams.pod_agent import end_command
from plimsoll.churn.pod_streams.pod_streams import pod_streaming
from plimsoll.churn.pod_streams.stream_agent import EndReport
from plimsoll.churn.pod_streams.stream_pods import AttachedNetwork, StreamPodPlan
from plimsoll.churn.streams.iperf3 import StreamInterval, StreamReport
from plimsoll.errors import MachineError
from plimsoll.host.kubernetes.api_client import ApiAnswer, ApiClient
from plimsoll.host.kubernetes.exec_stream import StreamEnded
from tests.unit.churn.pod_streams.test_stream_pods import NETWORKS, plan
from tests.worded.says import Says

# Of the node's clock, ahead of this machine's.
AHEAD_NS = 3_600_000_000_000
S = 1_000_000_000
READY = {"type": "Ready", "status": "True"}
REPORT = StreamReport(
    version="iperf 3.12",
    intervals=(StreamInterval(0.0, 1.0, 8e6), StreamInterval(1.0, 2.0, 16e6)),
    retransmits=(1, 2),
    error="interrupt - the client has terminated",
)


class Api:
    """A namespace whose pods are as `states` says, by a part of their names; else all is well."""

    def __init__(self, states: Mapping[str, Mapping[str, Any]] | None = None) -> None:
        self.server = "https://stand.in"
        self.pods: dict[str, dict[str, Any]] = {}
        self.made: list[str] = []
        self.states = dict(states or {})
        self.away = False
        self.log = ""
        self.multus: str | None = None
        self.begun_ns = time.time_ns()
        # So many commands in containers find the connection broken.
        self.broken = 0
        # So much of a probe's report comes.
        self.whole: int | None = None

    def create(self, path: str, document: Mapping[str, Any]) -> ApiAnswer:
        assert path == "/api/v1/namespaces/bench/pods"
        name = document["metadata"]["name"]
        if self.multus is not None:
            document["metadata"]["annotations"]["k8s.v1.cni.cncf.io/network-status"] = self.multus
        self.made.append(name)
        self.pods[name] = {**document, "spec": {**document["spec"], "nodeName": f"node-of-{name}"}}
        return ApiAnswer(201, {})

    def get(self, path: str, _query: Mapping[str, str] | None = None) -> ApiAnswer:
        if self.away:
            return ApiAnswer(0, {"message": "connection refused"})
        name = path.rpartition("/")[2]
        if name == "pods":
            return ApiAnswer(200, {"items": [self._as_it_is(name) for name in self.pods]})
        return ApiAnswer(200, self._as_it_is(name))

    def items(self, path: str, _selector: str) -> tuple[list[Mapping[str, Any]], str]:
        return list(self.get(path).document["items"]), "1"

    def delete(self, path: str) -> ApiAnswer:
        del self.pods[path.rpartition("/")[2]]
        return ApiAnswer(200, {})

    def log_tail(self, namespace: str, _pod: str, _container: str, _lines: int) -> list[str]:
        assert namespace == "bench"
        return [self.log] if self.log else []

    def run_in(self, namespace: str, pod: str, container: str, command: Sequence[str]) -> Command:
        assert namespace == "bench"
        if self.broken:
            self.broken -= 1
            raise StreamEnded("the connection was closed")
        assert tuple(command) == tuple(end_command())
        if pod in self.states:
            raise StreamEnded("the command there ended: no such pod")
        started_ns = self.begun_ns + AHEAD_NS
        if container == "stream":
            ended_ns = started_ns + 3 * S
            return Command(EndReport(started_ns, ended_ns, REPORT).as_json())
        assert container == "probe"
        times = [(started_ns, 5000), (started_ns + S, None), (started_ns + 3600 * S, 7000)]
        lines = [f"{n},{sent},{latency or ''}\n" for n, (sent, latency) in enumerate(times)]
        return Command(gzip.compress("".join([*lines, "end,4,1\n"]).encode())[: self.whole])

    def _as_it_is(self, name: str) -> dict[str, Any]:
        number = name.rpartition("-")[2]
        well = {"phase": "Running", "conditions": [READY], "podIP": f"10.0.0.{number}"}
        return {**self.pods[name], "status": {**well, **self.states.get(name, {})}}


class Command:
    """What ends a container's first process, and has its report."""

    def __init__(self, report: bytes) -> None:
        self._report = report
        self._answer = b""

    def write(self, data: bytes) -> None:
        if data == b"clock\n":
            self._answer = str(time.time_ns() + AHEAD_NS).encode()
            return
        assert data == b"end\n"
        self._answer = str(len(self._report)).encode()

    def read_line(self, _timeout_s: float) -> bytes:
        return self._answer

    def read(self, length: int, _timeout_s: float) -> bytes:
        return self._report[:length]

    def close(self) -> None:
        pass


def streaming(api: Api, made: StreamPodPlan | None = None, pairs: int = 2) -> Any:
    return pod_streaming(cast(ApiClient, api), made or plan(NETWORKS[0]), pairs)


def name(side: str, pair: int) -> str:
    return f"plimsoll-ab12-trial-0007-{side}-{pair}"


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pod_streams, "_CHECK_S", 0.0)
    monkeypatch.setattr(pod_streams, "_START_POLL_S", 0.0)
    monkeypatch.setattr(pod_streams, "_PAUSE_S", 0.0)


def test_servers_are_first_and_clients_get_their_addresses() -> None:
    api = Api()
    with streaming(api):
        sides = [each.rpartition("-")[0].rpartition("-")[2] for each in api.made]
        assert sides == ["server", "server", "client", "client"]
        for pair in (1, 2):
            container, *_ = api.pods[name("client", pair)]["spec"]["containers"]
            assert f"10.0.0.{pair}" in container["command"]
    assert api.pods == {}


def test_what_arrived_is_on_this_machine_s_clock() -> None:
    api = Api()
    with streaming(api) as streams:
        streams.check()
        (first, second), logs = streams.stop()
    assert len(logs) == 1
    assert (first.pair, second.pair) == (1, 2)
    assert first.nodes == (f"node-of-{name('client', 1)}", f"node-of-{name('server', 1)}")
    assert first.bps == (8e6, 16e6)
    assert first.retransmits == 3
    # It was ended three seconds after its agent began, and reported two of them.
    begin_s = (first.begin_ns[0] - api.begun_ns) / 1e9
    assert begin_s == pytest.approx(1.0, abs=first.clock_error_ns / 1e9 + 1e-6)
    assert first.connect_s == pytest.approx(1.0)


def test_a_probe_is_of_both_ways_by_this_machine_s_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    api = Api()
    api.begun_ns -= 10 * S
    with streaming(api) as streams:
        _, (log,) = streams.stop()
    assert (log.pair, log.round_trip, log.unsent, log.duplicates) == (1, True, 4, 1)
    # The third was sent after the streams had ended.
    assert [each.latency_ns for each in log.samples] == [5000, None]
    first_s, second_s = ((each.sent_ns - api.begun_ns) / 1e9 for each in log.samples)
    assert first_s == pytest.approx(0, abs=0.1)
    assert second_s - first_s == pytest.approx(1)


@pytest.mark.parametrize("whole", [0, 9, -3])
def test_a_probe_s_log_that_is_cut_off_is_an_error(whole: int, says: Says) -> None:
    api = Api()
    api.whole = whole
    with streaming(api) as streams, pytest.raises(MachineError) as failed:
        streams.stop()
    assert failed.value == says("client-1")


def attached(attachment: str) -> StreamPodPlan:
    return plan(AttachedNetwork(kind="attachment", attachment=attachment))


@pytest.mark.parametrize("attachment", ["wire", "bench/wire"])
def test_the_address_is_the_attachment_s(attachment: str) -> None:
    listed = [
        {"name": "ovn-kubernetes", "interface": "eth0", "ips": ["10.0.0.1"], "default": True},
        {"name": "bench/wire", "interface": "net1", "ips": ["192.168.7.9", "fd00::9"]},
    ]
    api = Api()
    api.multus = json.dumps(listed)
    with streaming(api, attached(attachment), pairs=1):
        container, *_ = api.pods[name("client", 1)]["spec"]["containers"]
    assert "192.168.7.9" in container["command"]


@pytest.mark.parametrize("status", [None, "[]", "{", '{"a": 1}', '[7, {"name": "bench/wire"}]'])
def test_without_multus_there_is_no_address(status: str | None, says: Says) -> None:
    api = Api()
    api.multus = status
    with pytest.raises(MachineError) as caught:
        streaming(api, attached("wire"), pairs=1).__enter__()
    assert caught.value == says("wire")
    assert api.pods == {}


def test_a_pod_that_cannot_start_says_why(says: Says) -> None:
    waiting = {"waiting": {"reason": "ErrImagePull", "message": "no such image"}}
    state = {
        "phase": "Pending",
        "conditions": [],
        "containerStatuses": [{"name": "stream", "state": waiting}],
    }
    api = Api({name("client", 2): state})
    with pytest.raises(MachineError) as caught:
        streaming(api).__enter__()
    assert caught.value == says("client-2", "stream", "Pending")
    assert api.pods == {}


def test_a_stream_that_ends_is_found_with_its_last_words(says: Says) -> None:
    api = Api()
    with streaming(api) as streams:
        streams.check()
        api.states[name("client", 1)] = {"phase": "Failed", "conditions": []}
        api.log = "control socket has closed unexpectedly"
        with pytest.raises(MachineError) as caught:
            streams.check()
        assert caught.value == says("client-1")


def test_an_api_server_that_is_away_costs_no_stream() -> None:
    api = Api()
    with streaming(api) as streams:
        api.away = True
        streams.check()
        api.away = False
        assert len(streams.stop()[0]) == 2


def test_a_report_is_fetched_again_where_the_connection_breaks() -> None:
    api = Api()
    api.broken = 2
    with streaming(api, pairs=1) as streams:
        assert len(streams.stop()[0]) == 1


def test_a_pod_that_is_gone_left_no_report(says: Says) -> None:
    api = Api()
    with streaming(api) as streams:
        api.states[name("server", 1)] = {"phase": "Running"}
        with pytest.raises(MachineError) as caught:
            streams.stop()
        assert caught.value == says("server-1")
