"""The delay DUT by itself, on pcap ports: it does what it says, by Scapy's judgement."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import ARP, Dot1Q, Ether
from scapy.layers.vxlan import VXLAN
from scapy.utils import PcapWriter, RawPcapReader

from tests.integration.engine.delay_dut import Behaviour, DelayDut, DutReport, path
from tests.integration.engine.frames import flip, signature, signed_frame

MARK, OTHER_MARK, STREAM = 4242, 77, 5
TO, FROM = "02:00:00:00:00:01", "02:00:00:00:00:02"
MILLISECOND_NS = 1_000_000


def forward(
    folder: Path, frames: Sequence[bytes], behaviour: Behaviour, seed: int = 1
) -> tuple[list[list[bytes]], DutReport]:
    """What leaves each of two ports when `frames` come in on port 0, and the DUT's account."""
    source = folder / "in.pcap"
    with PcapWriter(str(source), linktype=1) as writer:
        for frame in frames:
            writer.write(frame)
    captures = [folder / f"out{port}.pcap" for port in (0, 1)]
    nothing = folder / "nothing.pcap"
    PcapWriter(str(nothing), linktype=1, sync=True).write_header(None)
    with DelayDut(
        folder,
        f"net_pcap0,rx_pcap={source},tx_pcap={captures[0]}",
        f"net_pcap1,rx_pcap={nothing},tx_pcap={captures[1]}",
    ) as dut:
        dut.behave(behaviour, seed=seed)
        while (answer := dut.ask({"report": True}))["paths"][0]["held"] or (
            answer["ports"][0]["received"] < len(frames)
        ):
            pass
        report = dut.report()
        dut.finish()
    return [[frame for frame, _ in RawPcapReader(str(capture))] for capture in captures], report


def numbered(count: int) -> list[bytes]:
    return [signed_frame(MARK, STREAM, number) for number in range(count)]


def sequences(report: DutReport) -> list[int]:
    return [frame.sequence for frame in report.sent]


def assert_emitted(out: Sequence[bytes], expected: Sequence[bytes], report: DutReport) -> None:
    """So it left, and so the DUT says it did."""
    assert list(out) == list(expected)
    assert report.ports[1]["sent"] == len(expected)


def test_without_orders_it_forwards_all_as_it_is(tmp_path: Path) -> None:
    frames = [*numbered(100), bytes(60), b"\x02" * 60]
    (back, out), report = forward(tmp_path, frames, path(0, 1))
    assert back == []
    assert_emitted(out, frames, report)
    assert report.ports[0] == {"received": 102, "sent": 0}
    assert report.paths[0]["without_signature"] == 2
    assert sequences(report) == list(range(100))
    assert all(frame.stream == STREAM and not frame.done for frame in report.sent)


@pytest.mark.parametrize(
    ("wrong", "order"),
    [
        ({"do": "drop", "every": 4}, [0, 1, 2, 4, 5, 6, 8, 9]),
        ({"do": "drop", "frames": [9, 0, 5]}, [1, 2, 3, 4, 6, 7, 8]),
        ({"do": "duplicate", "frames": [3]}, [0, 1, 2, 3, 3, 4, 5, 6, 7, 8, 9]),
        ({"do": "duplicate", "every": 5, "copies": 2}, [0, 1, 2, 3, 4, 4, 4, 5, 6, 7, 8, 9, 9, 9]),
        ({"do": "reorder", "frames": [0, 4]}, [1, 0, 2, 3, 5, 4, 6, 7, 8, 9]),
        ({"do": "reorder", "frames": [2], "by": 6}, [0, 1, 3, 4, 5, 6, 7, 8, 2, 9]),
        ({"do": "drop", "every": 2, "stream": STREAM + 1}, list(range(10))),
    ],
)
def test_frames_that_are_lost_doubled_or_overtaken(
    tmp_path: Path, wrong: dict[str, Any], order: list[int]
) -> None:
    frames = numbered(10)
    (_, out), report = forward(tmp_path, frames, path(0, 1, wrongs=[wrong]))
    assert_emitted(out, [frames[number] for number in order], report)
    assert sequences(report) == order
    befallen = {frame.sequence for frame in report.sent if wrong["do"] in frame.done}
    assert befallen | (set(range(10)) - set(order)) == wrong_numbers(wrong)
    assert report.applied() == [len(wrong_numbers(wrong))]


def wrong_numbers(wrong: dict[str, Any]) -> set[int]:
    if wrong.get("stream", STREAM) != STREAM:
        return set()
    if "frames" in wrong:
        return set(wrong["frames"])
    return {number for number in range(10) if (number + 1) % wrong["every"] == 0}


def test_a_doubled_frame_is_overtaken_with_its_double(tmp_path: Path) -> None:
    wrongs = [{"do": "duplicate", "frames": [3]}, {"do": "reorder", "frames": [3], "by": 2}]
    _, report = forward(tmp_path, numbered(7), path(0, 1, wrongs=wrongs))
    assert sequences(report) == [0, 1, 2, 4, 5, 3, 3, 6]


def test_a_frame_that_waits_for_one_that_never_comes_stays(tmp_path: Path) -> None:
    wrong = {"do": "reorder", "frames": [9]}
    (_, out), report = forward(tmp_path, numbered(10), path(0, 1, wrongs=[wrong]))
    assert len(out) == 9
    assert report.paths[0]["aside"] == 1


def test_damage_misdirection_marks_and_strangers(tmp_path: Path) -> None:
    stranger = bytes(Ether(dst="ff:ff:ff:ff:ff:ff", src=FROM) / ARP(psrc="192.0.2.1"))
    wrongs = [
        {"do": "corrupt", "frames": [0], "byte": 0, "flip": 0x80},
        {"do": "corrupt", "frames": [1], "byte": 59, "flip": 2},
        {"do": "misdirect", "frames": [2]},
        {"do": "stale", "frames": [3], "mark": OTHER_MARK},
        {"do": "inject", "frames": [4], "frame": stranger.hex()},
    ]
    frames = numbered(6)
    (back, out), report = forward(tmp_path, frames, path(0, 1, wrongs=wrongs))
    assert back == [frames[2]]
    damaged = flip(frames[0], 8 * 17 + 7), bytes([frames[1][0] ^ 2, *frames[1][1:]])
    stale = signed_frame(OTHER_MARK, STREAM, 3)
    assert_emitted(out, [*damaged, stale, frames[4], stranger, frames[5]], report)
    assert report.ports[0]["sent"] == 1
    assert report.applied() == [1] * 5
    done = ["corrupt", "corrupt", "misdirect", "stale", "inject"]
    assert [set(frame.done) for frame in report.sent] == [*({name} for name in done), set()]


def headers(address: str, ttl: int, *tags: int) -> Ether:
    packet = Ether(dst=TO, src=FROM)
    for tag in tags:
        packet /= Dot1Q(vlan=tag)
    return packet / IP(src=address, dst="198.19.0.1", ttl=ttl) / UDP(sport=1, dport=2)


def test_nat_ttl_and_new_macs_with_right_checksums(tmp_path: Path) -> None:
    end = bytes(range(7)) + signature(MARK, STREAM, 0, 99)
    behaviour = path(
        0,
        1,
        rewrites=[
            {"at": 0, "write": "0200000000aa0200000000bb"},
            {"at": 22, "write": "3f11", "fixes": [24]},
            {"at": 26, "write": "cb007109", "fixes": [24, 40]},
        ],
    )
    (_, out), _ = forward(tmp_path, [bytes(headers("198.18.0.1", 64) / end)], behaviour)
    expected = headers("203.0.113.9", 63) / end
    expected.dst, expected.src = "02:00:00:00:00:aa", "02:00:00:00:00:bb"
    assert out == [bytes(expected)]


def test_tags_taken_off_and_put_on(tmp_path: Path) -> None:
    end = signature(MARK, STREAM, 0, 99)
    tagged, bare = (bytes(headers("198.18.0.1", 64, *tags) / end) for tags in ((0x123, 0x456), ()))
    off = path(0, 1, rewrites=[{"at": 12, "remove": 8}], padding=0xA5)
    (_, out), _ = forward(tmp_path, [tagged, tagged[:20] + tagged[28:]], off)
    # The second frame is left with 52 bytes, and filled up to what Ethernet wants.
    assert out == [bare, (tagged[:12] + tagged[28:]).ljust(60, b"\xa5")]

    on = path(0, 1, rewrites=[{"at": 12, "insert": tagged[12:20].hex()}])
    (_, out), _ = forward(tmp_path, [bare], on)
    assert out == [tagged]


def test_a_tunnels_both_ends(tmp_path: Path) -> None:
    inner = signed_frame(MARK, STREAM, 0)
    outer = bytes(
        Ether(dst=TO, src=FROM)
        / IP(src="192.0.2.1", dst="192.0.2.2")
        / UDP(dport=4789)
        / VXLAN(vni=9)
        / inner
    )
    assert len(outer) == 50 + len(inner)
    into = path(0, 1, rewrites=[{"at": 0, "insert": outer[:50].hex()}])
    (_, out), _ = forward(tmp_path, [inner], into)
    assert out == [outer]
    out_of = path(0, 1, rewrites=[{"at": 0, "remove": 50}])
    (_, out), _ = forward(tmp_path, [outer], out_of)
    assert out == [inner]


def test_a_fixed_hold_is_never_undercut(tmp_path: Path) -> None:
    hold = [MILLISECOND_NS, MILLISECOND_NS]
    frames = numbered(200)
    (_, out), report = forward(tmp_path, frames, path(0, 1, hold_ns=hold))
    assert_emitted(out, frames, report)
    # Rounded to ticks and back, of which each may have lost a nanosecond.
    assert min(frame.hold_ns for frame in report.sent) >= MILLISECOND_NS - 1


def test_random_holds_reorder_unless_order_is_kept(tmp_path: Path) -> None:
    hold = [0, 20 * MILLISECOND_NS]
    frames = numbered(300)
    orders = {}
    for keep, seed in ((True, 1), (False, 1), (False, 2)):
        behaviour = path(0, 1, hold_ns=hold, keep_order=keep)
        (_, out), report = forward(tmp_path, frames, behaviour, seed)
        order = orders[keep, seed] = sequences(report)
        assert_emitted(out, [frames[number] for number in order], report)
        assert sorted(order) == list(range(300))
    assert orders[True, 1] == list(range(300))
    assert orders[False, 1] != orders[True, 1]
    assert orders[False, 1] != orders[False, 2]


@pytest.mark.parametrize(
    ("request_line", "words"),
    [
        ({"dance": 1}, "behave or to report"),
        ({"behave": {"paths": [{"from": 0, "to": 9}]}}, "not opened"),
        ({"behave": {"paths": [path(0, 0, hold_ns=[2, 1])]}}, "the least, then the most"),
        ({"behave": {"paths": [path(0, 0, wrongs=[{"do": "sing", "every": 1}])]}}, "no such"),
        ({"behave": {"paths": [path(0, 0, wrongs=[{"do": "drop"}])]}}, "`every` or `frames`"),
        ({"behave": {"paths": [path(0, 0, speed=1)]}}, "speed"),
        ({"behave": {"paths": [path(0, 0, rewrites=[{"at": 1, "write": "00"}])]}}, "16-bit"),
        ({"behave": {"paths": [path(0, 0, rewrites=[{"at": 1, "insert": "zz"}])]}}, "hexadecimal"),
    ],
)
def test_what_it_cannot_do_it_refuses(
    tmp_path: Path, request_line: dict[str, Any], words: str
) -> None:
    with DelayDut(tmp_path, "net_null0,no-rx=1") as dut:
        assert words in dut.ask(request_line)["error"]
        dut.finish()
