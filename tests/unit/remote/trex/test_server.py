"""The server's sockets, on the loopback, with a client of our own and with TRex's recorded one."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import zmq

from plimsoll.errors import InputError, MachineError
from plimsoll.remote.trex.server import Listening, TrexSockets
from plimsoll.remote.trex.session.trex_session import ServerIdentity, TrexSession
from tests.unit.remote.trex.fake_traffic import FakeTraffic
from tests.unit.remote.trex.stl_json import stream_json
from tests.unit.remote.trex.trex_client import RpcError, TrexClient
from tests.worded.says import Says

ANY = Listening(sync_port=0, async_port=0)


@contextmanager
def served() -> Iterator[tuple[TrexSockets, FakeTraffic]]:
    traffic, stopped = FakeTraffic(), threading.Event()
    with TrexSockets(ANY) as sockets:
        session = TrexSession(traffic, ServerIdentity("0.1", "host", "now"), sockets.notify)
        traffic.notify_ends(sockets.wake)
        server = threading.Thread(target=sockets.serve, args=(session, stopped))
        server.start()
        try:
            yield sockets, traffic
        finally:
            stopped.set()
            server.join()


@pytest.fixture
def server() -> Iterator[tuple[TrexSockets, FakeTraffic]]:
    with served() as both:
        yield both


@pytest.fixture
def client(server: tuple[TrexSockets, FakeTraffic]) -> Iterator[TrexClient]:
    connected = TrexClient(server[0].sync_port)
    connected.sync()
    yield connected
    connected.close()


def test_a_client_sends_and_reads_counters(
    client: TrexClient, server: tuple[TrexSockets, FakeTraffic]
) -> None:
    client.acquire(0)
    client.call("add_stream", port_id=0, stream_id=1, stream=stream_json())
    multiplier = {"op": "abs", "type": "pps", "value": 5000.0}
    started = client.call(
        "start_traffic", port_id=0, mul=multiplier, duration=-1.0, force=False, core_mask=2**64 - 1
    )
    assert started["multiplier"] == 5.0
    assert server[1].sending == {0}
    assert client.call("get_port_stats", port_id=0)["opackets"] == 0
    client.call("stop_traffic", port_id=0)
    with pytest.raises(RpcError, match="shutdown"):
        client.call("shutdown", force=True, user="me")


def test_events_rouse_who_has_subscribed(
    client: TrexClient, server: tuple[TrexSockets, FakeTraffic]
) -> None:
    context = zmq.Context()
    try:
        subscriber = context.socket(zmq.SUB)
        subscriber.setsockopt(zmq.SUBSCRIBE, b"")
        subscriber.connect(f"tcp://127.0.0.1:{server[0].async_port}")
        # Until the subscription has arrived, calls go unheard.
        while not subscriber.poll(50):
            client.call("publish_now", key=1, baseline=False)
        assert subscriber.recv() == b"{}"
    finally:
        context.destroy(linger=0)


def test_who_waits_hears_of_an_end_without_asking(
    client: TrexClient, server: tuple[TrexSockets, FakeTraffic]
) -> None:
    sockets, traffic = server
    client.acquire(0)
    client.call("add_stream", port_id=0, stream_id=1, stream=stream_json())
    multiplier = {"op": "abs", "type": "raw", "value": 1.0}
    client.call("start_traffic", port_id=0, mul=multiplier, duration=10.0, force=False)
    context = zmq.Context()
    try:
        subscriber = context.socket(zmq.SUB)
        subscriber.setsockopt(zmq.SUBSCRIBE, b"")
        subscriber.connect(f"tcp://127.0.0.1:{sockets.async_port}")
        while not subscriber.poll(50):
            client.call("publish_now", key=1, baseline=False)
        while subscriber.poll(100):
            subscriber.recv()
        # By another thread, as the one that follows the engine's trial.
        threading.Thread(target=traffic.end, args=(0,)).start()
        assert subscriber.poll(20_000)
    finally:
        context.destroy(linger=0)
    assert client.call("get_port_status", port_id=0)["state"] == "STREAMS"


def test_bytes_that_are_no_requests_leave_the_server_up(client: TrexClient) -> None:
    for message in (b"", b"\xff" * 100, b"[" * 5000):
        assert json.loads(client.raw(message))["error"]["code"] == -32700
    assert client.call("ping") == {"ts": 0.0}


def test_a_port_that_is_taken_is_said() -> None:
    with (
        TrexSockets(ANY) as first,
        pytest.raises(MachineError, match=r"cannot listen on 127.0.0.1:\d+: Address already"),
        TrexSockets(Listening(sync_port=first.sync_port, async_port=0)),
    ):
        pass


@pytest.mark.parametrize(
    ("address", "loopback"), [("127.0.0.1", True), ("::1", True), ("192.0.2.1", False)]
)
def test_what_is_a_loopback(address: str, loopback: bool) -> None:
    assert Listening(address).is_loopback is loopback


def test_an_address_that_is_none(says: Says) -> None:
    with pytest.raises(InputError) as caught:
        _ = Listening("localhost").is_loopback
    assert caught.value == says("localhost")


# Recorded by us between TRex's own client (v3.08) and this server: requests in their order, and
# what of an answer does not differ from run to run.
DIALOGUES = sorted((Path(__file__).parent / "dialogues").glob("*.json"))


@pytest.mark.parametrize("recorded", DIALOGUES, ids=lambda path: path.stem)
def test_a_dialogue_of_trexs_client(recorded: Path, client: TrexClient) -> None:
    for turn in json.loads(recorded.read_text()):
        method, params = turn["method"], dict(turn["params"])
        params.pop("api_h", None)
        if "handler" in params:
            params["handler"] = client.handlers[params["port_id"]]
        if "error" in turn:
            with pytest.raises(RpcError, match=turn["error"]):
                client.call(method, **params)
            continue
        found = client.call(method, **params)
        if method == "acquire":
            client.handlers[params["port_id"]] = found
        assert shape(found) == turn["shape"], method


def shape(found: Any) -> Any:
    """The names in an answer, and the kinds of what they have."""
    if isinstance(found, dict):
        return {name: shape(each) for name, each in sorted(found.items())}
    if isinstance(found, list):
        return [shape(each) for each in found[:1]]
    return (
        "number"
        if isinstance(found, int | float) and not isinstance(found, bool)
        else (type(found).__name__)
    )
