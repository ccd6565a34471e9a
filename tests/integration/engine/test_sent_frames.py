"""What the engine sends, captured by DPDK's pcap port and judged by Scapy."""

from ipaddress import IPv4Address
from pathlib import Path

from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether

from tests.integration.engine.captures import MARK, read_signature, send
from tests.integration.engine.frames import udp_frame
from tests.integration.engine.requests import DESTINATION, Request, stream
from tests.integration.engine.session import EngineSession

IPV4_CHECKSUM, UDP_CHECKSUM = 24, 40
JUMBO: Request = {"max_frame_bytes": 9216, "memory": {"huge": False, "megabytes": 320}}


def assert_checksums(frame: bytes) -> None:
    """Scapy, which computes absent checksums anew, comes to the same frame."""
    packet = Ether(frame)
    del packet[IP].chksum
    del packet[UDP].chksum
    assert bytes(packet) == frame


def field_value(request: Request, field: Request, number: int) -> bytes:
    template = bytes.fromhex(request["frames"][0])
    begin, width = field["offset"], field["width"]
    base = int.from_bytes(template[begin : begin + width], "big")
    value = base + number % field["count"] * field.get("step", 1)
    return int(value % 256**width).to_bytes(width, "big")


def assert_frame(frame: bytes, request: Request, number: int) -> None:
    """Frame `number` of the stream: the template, but for fields, checksums and signature."""
    expected = bytearray.fromhex(request["frames"][0])
    for field in request.get("fields", []):
        begin = field["offset"]
        expected[begin : begin + field["width"]] = field_value(request, field, number)
    for begin, end in ((IPV4_CHECKSUM, 26), (UDP_CHECKSUM, 42), (len(frame) - 18, len(frame))):
        expected[begin:end] = frame[begin:end]
    assert frame == bytes(expected)
    assert_checksums(frame)
    signature = read_signature(frame)
    assert (signature.mark, signature.stream) == (MARK, request["stream"])
    assert signature.sequence == number


def test_every_frame_of_every_stream(engine: EngineSession, tmp_path: Path) -> None:
    source_port = {"offset": 34, "width": 2, "count": 331, "step": 3, "fixes": [UDP_CHECKSUM]}
    source_mac = {"offset": 6, "width": 6, "count": 1000, "step": 257}
    requests = {
        request["stream"]: request
        for request in (
            # The flow at which the IPv4 checksum comes to zero is the 1176th.
            stream(
                0,
                16_000,
                frames=[udp_frame(60, destination="198.19.170.0").hex()],
                fields=[{**DESTINATION, "count": 1500}, source_port, source_mac],
            ),
            stream(
                7, 1000, frames=[udp_frame(1514, payload=b"payload").hex()], fields=[DESTINATION]
            ),
            stream(300, 2000, role="latency", frames=[udp_frame(61).hex()], fields=[source_port]),
        )
    }
    frames = send(engine, tmp_path, *requests.values())
    numbers = dict.fromkeys(requests, 0)
    for frame in frames:
        number = read_signature(frame).stream
        assert_frame(frame, requests[number], numbers[number])
        numbers[number] += 1
    assert numbers == {0: 1600, 7: 100, 300: 200}
    zeros = [frame for frame in frames if frame[IPV4_CHECKSUM:26] == b"\0\0"]
    assert zeros, "no frame had the checksum that wants most care"


def test_flows_make_room_for_new_ones(engine: EngineSession, tmp_path: Path) -> None:
    """Of eight that are sent in turn the oldest is replaced every ten frames."""
    churned = {**DESTINATION, "count": 8, "churn": 0.1, "cycle": 65534}
    request = stream(0, 16_000, frames=[udp_frame(60).hex()], fields=[churned])
    frames = send(engine, tmp_path, request)
    base = IPv4Address(Ether(bytes.fromhex(request["frames"][0]))[IP].dst)
    flows = list(range(8))
    expected = []
    for number in range(len(frames)):
        # 0.1 is a little less in units of 2^-32, so each comes one frame later.
        if number % 10 == 1 and number > 10:
            flows[flows.index(min(flows))] = max(flows) + 1
        expected.append(str(base + flows[number % 8]))
    assert [Ether(frame)[IP].dst for frame in frames] == expected
    assert len(set(expected)) == 8 + (len(frames) - 2) // 10
    for frame in frames:
        assert_checksums(frame)


def test_times_never_run_backwards(engine: EngineSession, tmp_path: Path) -> None:
    frames = send(engine, tmp_path, stream(0, 50_000))
    times = [read_signature(frame).time for frame in frames]
    assert times == sorted(times)
    # Of 5000 frames over 0.1 s, most have a time of their own.
    assert len(set(times)) > 100


def test_frames_of_all_sizes(engine: EngineSession, tmp_path: Path) -> None:
    payload = bytes(range(1, 256)) * 40
    requests = {
        length: stream(
            length,
            400,
            frames=[udp_frame(length, payload=payload[: length - 60]).hex()],
            fields=[DESTINATION],
        )
        for length in (60, 61, 63, 64, 128, 1518, 9214)
    }
    frames = send(engine, tmp_path, *requests.values(), **JUMBO)
    numbers = dict.fromkeys(requests, 0)
    for frame in frames:
        assert_frame(frame, requests[len(frame)], numbers[len(frame)])
        numbers[len(frame)] += 1
    assert numbers == dict.fromkeys(requests, 40)
