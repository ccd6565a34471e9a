"""`plimsoll serve trex` with traffic: a client of our own, on the engine's loopback."""

from __future__ import annotations

import base64
import json
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.integration.command import Workplace, assert_nothing_is_left, hugepages, until
from tests.integration.engine.frames import udp_frame
from tests.unit.remote.trex.stl_json import flow_var, stream_json, vm, write
from tests.unit.remote.trex.trex_client import RpcError, TrexClient, TrexSubscriber

pytestmark = pytest.mark.usefixtures("live_in_turn")

_READY = re.compile(r"requests on (\d+), events on (\d+)")
# One trial of bench-trafficgen's binary-search.py (d81d481), by TRex's client (v3.08), recorded by
# us at this server: its requests in their order, but those for events.
TRIAL = Path(__file__).parents[1] / "unit/remote/trex/trials/trafficgen.json"
# Load frames that are due together leave together, at most so many.
BURST = 64
# By so much a frame may be late, and be sent all the same.
CATCH_UP_S = 5e-3


@dataclass
class Clients:
    """One for requests, and one that hears of events."""

    requests: TrexClient
    events: TrexSubscriber


@pytest.fixture
def client(clients: Clients) -> TrexClient:
    return clients.requests


@pytest.fixture
def clients(place: Workplace) -> Iterator[Clients]:
    """Connected to a server on two ports, each its own return path."""
    experiment = place.experiment(
        lab={"kind": "loopback", "ports": 2}, generator={"kind": "engine", "cpus": [0]}
    )
    before = hugepages()
    server = place.start("serve", "trex", experiment, "--sync-port", "0", "--async-port", "0")
    try:
        sync_port, async_port = _listening(server)
        connected = TrexClient(sync_port, timeout_s=60)
        connected.sync()
        subscribed = TrexSubscriber(connected, async_port)
        yield Clients(connected, subscribed)
        subscribed.close()
        connected.close()
        server.send_signal(signal.SIGTERM)
        _, said = server.communicate(timeout=120)
        assert server.returncode == 0, said
        assert_nothing_is_left(place, before)
    finally:
        server.kill()
        server.communicate()


def _listening(server: subprocess.Popen[str]) -> tuple[int, int]:
    assert server.stderr is not None
    for line in server.stderr:
        if ready := _READY.search(line):
            return int(ready[1]), int(ready[2])
    raise AssertionError(f"the server ended with {server.wait()}")


def test_streams_are_sent_counted_and_timed(client: TrexClient) -> None:
    client.acquire(0)
    burst = {"type": "single_burst", "total_pkts": 300, "rate": {"type": "pps", "value": 1000.0}}
    many = {"type": "continuous", "rate": {"type": "pps", "value": 2000.0}}
    program = vm(flow_var("ip", 4, "inc", 0x10000001, 0x100000FE), write("ip", 26))
    groups = [
        {"enabled": True, "rule_type": rule, "stream_id": group}
        for group, rule in ((7, "stats"), (9, "latency"))
    ]
    streams = [
        stream_json(mode=many, vm=program, flow_stats=groups[0]),
        stream_json(mode=burst, flow_stats=groups[1]),
    ]
    for number, stream in enumerate(streams, 1):
        client.call("add_stream", port_id=0, stream_id=number, stream=stream)
    multiplier = {"op": "abs", "type": "raw", "value": 2.0}
    client.call("start_traffic", port_id=0, mul=multiplier, duration=-1.0, force=False)

    def sent(group: int) -> int:
        found = client.call("get_pgid_stats", pgids=[group])["flow_stats"][str(group)]
        count = found["tp"]["0"]
        assert isinstance(count, int)
        return count

    until(lambda: sent(9) == 300, "the burst to be sent")
    client.call("pause_traffic", port_id=0)
    client.call("resume_traffic", port_id=0)
    faster = {"op": "abs", "type": "pps", "value": 9000.0}
    client.call("update_traffic", port_id=0, mul=faster, force=False)
    client.call("stop_traffic", port_id=0)
    with pytest.raises(RpcError, match="current state: 'STREAMS'"):
        client.call("pause_traffic", port_id=0)

    found = client.call("get_pgid_stats", pgids=[7, 9])
    for group in ("7", "9"):
        counts = found["flow_stats"][group]
        assert counts["tp"]["0"] == counts["rp"]["0"] > 0
    latency = found["latency"]["9"]
    assert latency["er"]["drp"] == 0
    assert sum(latency["lat"]["histogram"].values()) == 300
    assert 0 < latency["lat"]["total_min"] <= latency["lat"]["average"]
    port = client.call("get_port_stats", port_id=0)
    assert port["opackets"] == port["ipackets"] == sent(7) + sent(9)
    assert client.call("get_port_status", port_id=0)["state"] == "STREAMS"


@pytest.mark.parametrize("duration_s", [2.0, pytest.param(10.0, marks=pytest.mark.slow)])
def test_a_trial_of_trafficgens_client(clients: Clients, duration_s: float) -> None:
    """As long as it is to be, whenever the client hears of its end, and so are its frames."""
    began: dict[int, dict[str, float]] = {}
    clock_s: list[float] = []
    for method, params in _trial(duration_s):
        if method == "remove_rx_filters" and len(clock_s) == 1:
            ended = clients.events.wait_for(14, {0, 1})
            clock_s.append(time.monotonic())
        if method == "start_traffic" and not began:
            clock_s.append(time.monotonic())
        found = clients.requests.call(method, **params)
        if method == "acquire":
            clients.requests.handlers[params["port_id"]] = found
        if method == "start_traffic":
            began[params["port_id"]] = found
        if method == "get_pgid_stats":
            groups = found
        if method == "get_port_stats":
            assert found["m_total_tx_pps"] > 0 or len(clock_s) < 2, "rates right after the end"
    runtime_s = clock_s[1] - clock_s[0]
    for port, rate_pps in ((0, 100_000), (1, 100_000)):
        assert clock_s[0] <= began[port]["begin_ts"]
        assert ended[port]["end_ts"] <= clock_s[1]
        sending_s = ended[port]["end_ts"] - ended[port]["begin_ts"]
        # By the last frame of its burst, or by its duration.
        assert duration_s - 1e-3 <= sending_s <= duration_s + CATCH_UP_S + 1e-3
        names = clients.requests.call("get_port_xstats_names", port_id=port)["xstats_names"]
        values = clients.requests.call("get_port_xstats_values", port_id=port)["xstats_values"]
        xstats = dict(zip(names, values, strict=True))
        sent = sum(groups["flow_stats"][group]["tp"][str(port)] for group in GROUPS[port])
        assert sent == xstats["tx_good_packets"] == xstats["rx_good_packets"] > 0
        due = sent + sum(xstats[f"tx_{why}_packets"] for why in ("late", "refused", "no_buffer"))
        # One burst for each of its two streams.
        assert abs(due - rate_pps * duration_s) <= 2 * BURST
        # binary-search.py's arithmetic: frames by the time that its own clock took.
        assert sent / runtime_s <= rate_pps
        print(f"port {port}: {sent / runtime_s:.0f} pps by the client's clock, {runtime_s:.3f} s")


# The packet groups of each port's streams in the recorded trial.
GROUPS = {0: ("1", "512"), 1: ("576", "1087")}


def _trial(duration_s: float) -> Iterator[tuple[str, dict[str, Any]]]:
    """The recorded requests, for a trial of another length: its bursts are rate times that."""
    for turn in json.loads(TRIAL.read_text()):
        params = {name: each for name, each in turn["params"].items() if name != "handler"}
        if turn["method"] in ("api_sync_v2", "release"):
            continue
        if "duration" in params:
            params["duration"] = duration_s
        mode = params.get("stream", {}).get("mode", {})
        if "total_pkts" in mode:
            mode["total_pkts"] = int(mode["rate"]["value"] * duration_s)
        yield turn["method"], params


def test_packets_are_captured_while_traffic_runs(client: TrexClient) -> None:
    """As NFVbench looks whether its packets come back: by the MAC addresses in them."""
    client.acquire(0)
    client.acquire(1)
    sources = [b"\x02\x00\x00\x00\x00\x0a", b"\x02\x00\x00\x00\x00\x0b"]
    for port, source in enumerate(sources):
        frame = bytes.fromhex("020000000001") + source + udp_frame(60)[12:]
        stream = stream_json(packet={"binary": base64.b64encode(frame).decode(), "meta": ""})
        client.call("add_stream", port_id=port, stream_id=1, stream=stream)
        multiplier = {"op": "abs", "type": "raw", "value": 1.0}
        client.call("start_traffic", port_id=port, mul=multiplier, duration=-1.0, force=False)
    start = {"command": "start", "limit": 1000, "mode": "fixed", "tx": [], "rx": [0, 1]}
    ours = "ether dst 02:00:00:00:00:01 or ether dst 02:00:00:00:00:02"
    number = client.call("capture", **start, filter=ours)["capture_id"]
    none = client.call("capture", **start, filter="ether src 02:00:00:00:00:0c")["capture_id"]

    def count() -> int:
        status = client.call("capture", command="status")
        return next(int(each["count"]) for each in status if each["id"] == number)

    until(lambda: count() > 100, "packets in the capture")
    client.call("stop_traffic", port_id=0)
    client.call("stop_traffic", port_id=1)
    packets, pending = [], 1
    while pending:
        found = client.call("capture", command="fetch", capture_id=number, pkt_limit=50)
        packets += found["pkts"]
        pending = found["pending"]
    assert all(packet["ts"] >= found["start_ts"] for packet in packets)
    for port, source in enumerate(sources):
        frames = [base64.b64decode(each["binary"]) for each in packets if each["port"] == port]
        assert {frame[6:12] for frame in frames} == {source}
        assert {len(frame) for frame in frames} == {60}
    for each, kept in ((number, 0), (none, 0)):
        assert client.call("capture", command="stop", capture_id=each)["pkt_count"] == kept
        client.call("capture", command="remove", capture_id=each)
    assert client.call("capture", command="status") == []
