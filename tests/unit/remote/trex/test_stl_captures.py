"""TRex's captures, over frames that a test says were received."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from plimsoll.benchmark.live_traffic.live_captures import ReceivedFrame
from plimsoll.remote.trex.commands.registry import call
from plimsoll.remote.trex.messages.json_rpc import BadParameters, MethodRefused
from plimsoll.remote.trex.session.captures import MAX_CAPTURES, TrexCaptures, read_filter
from plimsoll.remote.trex.session.trex_session import ServerIdentity, TrexSession
from tests.unit.remote.trex.fake_traffic import FakeTraffic
from tests.worded.says import Says

START = {"command": "start", "limit": 10, "mode": "fixed", "tx": [], "rx": [0], "filter": ""}
NOW_NS = 1_795_123_456_789_012_345


class Bench:
    """A session whose ports receive what a test says."""

    def __init__(self) -> None:
        self.traffic = FakeTraffic()
        self.session = TrexSession(self.traffic, ServerIdentity("0.1", "host", "now"), lambda: None)
        self.begin_at(NOW_NS)

    def begin_at(self, unix_ns: int) -> None:
        """When captures begin from now on."""
        self.session.captures = TrexCaptures(self.traffic, lambda: unix_ns)

    def capture(self, **params: Any) -> Any:
        return call(self.session, "capture", {"api_h": self.session.api_handler, **params})

    def start(self, **changes: Any) -> int:
        number = self.capture(**{**START, **changes})["capture_id"]
        assert isinstance(number, int)
        return number

    def receive(self, port: int, *numbers: int) -> None:
        """Frames of 60 bytes, by the last byte of their destination."""
        known = self.traffic.captured_frames[port]
        self.traffic.captured_frames[port] = [*known, *map(received, numbers)]

    def fetch(self, number: int, most: int = 50, **params: Any) -> dict[str, Any]:
        found = self.capture(command="fetch", capture_id=number, pkt_limit=most, **params)
        assert isinstance(found, dict)
        return found

    def fetched(self, number: int) -> list[int]:
        packets = self.fetch(number)["pkts"]
        return [base64.b64decode(packet["binary"])[5] for packet in packets]

    @property
    def calls(self) -> list[tuple[str, object]]:
        return self.traffic.calls


def received(number: int) -> ReceivedFrame:
    frame = bytes([2, 0, 0, 0, 0, number, 2, 0, 0, 0, 1, number]) + bytes(48)
    return ReceivedFrame(NOW_NS + number, 60, frame)


@pytest.fixture
def bench() -> Bench:
    return Bench()


def test_packets_are_captured_fetched_and_forgotten(bench: Bench, says: Says) -> None:
    number = bench.start()
    assert bench.calls == [("start_capture", 0)]
    bench.receive(0, 1, 2, 3)
    first = bench.fetch(number, 2)
    assert (first["pending"], len(first["pkts"])) == (1, 2)
    assert first["pkts"][1] == {
        "port": 0,
        "origin": "RX",
        "index": 2,
        "ts": (NOW_NS + 2) / 1e9,
        "wirelen": 60,
        "binary": base64.b64encode(received(2).data).decode(),
    }
    bench.receive(0, 4)
    assert bench.capture(command="stop", capture_id=number) == {"pkt_count": 2, "endpoint": ""}
    assert bench.calls[-1] == ("stop_capture", 0)
    bench.receive(0, 5)
    assert bench.fetched(number) == [3, 4]
    assert bench.capture(command="remove", capture_id=number) == {}
    assert bench.capture(command="status") == []
    with pytest.raises(MethodRefused) as caught:
        bench.fetch(number)
    assert caught.value == says("1")


def test_no_packet_is_from_before_its_capture(bench: Bench) -> None:
    """As it would be where the wall clock was set back: clients cannot write that."""
    bench.begin_at(NOW_NS + 2)
    number = bench.start()
    bench.receive(0, 1, 3)
    found = bench.fetch(number)
    assert [each["ts"] - found["start_ts"] >= 0 for each in found["pkts"]] == [True, True]
    assert found["pkts"][0]["ts"] == found["start_ts"] == (NOW_NS + 2) / 1e9


def test_packets_are_cut_when_fetched(bench: Bench) -> None:
    number = bench.start()
    bench.receive(0, 1)
    (packet,) = bench.fetch(number, snaplen=14)["pkts"]
    assert base64.b64decode(packet["binary"]) == received(1).data[:14]
    assert packet["wirelen"] == 60


def test_a_fixed_capture_keeps_the_first_and_a_cyclic_one_the_last(bench: Bench) -> None:
    fixed, cyclic = bench.start(limit=2), bench.start(limit=2, mode="cyclic")
    bench.receive(0, 1, 2, 3)
    assert bench.fetched(fixed) == [1, 2]
    assert bench.fetched(cyclic) == [2, 3]
    bench.receive(0, 4)
    assert bench.fetched(fixed) == [4]


def test_captures_share_a_port_from_where_each_began(bench: Bench) -> None:
    first = bench.start()
    bench.receive(0, 1)
    second = bench.start(rx=[0, 1])
    assert bench.calls == [("start_capture", 0), ("start_capture", 1)]
    bench.receive(0, 2)
    bench.receive(1, 7, 9)
    bench.capture(command="stop", capture_id=first)
    assert bench.calls[2:] == []
    bench.receive(0, 3, 8)
    assert bench.fetched(first) == [1, 2]
    assert bench.fetched(second) == [2, 3, 7, 8, 9]
    bench.capture(command="remove", capture_id=second)
    assert bench.calls[2:] == [("stop_capture", 0), ("stop_capture", 1)]


def test_a_later_capture_of_a_port_begins_anew(bench: Bench) -> None:
    first = bench.start()
    bench.receive(0, 1)
    bench.capture(command="remove", capture_id=first)
    second = bench.start()
    bench.receive(0, 2)
    assert bench.fetched(second) == [2]


def test_the_status_is_as_trex_has_it(bench: Bench) -> None:
    bench.start(rx=[0, 1], limit=1, filter="ether dst 02:00:00:00:00:01")
    bench.receive(0, 1, 2)
    assert bench.capture(command="status") == [
        {
            "id": 1,
            "state": "ACTIVE",
            "matched": 1,
            "fetched": 0,
            "count": 1,
            "limit": 1,
            "bytes": 60,
            "mode": "fixed",
            "filter": {"tx": 0, "rx": 3, "bpf": "ether dst 02:00:00:00:00:01"},
        }
    ]
    bench.capture(command="stop", capture_id=1)
    assert bench.capture(command="status")[0]["state"] == "STOPPED"


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("", [1, 2, 3]),
        ("  ", [1, 2, 3]),
        ("ether dst 02:00:00:00:00:02", [2]),
        ("ether dst 2:0:0:0:0:2", [2]),
        ("ETHER  DST 02:00:00:00:00:01 or ether src 02:00:00:00:01:03", [1, 3]),
        ("ether host 02:00:00:00:01:02", [2]),
        ("ether src 02:00:00:00:00:01", []),
    ],
)
def test_filters_are_of_addresses(text: str, numbers: list[int]) -> None:
    selected = read_filter(text)
    assert [n for n in (1, 2, 3) if selected.matches(received(n).data)] == numbers


@pytest.mark.parametrize(
    "text",
    [
        "udp",
        "ether dst 02:00:00:00:00",
        "ether dst 02:00:00:00:00:01 and udp",
        "not ether dst 02:00:00:00:00:01",
        "ether dst 02:00:00:00:00:01 or",
        "ether dst 02:00:00:00:00:0\N{FULLWIDTH DIGIT ONE}",
    ],
)
def test_other_filters_are_refused(bench: Bench, text: str, says: Says) -> None:
    with pytest.raises(MethodRefused) as caught:
        bench.start(filter=text)
    assert caught.value == says("ether dst")
    assert bench.calls == []


@pytest.mark.parametrize(
    ("changes", "error", "facts"),
    [
        ({"tx": [0]}, MethodRefused, ()),
        ({"endpoint": "file:///etc/a"}, MethodRefused, ()),
        ({"rx": [2]}, BadParameters, ("2",)),
        ({"rx": 0}, BadParameters, ("rx",)),
        ({"limit": 0}, BadParameters, ("limit", "1", "10000")),
        ({"limit": 10_001}, BadParameters, ("limit", "1", "10000")),
        ({"mode": "newest"}, BadParameters, ("mode",)),
        ({"filter": 5}, BadParameters, ("filter",)),
        ({"command": "pause"}, BadParameters, ("command",)),
    ],
)
def test_what_cannot_be_captured_is_refused(
    bench: Bench,
    changes: dict[str, Any],
    error: type[Exception],
    facts: tuple[str, ...],
    says: Says,
) -> None:
    with pytest.raises(error) as caught:
        bench.start(**changes)
    assert caught.value == says(*facts)
    assert bench.calls == []


def test_there_are_only_so_many_at_a_time(bench: Bench, says: Says) -> None:
    for _ in range(MAX_CAPTURES):
        last = bench.start()
    with pytest.raises(MethodRefused) as caught:
        bench.start()
    assert caught.value == says("10")
    bench.capture(command="remove", capture_id=last)
    bench.start()
