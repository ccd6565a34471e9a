"""pcap files as ports: what was sent is in the file, frame by frame."""

import struct
from ipaddress import ip_address
from pathlib import Path

from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether
from scapy.utils import RawPcapReader, wrpcap

from tests.integration.engine.frames import SIGNATURE_BYTES, udp_frame
from tests.integration.engine.port_bed import FRAMES, open_ports, stream
from tests.integration.engine.requests import trial_request
from tests.integration.engine.session import EngineSession


def test_the_file_has_the_frames_that_were_requested(engine: EngineSession, tmp_path: Path) -> None:
    path = tmp_path / "sent.pcap"
    (port,) = open_ports(engine, f"net_pcap0,tx_pcap={path}")
    assert (port["driver"], port["rx_stamps"]) == ("net_pcap", False)
    reply = engine.ask(trial_request(stream(3, 0, 0, 0, 200), duration_s=0.3, mark=4242))
    assert reply["streams"][0]["sent"] == FRAMES
    engine.finish()
    frames = [frame for frame, _ in RawPcapReader(str(path))]
    assert len(frames) == FRAMES
    template = udp_frame(200)
    for number, frame in enumerate(frames):
        assert len(frame) == 200
        signature = frame[-SIGNATURE_BYTES:]
        assert signature[:4] == struct.pack("<HH", 4242, 3)
        assert int.from_bytes(signature[4:10], "little") == number
        # The field counts up from the template's address in 1024 flows.
        received = Ether(frame)
        assert received[IP].dst == str(ip_address("198.19.0.1") + number)
        # All but that, the checksums and the signature is the template's.
        for part in (slice(24), slice(26, 30), slice(34, 40), slice(42, -SIGNATURE_BYTES)):
            assert frame[part] == template[part]
        del received[IP].chksum
        del received[UDP].chksum
        assert bytes(received) == frame


def test_frames_of_a_file_are_received_once(engine: EngineSession, tmp_path: Path) -> None:
    path = tmp_path / "theirs.pcap"
    wrpcap(str(path), [Ether(udp_frame(60 + size)) for size in range(100)])
    open_ports(engine, f"net_pcap0,rx_pcap={path},tx_pcap={tmp_path}/sent.pcap")
    reply = engine.ask(trial_request(stream(0, 0, 0, 0, 60), duration_s=0.2))
    assert reply["ports"][0]["foreign"] == 100
    engine.finish()
