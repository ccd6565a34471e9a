"""Streams of several templates: mixes of sizes and captures, in the order requested."""

from pathlib import Path

from tests.integration.engine.captures import read_signature, send
from tests.integration.engine.frames import SIGNATURE_BYTES, udp_frame
from tests.integration.engine.requests import stream
from tests.integration.engine.session import EngineSession

SMALL, MIDDLE, LARGE = udp_frame(60), udp_frame(566), udp_frame(1514)
SOURCE_PORT = {"offset": 34, "width": 2, "count": 100, "fixes": [40]}


def bodies(frames: list[bytes]) -> list[bytes]:
    """What comes before the signatures."""
    return [frame[:-SIGNATURE_BYTES] for frame in frames]


def test_a_mix_of_sizes_keeps_its_order(engine: EngineSession, tmp_path: Path) -> None:
    order = [0, 0, 1, 0, 0, 1, 0, 0, 2, 0, 1, 1]
    templates = [SMALL, MIDDLE, LARGE]
    mix = stream(0, 40_000, frames=[each.hex() for each in templates], order=order)
    frames = send(engine, tmp_path, mix)
    assert bodies(frames) == bodies([templates[order[n % 12]] for n in range(4000)])
    assert [read_signature(frame).sequence for frame in frames] == list(range(4000))


def test_without_an_order_templates_take_turns(engine: EngineSession, tmp_path: Path) -> None:
    templates = [udp_frame(60 + n, payload=bytes([n])) for n in range(100)]
    capture = stream(0, 7000, frames=[each.hex() for each in templates])
    frames = send(engine, tmp_path, capture)
    assert bodies(frames) == bodies([templates[n % 100] for n in range(700)])


def test_templates_share_the_stream_s_flows(engine: EngineSession, tmp_path: Path) -> None:
    templates = [SMALL.hex(), MIDDLE.hex()]
    mix = stream(0, 5000, frames=templates, order=[0, 1, 1], fields=[SOURCE_PORT])
    frames = send(engine, tmp_path, mix)
    ports = [int.from_bytes(frame[34:36], "big") for frame in frames]
    assert ports == [49184 + n % 100 for n in range(500)]
    # RFC 768 over the pseudo header, for each frame of either size.
    assert all(udp_sum(frame) == 0xFFFF for frame in frames)


def udp_sum(frame: bytes) -> int:
    """The one's complement sum that a receiver comes to: 0xffff if the checksum is right."""
    length = len(frame) - 34
    covered = frame[26:34] + bytes([0, 17]) + length.to_bytes(2, "big") + frame[34:]
    covered += bytes(len(covered) % 2)
    total = sum(int.from_bytes(covered[at : at + 2], "big") for at in range(0, len(covered), 2))
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    return total
