"""Hostile, truncated, jumbo and runt frames into a real receive path: counted, each by its kind."""

import struct
from pathlib import Path
from random import Random

from tests.integration.engine.frames import flip, signature, signed_frame, udp_frame
from tests.integration.engine.requests import open_request, stream, trial_request
from tests.integration.engine.session import EngineSession, Message

MARK = 1000
# A pcap file's header: microseconds, version 2.4, frames of any length, Ethernet.
PCAP_HEADER = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 1 << 18, 1)


def write_pcap(path: Path, frames: list[bytes]) -> None:
    records = [struct.pack("<IIII", 0, 0, len(frame), len(frame)) + frame for frame in frames]
    path.write_bytes(PCAP_HEADER + b"".join(records))


def receive(engine: EngineSession, folder: Path, frames: list[bytes]) -> Message:
    """A trial of a port that gives these frames; its own stream sends a few, which go nowhere."""
    write_pcap(folder / "in.pcap", frames)
    devargs = f"net_pcap0,rx_pcap={folder / 'in.pcap'},tx_pcap={folder / 'out.pcap'}"
    engine.ask(open_request(devargs))
    reply = engine.ask(trial_request(stream(0, 1000), mark=MARK))
    engine.finish()
    return reply


def foreign(reply: Message) -> dict[str, int]:
    (port,) = reply["ports"]
    kinds = {kind: count for kind, count in port["foreign_kinds"].items() if count}
    assert sum(kinds.values()) == port["foreign"]
    return kinds


def test_every_length_of_nothing(engine: EngineSession, tmp_path: Path) -> None:
    """Zeros are an IEEE 802.3 frame of no length once there is room for a header."""
    lengths = range(1, 200)
    reply = receive(engine, tmp_path, [bytes(length) for length in lengths])
    runts = sum(length < 14 for length in lengths)
    assert foreign(reply) == {"runt": runts, "other": len(lengths) - runts}


def test_a_frame_cut_short_anywhere(engine: EngineSession, tmp_path: Path) -> None:
    """Only the whole one has its signature; of others the IP header says how long they were."""
    whole = signed_frame(MARK, 0, 0, length=120)
    reply = receive(engine, tmp_path, [whole[:length] for length in range(1, len(whole) + 1)])
    # The length in the header ends at byte 18, and two more are looked for.
    assert foreign(reply) == {"runt": 13, "ipv4": 6}
    assert reply["ports"][0]["truncated"] == len(whole) - 20
    (counts,) = reply["streams"]
    assert (counts["received"], counts["corrupt"], counts["duplicate"]) == (1, 0, 0)


def test_padding_up_to_what_ethernet_adds(engine: EngineSession, tmp_path: Path) -> None:
    """Within 46 bytes of the end a signature is found, with more behind it no longer."""
    frames = [
        signed_frame(MARK, 0, sequence)[-40:] + bytes(padding)
        for sequence, padding in enumerate((0, 1, 20, 45, 46, 47, 64))
    ]
    reply = receive(engine, tmp_path, frames)
    (counts,) = reply["streams"]
    assert counts["received"] == 5
    assert counts["received_bytes"] == 5 * (40 + 4) + 0 + 1 + 20 + 45 + 46
    assert reply["ports"][0]["foreign"] == 2


def test_every_damaged_bit_of_a_signature(engine: EngineSession, tmp_path: Path) -> None:
    """In mark or stream it makes the frame another's or foreign; elsewhere it is corrupt."""
    whole = signed_frame(MARK, 0, 5, time=123456789)
    reply = receive(engine, tmp_path, [flip(whole, bit) for bit in range(18 * 8)])
    (counts,) = reply["streams"]
    (port,) = reply["ports"]
    assert counts["received"] == 0
    assert counts["corrupt"] == 18 * 8 - 32
    assert port["stale"] == 0
    assert port["foreign"] == 32


def test_jumbo_frames_in_many_buffers(engine: EngineSession, tmp_path: Path) -> None:
    """The driver spreads what a buffer does not hold over several."""
    lengths = [1518, 2048, 2049, 4096, 9000, 9214, 9216]
    frames = [signed_frame(MARK, 0, number, length=length) for number, length in enumerate(lengths)]
    frames += [udp_frame(length) for length in lengths]
    reply = receive(engine, tmp_path, frames)
    (counts,) = reply["streams"]
    assert counts["received"] == len(lengths)
    assert counts["out_of_order"] == counts["duplicate"] == counts["corrupt"] == 0
    assert foreign(reply) == {"ipv4": len(lengths)}


def test_larger_than_any_frame(engine: EngineSession, tmp_path: Path) -> None:
    """Up to what a capture holds; no port of 9214 bytes would give them."""
    frames = [signed_frame(MARK, 0, number, length=9214 * (1 + number)) for number in range(6)]
    reply = receive(engine, tmp_path, frames)
    (counts,) = reply["streams"]
    (port,) = reply["ports"]
    assert counts["received"] + port["foreign"] + port["rx_errors"] == len(frames)


def test_numbers_and_times_from_nowhere(engine: EngineSession, tmp_path: Path) -> None:
    """The highest sequence and time that 48 bits hold, and back again."""
    highest = (1 << 48) - 1
    numbers = [(0, 0), (highest, highest), (1, 1), (highest, 0), (highest - 1, highest), (0, 0)]
    frames = [signed_frame(MARK, 0, sequence, time) for sequence, time in numbers]
    reply = receive(engine, tmp_path, frames)
    (counts,) = reply["streams"]
    assert counts["received"] == len(frames)
    histograms = [counts["latency"], counts["latency_across_stalls"]]
    assert sum(histogram["count"] for histogram in histograms) == len(frames)


def test_noise(engine: EngineSession, tmp_path: Path) -> None:
    """Random bytes at random lengths, some of which end with a signature of some trial."""
    random = Random(20)  # noqa: S311 - noise, no secret
    noise = [random.randbytes(random.randrange(1, 1600)) for _ in range(2000)]
    signed = [
        random.randbytes(random.randrange(0, 1500))
        + signature(mark, stream_number, sequence, random.getrandbits(48))
        for mark, stream_number in ((MARK, 0), (MARK, 1), (MARK + 1, 0), (0, 0))
        for sequence in range(100)
    ]
    reply = receive(engine, tmp_path, noise + signed)
    (counts,) = reply["streams"]
    (port,) = reply["ports"]
    assert counts["received"] == 100
    assert port["stale"] == 100
    counted = counts["received"] + counts["corrupt"] + port["stale"] + port["foreign"]
    assert counted == len(noise) + len(signed)
