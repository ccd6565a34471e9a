"""What the engine makes of frames that a bad path might return, replayed by DPDK's pcap port."""

import random
from collections.abc import Sequence
from pathlib import Path

from scapy.layers.l2 import ARP, Ether
from scapy.utils import PcapWriter

from tests.integration.engine.frames import SIGNATURE_BYTES, flip, signature, signed_frame
from tests.integration.engine.requests import open_request, stream, trial_request
from tests.integration.engine.session import EngineSession, Message

MARK, OTHER_MARK = 4242, 4243


def write_pcap(path: Path, frames: Sequence[bytes]) -> str:
    """A port that receives these frames, once, as soon as a trial polls it."""
    with PcapWriter(str(path), linktype=1) as writer:
        for frame in frames:
            writer.write(frame)
    return f"net_pcap{path.stem},rx_pcap={path}"


def receive(engine: EngineSession, folder: Path, *ports: Sequence[bytes]) -> Message:
    """Run a trial of streams 0, 1, … that send a frame each and expect theirs on port 0, 1, …"""
    devargs = [write_pcap(folder / f"{number}.pcap", frames) for number, frames in enumerate(ports)]
    engine.ask(open_request(*devargs))
    streams = [stream(number, 0.01, tx_port=number, rx_port=number) for number in range(len(ports))]
    reply = engine.ask(trial_request(*streams, mark=MARK))
    for counts in reply["streams"]:
        # The reply reckons with what the engine itself sent.
        assert counts["sent"] == 1
        assert counts["missing"] == 1 - (counts["received"] - counts["duplicate"])
    return reply


def passed_over(engine: EngineSession, index: int = 0) -> int:
    """The sequence numbers passed over and never seen, by the intervals' account."""
    return sum(interval["streams"][index]["missing"] for interval in engine.intervals)


def assert_counts(counts: Message, **expected: int) -> None:
    zero = dict.fromkeys(("received", "out_of_order", "duplicate", "corrupt", "misdirected"), 0)
    assert {name: counts[name] for name in zero} == zero | expected
    timed = counts["latency"]["count"] + counts["latency_across_stalls"]["count"]
    assert timed == counts["received"]


def good(*sequences: int, stream_number: int = 0) -> list[bytes]:
    return [signed_frame(MARK, stream_number, sequence) for sequence in sequences]


def test_order_loss_and_duplicates(engine: EngineSession, tmp_path: Path) -> None:
    reply = receive(engine, tmp_path, good(0, 1, 2, 2, 5, 4, 4, 8, 0, 9))
    # 3, 6 and 7 never came, 4 came late; 2, 4 and 0 came twice.
    assert_counts(reply["streams"][0], received=10, duplicate=3, out_of_order=1)
    assert passed_over(engine) == 3
    engine.finish()


def test_a_first_frame_that_is_not_the_first(engine: EngineSession, tmp_path: Path) -> None:
    reply = receive(engine, tmp_path, good(5, 6, 3))
    assert_counts(reply["streams"][0], received=3, out_of_order=1)
    assert passed_over(engine) == 4
    engine.finish()


def test_each_flipped_bit_of_a_signature(engine: EngineSession, tmp_path: Path) -> None:
    frame = signed_frame(MARK, 0, 1, time=123456789)
    reply = receive(engine, tmp_path, [flip(frame, bit) for bit in range(8 * SIGNATURE_BYTES)])
    # A damaged mark or stream number cannot be distinguished from a foreign one.
    assert_counts(reply["streams"][0], corrupt=8 * SIGNATURE_BYTES - 32)
    assert reply["ports"][0]["foreign"] == 32
    assert reply["ports"][0]["stale"] == 0
    assert passed_over(engine) == 0
    engine.finish()


def test_frames_that_are_not_ours(engine: EngineSession, tmp_path: Path) -> None:
    arp = Ether(dst="ff:ff:ff:ff:ff:ff", src="02:00:00:00:00:09") / ARP(pdst="198.18.0.1")
    foreign = [
        bytes(arp),
        bytes(arp).ljust(60, b"\0"),
        bytes(60),
        b"\xff" * 60,
        b"\xff" * 14,  # a runt, shorter than a signature
        b"\x02",
        bytes(1514),
        # Whole, but with marks that no trial has.
        bytes(42) + signature(0, 0, 0, 0),
        bytes(42) + signature(0xFFFF, 0, 0, 0),
    ]
    reply = receive(engine, tmp_path, [*foreign, *good(0)])
    assert reply["ports"][0]["foreign"] == len(foreign)
    assert_counts(reply["streams"][0], received=1)
    engine.finish()


def test_frames_of_another_trial(engine: EngineSession, tmp_path: Path) -> None:
    stale = [signed_frame(OTHER_MARK, 0, sequence) for sequence in range(7)]
    damaged = flip(signed_frame(OTHER_MARK, 0, 7), 40)
    reply = receive(engine, tmp_path, [*stale, damaged, *good(0, 1)])
    assert reply["ports"][0]["stale"] == 7
    assert reply["ports"][0]["foreign"] == 1
    assert_counts(reply["streams"][0], received=2)
    engine.finish()


def test_a_signature_is_enough_of_a_frame(engine: EngineSession, tmp_path: Path) -> None:
    """A DUT may cut or grow headers: only the end is looked at."""
    frames = [
        signature(MARK, 0, 0, 0),
        bytes(3) + signature(MARK, 0, 1, 0),
        signed_frame(MARK, 0, 2, length=1514),
        # Too long for one buffer, so that it lies in several.
        signed_frame(MARK, 0, 3, length=2300),
    ]
    reply = receive(engine, tmp_path, frames)
    assert_counts(reply["streams"][0], received=4)
    engine.finish()


def test_frames_on_the_wrong_port(engine: EngineSession, tmp_path: Path) -> None:
    reply = receive(
        engine,
        tmp_path,
        [*good(0, 1), *good(0, 1, 2, stream_number=1)],
        [*good(2, 2), flip(good(3)[0], 50), *good(3, 4, stream_number=1)],
    )
    assert_counts(reply["streams"][0], received=2, misdirected=2, corrupt=1)
    assert_counts(reply["streams"][1], received=2, misdirected=3)
    assert passed_over(engine, 1) == 3
    engine.finish()


def test_latencies_of_any_length(engine: EngineSession, tmp_path: Path) -> None:
    """Times of sending may be anything; of two half the range apart one is hours ago."""
    times = [0, 1, 2**47, 2**48 - 1, 0xA5A5A5A5A5A5]
    frames = [signed_frame(MARK, 0, number, time) for number, time in enumerate(times)]
    reply = receive(engine, tmp_path, frames)
    (counts,) = reply["streams"]
    assert_counts(counts, received=len(times))
    (opened,) = [message for message in engine.messages if message.get("reply") == "open"]
    timed = [counts[name] for name in ("latency", "latency_across_stalls") if counts[name]["count"]]
    longest_ns = max(histogram["max_ns"] for histogram in timed)
    range_ns = 2**48 / opened["tsc_hz"] * 1e9
    assert range_ns / 2 * 0.999 < longest_ns < range_ns * 1.001
    assert max(index for histogram in timed for index, _ in histogram["buckets"]) == 3967
    for histogram in timed:
        assert sum(count for _, count in histogram["buckets"]) == histogram["count"]
    engine.finish()


def reference(numbers: Sequence[int]) -> dict[str, int]:
    """The counters by the protocol's words, from a full record of the numbers seen."""
    seen: set[int] = set()
    highest = -1
    counts = {"received": 0, "out_of_order": 0, "duplicate": 0}
    for number in numbers:
        counts["received"] += 1
        counts["duplicate"] += number in seen
        counts["out_of_order"] += number not in seen and number < highest
        highest = max(highest, number)
        seen.add(number)
    return counts | {"passed_over": highest + 1 - len(seen)}


def test_a_long_stream_over_a_bad_path(engine: EngineSession, tmp_path: Path) -> None:
    dice = random.Random(20)  # noqa: S311 - repeatable on purpose
    numbers = [number for number in range(30_000) if dice.random() > 0.03]
    numbers += dice.choices(numbers, k=500)
    # Each is delayed by up to so many places, a few by very many.
    delays = [dice.choice((0, 0, 0, 3, 50)) + 9000 * (dice.random() < 0.01) for _ in numbers]
    order = sorted(range(len(numbers)), key=lambda place: place + delays[place] * dice.random())
    arrived = [numbers[place] for place in order]
    expected = reference(arrived)
    assert min(expected.values()) > 100

    template = signed_frame(MARK, 0, 0)[:-SIGNATURE_BYTES]
    reply = receive(
        engine, tmp_path, [template + signature(MARK, 0, number, 0) for number in arrived]
    )
    assert passed_over(engine) == expected.pop("passed_over")
    assert_counts(reply["streams"][0], **expected)
    engine.finish()
