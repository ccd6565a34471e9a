"""Captures by snappi's own client, of frames that a file has; Scapy reads what it is handed."""

import io
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import snappi
from scapy.utils import PcapNgReader, RawPcapNgReader, RawPcapReader

from plimsoll.benchmark.live_traffic.live_captures import (
    CapturedPort,
    PortCapture,
    ReceivedFrame,
    as_pcap,
)
from plimsoll.remote.otg.server.settings import OtgSettings
from tests.unit.remote.otg.flows_read import read, two_ports
from tests.unit.remote.otg.test_otg_server import CountedTraffic, api, served, settings, traffic
from tests.worded.says import Says

__all__ = ["api", "served", "settings", "traffic"]

# What CRC-32 of a frame and its FCS comes to, whatever the frame.
RESIDUE = 0x2144DF1C
NOW_NS = 1_795_123_456_789_012_345
FRAMES = [
    ReceivedFrame(NOW_NS + number, 200, bytes([number]) * length)
    for number, length in enumerate((60, 61, 62, 63, 200))
]


def _configured(**changes: Any) -> Any:
    config = two_ports()
    capture = config.captures.add(name="c", port_names=["p2"])
    for name, value in changes.items():
        setattr(capture, name, value)
    return config


def _switch(api: Any, state: str, *names: str) -> list[str]:
    control = api.control_state()
    control.port.capture.state = state
    control.port.capture.port_names = list(names)
    return list(api.set_control_state(control).warnings or [])


def _file(api: Any, port: str = "p2", packets: tuple[int, int] | None = None) -> bytes:
    request = api.capture_request()
    request.port_name = port
    if packets is not None:
        request.packets.slice.initial.start, request.packets.slice.initial.count = packets
    found = api.get_capture(request)
    assert isinstance(found, io.BytesIO)
    return found.read()


def _captured(
    traffic: CountedTraffic, folder: Path, frames: Sequence[ReceivedFrame], **known: Any
) -> None:
    path = folder / "0.pcap"
    path.write_bytes(as_pcap(frames, 9342))
    traffic.captured_ports[1] = CapturedPort((path,), 100_000, **known)


def _read(content: bytes) -> list[bytes]:
    return [data for data, _ in RawPcapReader(io.BytesIO(content))]


def _port_states(api: Any) -> list[str]:
    request = api.metrics_request()
    request.port.port_names = []
    return [metric.capture for metric in api.get_metrics(request).port_metrics]


def test_a_port_is_captured_and_its_file_handed_over(
    api: Any, traffic: CountedTraffic, tmp_path: Path
) -> None:
    assert not api.set_config(_configured()).warnings
    assert traffic.captures == {1: PortCapture(100_000, 9342)}
    assert _port_states(api) == ["stopped", "stopped"]
    assert _switch(api, "start") == []
    assert _port_states(api) == ["stopped", "started"]
    assert _read(_file(api)) == []
    _captured(traffic, tmp_path, FRAMES)
    assert _switch(api, "stop", "p2") == []
    assert traffic.stopped_captures == [1]
    assert _port_states(api) == ["stopped", "stopped"]
    content = _file(api)
    *cut, whole = _read(content)
    assert cut == [frame.data for frame in FRAMES[:4]]
    assert whole[:-4] == FRAMES[4].data
    assert zlib.crc32(whole) == RESIDUE
    with RawPcapReader(io.BytesIO(content)) as reader:
        assert (reader.nano, reader.linktype, reader.snaplen) == (True, 1, 9346)
        times = [packet.sec * 10**9 + packet.usec for _, packet in reader]
    assert times == [frame.unix_ns for frame in FRAMES]


def test_some_of_the_packets_are_handed_over(
    api: Any, traffic: CountedTraffic, tmp_path: Path
) -> None:
    api.set_config(_configured())
    _captured(traffic, tmp_path, FRAMES)
    assert _read(_file(api, packets=(2, 3))) == [frame.data for frame in FRAMES[1:4]]
    (last,) = _read(_file(api, packets=(5, 100)))
    assert last[:-4] == FRAMES[4].data
    assert _read(_file(api, packets=(6, 1))) == []


def test_pcapng_is_what_it_says(api: Any, traffic: CountedTraffic, tmp_path: Path) -> None:
    api.set_config(_configured(format="pcapng", packet_size=200))
    assert traffic.captures == {1: PortCapture(100_000, 200)}
    _captured(traffic, tmp_path, FRAMES)
    content = _file(api)
    with RawPcapNgReader(io.BytesIO(content)) as reader:
        found = list(reader)
    assert [data for data, _ in found] == [frame.data for frame in FRAMES]
    for frame, (_, packet) in zip(FRAMES, found, strict=True):
        assert (packet.tsresol, packet.wirelen, packet.linktype) == (10**9, 204, 1)
        assert packet.tshigh << 32 | packet.tslow == frame.unix_ns
    path = tmp_path / "handed.pcapng"
    path.write_bytes(content)
    with PcapNgReader(str(path)) as packets:
        assert [len(packet) for packet in packets] == [60, 61, 62, 63, 200]


def test_a_file_that_is_larger_than_one_answer_of_grpc(
    served: OtgSettings, traffic: CountedTraffic, tmp_path: Path, says: Says
) -> None:
    if served.token:
        pytest.skip("snappi sends no metadata")
    api = snappi.api(location=served.grpc_location, transport="grpc")
    api.set_config(_configured())
    frames = [ReceivedFrame(NOW_NS, 9000, bytes(9000))] * 500
    _captured(traffic, tmp_path, frames)
    with pytest.raises(Exception) as caught:
        _file(api)
    assert caught.value == says()
    api.enable_grpc_streaming = True
    found = _read(_file(api))
    assert len(found) == 500
    assert {frame[:-4] for frame in found} == {bytes(9000)}


def test_what_is_not_in_a_capture_is_said_when_it_stops(
    api: Any, traffic: CountedTraffic, tmp_path: Path, says: Says
) -> None:
    api.set_config(_configured())
    _captured(traffic, tmp_path, FRAMES, left_out=7)
    assert _switch(api, "stop") == [says("7", "p2", "100000")]
    _captured(traffic, tmp_path, FRAMES, left_out=7, error="No space left on device")
    assert _switch(api, "stop") == [says("p2")]


def test_ports_without_a_capture_have_none(api: Any) -> None:
    api.set_config(_configured())
    none = "no capture is configured for a port"
    with pytest.raises(Exception, match=rf"port\.capture\.port_names: {none}"):
        _switch(api, "start", "p1")
    with pytest.raises(Exception, match=f"port_name: {none}"):
        _file(api, "p9")
    api.set_config(two_ports())
    assert _switch(api, "start") == []
    with pytest.raises(Exception, match=f"port_name: {none}"):
        _file(api, "p2")


def test_what_a_capture_cannot_do_is_refused_with_its_path(says: Says) -> None:
    config = _configured()
    config.captures[0].filters.ethernet()[-1].src.value = "020000000001"
    with pytest.raises(Exception) as caught:
        read(config)
    assert caught.value == says("captures[0].filters[0]")
    with pytest.raises(Exception) as caught:
        read(_configured(port_names=["p3"]))
    assert caught.value == says("p3", "captures[0].port_names")
    with pytest.raises(Exception) as caught:
        read(_configured(packet_size=0))
    assert caught.value == says("captures[0].packet_size")
    twice = _configured()
    twice.captures.add(name="d", port_names=["p1", "p2"])
    with pytest.raises(Exception) as caught:
        read(twice)
    assert caught.value == says("captures[1].port_names")


def test_packets_larger_than_any_frame_are_whole() -> None:
    captures = read(_configured(packet_size=65535, port_names=["p1", "p2"])).captures
    assert {name: each.snap_bytes for name, each in captures.items()} == {"p1": 9346, "p2": 9346}
    assert {each.kept.snap_bytes for each in captures.values()} == {9342}
