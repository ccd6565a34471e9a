"""An unmodified snappi client against `plimsoll serve otg` over a real dpdk-testpmd."""

import shutil
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import snappi
from scapy.layers.inet import IP, UDP
from scapy.utils import PcapReader, RawPcapReader

from tests.integration.command import Workplace, until
from tests.integration.otg_server import otg_server

pytestmark = [
    pytest.mark.usefixtures("live_in_turn"),
    pytest.mark.skipif(
        shutil.which("dpdk-testpmd") is None,
        reason="dpdk-testpmd is missing: install dpdk-dev (Debian 12) or dpdk (Fedora)",
    ),
]


@pytest.fixture
def locations(place: Workplace) -> Iterator[tuple[str, str]]:
    """Where snappi finds the server by HTTP and by gRPC."""
    with otg_server(place, place.experiment()) as found:
        yield found


def _clients(locations: tuple[str, str]) -> Iterator[Any]:
    """By HTTP, and by gRPC."""
    for api in (
        snappi.api(location=locations[0]),
        snappi.api(location=locations[1], transport="grpc"),
    ):
        if hasattr(api, "request_timeout"):
            api.request_timeout = 120
        yield api


def _configured(api: Any) -> Any:
    config = api.config()
    config.ports.port(name="p1", location="0").port(name="p2", location="1")
    for name, tx, rx in (("there", "p1", "p2"), ("back", "p2", "p1")):
        flow = config.flows.add(name=name)
        flow.tx_rx.port.tx_name, flow.tx_rx.port.rx_names = tx, [rx]
        flow.size.fixed = 128
        flow.rate.pps = 500
        flow.duration.fixed_packets.packets = 300
        flow.metrics.enable = flow.metrics.loss = True
        flow.metrics.latency.enable = flow.metrics.timestamps = True
        _, _, udp = flow.packet.ethernet().ipv4().udp()
        udp.src_port.increment.start, udp.src_port.increment.count = 5000, 10
        udp.dst_port.decrement.start, udp.dst_port.decrement.count = 6000, 7
    return config


def _transmit(api: Any, state: str) -> None:
    control = api.control_state()
    control.traffic.flow_transmit.state = state
    api.set_control_state(control)


def _capture(api: Any, state: str) -> list[str]:
    control = api.control_state()
    control.port.capture.state = state
    return list(api.set_control_state(control).warnings or [])


def _captured(api: Any, port: str, reader: type = PcapReader) -> list[Any]:
    """The frames of a port's capture, as Scapy reads them."""
    request = api.capture_request()
    request.port_name = port
    return list(reader(api.get_capture(request)))


def _cut(api: Any, port: str) -> list[tuple[int, int]]:
    """What there is of each frame, and its length; Scapy takes 20 ms to dissect one that is cut."""
    frames = _captured(api, port, RawPcapReader)
    return [(len(data), meta.wirelen) for data, meta in frames]


def _flow_metrics(api: Any) -> Any:
    request = api.metrics_request()
    request.flow.flow_names = []
    return api.get_metrics(request).flow_metrics


def _until_each(api: Any, holds: Callable[[Any], bool], what: str) -> None:
    until(lambda: all(map(holds, _flow_metrics(api))), what)


@pytest.mark.slow
def test_flows_end_by_their_count_and_go_on_without_one(locations: tuple[str, str]) -> None:
    for api in _clients(locations):
        config = _configured(api)
        api.set_config(config)
        _transmit(api, "start")
        _until_each(api, lambda metric: metric.transmit == "stopped", "the ends of the flows")
        for metric in _flow_metrics(api):
            assert (metric.frames_tx, metric.frames_rx, metric.loss) == (300, 300, 0)
            assert metric.bytes_rx == 300 * 128
            assert 0 < metric.latency.minimum_ns <= metric.latency.average_ns
            assert metric.timestamps.first_timestamp_ns < metric.timestamps.last_timestamp_ns
        request = api.metrics_request()
        request.port.port_names = []
        ports = api.get_metrics(request).port_metrics
        assert [(port.frames_tx, port.link) for port in ports] == [(300, "up"), (300, "up")]

    for flow in config.flows:
        flow.duration.choice = flow.duration.CONTINUOUS
    api.set_config(config)
    _transmit(api, "start")
    _until_each(api, lambda metric: metric.frames_rx > 100, "frames")
    _transmit(api, "pause")
    paused = _flow_metrics(api)
    assert {metric.transmit for metric in paused} == {"paused"}
    _transmit(api, "resume")
    before = max(metric.frames_tx for metric in paused)
    _until_each(api, lambda metric: metric.frames_tx > before + 100, "more frames")
    _transmit(api, "stop")
    for metric in _flow_metrics(api):
        assert metric.transmit == "stopped"
        assert metric.frames_tx == metric.frames_rx


def test_what_was_sent_is_in_the_captures(locations: tuple[str, str]) -> None:
    """Frames pass testpmd as they are, so each port's capture has those of the other's flow."""
    for api in _clients(locations):
        config = _configured(api)
        config.captures.add(name="all", port_names=["p1", "p2"])
        api.set_config(config)
        assert _capture(api, "start") == []
        assert _captured(api, "p1") == []
        _transmit(api, "start")
        _until_each(api, lambda metric: metric.transmit == "stopped", "the ends of the flows")
        assert _capture(api, "stop") == []
        for port in ("p1", "p2"):
            frames = _captured(api, port)
            assert [len(frame) for frame in frames] == [128] * 300
            assert [frame[UDP].sport for frame in frames] == [5000 + i % 10 for i in range(300)]
            assert [frame[UDP].dport for frame in frames] == [6000 - i % 7 for i in range(300)]
            for frame in frames:
                whole = bytes(frame)
                del frame[IP].chksum, frame[UDP].chksum
                assert bytes(frame) == whole

    for flow in config.flows:
        flow.duration.choice = flow.duration.CONTINUOUS
    config.captures[0].packet_size = 60
    api.set_config(config)
    _transmit(api, "start")
    _until_each(api, lambda metric: metric.frames_rx > 100, "frames")
    assert _captured(api, "p1") == []
    _capture(api, "start")
    until(lambda: len(_cut(api, "p1")) > 100, "frames in the capture")
    _capture(api, "stop")
    cut = _cut(api, "p2")
    assert set(cut) == {(60, 128)}
    _transmit(api, "stop")
    assert _cut(api, "p2") == cut
