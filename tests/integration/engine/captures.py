"""Frames that left a pcap port, and the signature they end with (docs/engine-protocol.md)."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scapy.utils import RawPcapReader

from tests.integration.engine.frames import SIGNATURE_BYTES, ones_sum
from tests.integration.engine.requests import Request, open_request, trial_request
from tests.integration.engine.session import EngineSession

MARK = 0xBEEF


@dataclass(frozen=True)
class Signature:
    """A signature's parts."""

    mark: int
    stream: int
    sequence: int
    time: int


def read_signature(frame: bytes) -> Signature:
    end = frame[-SIGNATURE_BYTES:]
    assert ones_sum(end) == 0xFFFF
    return Signature(
        mark=int.from_bytes(end[0:2], "little"),
        stream=int.from_bytes(end[2:4], "little"),
        sequence=int.from_bytes(end[4:10], "little"),
        time=int.from_bytes(end[10:16], "little"),
    )


def send(engine: EngineSession, folder: Path, *streams: Request, **options: Any) -> list[bytes]:
    """Run one trial on a port opened with `options`; every frame that left it, in order."""
    capture = folder / "sent.pcap"
    engine.ask(open_request(f"net_pcap0,tx_pcap={capture}", **options))
    reply = engine.ask(trial_request(*streams, mark=MARK))
    engine.finish()
    frames = [frame for frame, _ in RawPcapReader(str(capture))]
    assert len(frames) == sum(counts["sent"] for counts in reply["streams"])
    return frames
