"""Captures of received frames: files that Scapy reads, and whose frames are those received."""

import os
import resource
import stat
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from scapy.layers.l2 import Ether
from scapy.utils import RawPcapReader, wrpcap

from tests.integration.engine.captures import read_signature
from tests.integration.engine.frames import udp_frame
from tests.integration.engine.requests import CPUS, FRAME, open_request, stream, trial_request
from tests.integration.engine.session import EngineSession, Message

FOREIGN_FRAMES = 100
# Of 1514 bytes: 8 MiB hold some 5500 of them.
MORE_THAN_A_RING = 7000


def capture(path: Path, port: int = 0, **changes: Any) -> dict[str, Any]:
    return {"port": port, "path": str(path), "most_frames": 100_000, **changes}


def frames_of(path: Path) -> list[bytes]:
    return [frame for frame, _ in RawPcapReader(str(path))]


def captured(reply: Message, port: int = 0) -> Message:
    (found,) = [each for each in reply["captures"] if each["port"] == port]
    return found


def switch(engine: EngineSession, on: bool, number: int) -> Message:
    """Switch port 0's capture, and wait for the reply."""
    return engine.ask({"id": number, "request": "capture", "port": 0, "on": on})


def test_frames_that_came_are_in_the_file_as_they_were(
    engine: EngineSession, tmp_path: Path
) -> None:
    theirs, path = tmp_path / "theirs.pcap", tmp_path / "captured.pcap"
    sent = [udp_frame(60 + 13 * number) for number in range(FOREIGN_FRAMES)]
    wrpcap(str(theirs), [Ether(frame) for frame in sent])
    engine.ask(open_request(f"net_pcap0,rx_pcap={theirs},tx_pcap={tmp_path}/sent.pcap"))
    before = time.time()
    reply = engine.ask(trial_request(captures=[capture(path)]))
    after = time.time()
    assert reply["ports"][0]["foreign"] == FOREIGN_FRAMES
    assert captured(reply) == {
        "port": 0,
        "frames": FOREIGN_FRAMES,
        "left_out": 0,
        "error": None,
    }
    assert frames_of(path) == sent
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with RawPcapReader(str(path)) as reader:
        assert (reader.nano, reader.linktype, reader.snaplen) == (True, 1, 9342)
        times = [packet.sec + packet.usec / 1e9 for _, packet in reader]
    assert times == sorted(times)
    # By the machine's clock, which someone may set meanwhile.
    assert before - 60 <= times[0] <= times[-1] <= after + 60
    engine.finish()


def test_frames_are_cut_to_the_snap_length(engine: EngineSession, tmp_path: Path) -> None:
    theirs, path = tmp_path / "theirs.pcap", tmp_path / "captured.pcap"
    sent = [udp_frame(60 + 13 * number) for number in range(FOREIGN_FRAMES)]
    wrpcap(str(theirs), [Ether(frame) for frame in sent])
    engine.ask(open_request(f"net_pcap0,rx_pcap={theirs},tx_pcap={tmp_path}/sent.pcap"))
    engine.ask(trial_request(captures=[capture(path, snap_bytes=70)]))
    with RawPcapReader(str(path)) as reader:
        assert reader.snaplen == 70
        found = [(frame, packet.wirelen) for frame, packet in reader]
    assert found == [(frame[:70], len(frame)) for frame in sent]
    engine.finish()


def test_frames_of_the_trial_are_captured_in_order(loopback: EngineSession, tmp_path: Path) -> None:
    paths = [tmp_path / "zero.pcap", tmp_path / "one.pcap"]
    reply = loopback.ask(
        trial_request(
            stream(0, 5000),
            stream(1, 2000, tx_port=1, rx_port=1),
            mark=1001,
            captures=[capture(path, port) for port, path in enumerate(paths)],
        )
    )
    for number, path in enumerate(paths):
        signatures = [read_signature(frame) for frame in frames_of(path)]
        assert {(each.mark, each.stream) for each in signatures} == {(1001, number)}
        received = reply["streams"][number]["received"]
        assert [each.sequence for each in signatures] == list(range(received))
        assert captured(reply, number)["frames"] == received > 0


def test_a_file_takes_as_many_as_requested(loopback: EngineSession, tmp_path: Path) -> None:
    path = tmp_path / "captured.pcap"
    reply = loopback.ask(
        trial_request(stream(0, 5000), mark=1002, captures=[capture(path, most_frames=7)])
    )
    signatures = [read_signature(frame) for frame in frames_of(path)]
    assert [each.sequence for each in signatures] == list(range(7))
    counts = captured(reply)
    assert (counts["frames"], counts["error"]) == (7, None)
    assert counts["left_out"] == reply["streams"][0]["received"] - 7


def test_what_a_full_ring_leaves_out_is_counted(loopback: EngineSession, tmp_path: Path) -> None:
    """The main thread does not come by before all have been sent."""
    path = tmp_path / "captured.pcap"
    reply = loopback.ask(
        trial_request(
            stream(0, 50_000, frames=[udp_frame(1514).hex()], frame_count=MORE_THAN_A_RING),
            mark=1003,
            duration_s=2,
            interval_s=60,
            captures=[capture(path)],
        )
    )
    counts = captured(reply)
    found = [read_signature(frame).sequence for frame in frames_of(path)]
    assert reply["streams"][0]["received"] == MORE_THAN_A_RING
    assert found == list(range(counts["frames"]))
    assert 0 < counts["left_out"] == MORE_THAN_A_RING - counts["frames"]


def test_a_capture_is_switched_while_frames_come(loopback: EngineSession, tmp_path: Path) -> None:
    path = tmp_path / "captured.pcap"
    request = trial_request(
        stream(0, 2000),
        mark=1004,
        duration_s=60,
        interval_s=0.05,
        captures=[capture(path, on=False)],
    )
    loopback.send(request)
    loopback.next_interval()
    loopback.next_interval()
    assert frames_of(path) == []
    switch(loopback, True, 11)
    loopback.next_interval()
    loopback.next_interval()
    flushed = switch(loopback, True, 12)
    assert len(frames_of(path)) >= flushed["frames"] > 0
    off = switch(loopback, False, 13)
    assert (off["on"], off["left_out"], off["error"]) == (False, 0, None)
    first = frames_of(path)
    assert len(first) == off["frames"]
    loopback.next_interval()
    loopback.next_interval()
    assert switch(loopback, False, 14)["frames"] == off["frames"]
    assert frames_of(path) == first
    switch(loopback, True, 15)
    loopback.next_interval()
    loopback.next_interval()
    loopback.send({"id": 16, "request": "stop"})
    reply = loopback.reply_to(request["id"])
    found = frames_of(path)
    assert found[: len(first)] == first
    assert captured(reply)["frames"] == len(found) > len(first)
    numbers = [read_signature(frame).sequence for frame in found]
    # One gap, where it was off, and none but that.
    steps = [after - before for before, after in pairwise(numbers)]
    assert [step for step in steps if step != 1] == [steps[len(first) - 1]]
    assert steps[len(first) - 1] > 1


def test_a_capture_goes_on_with_another_file(loopback: EngineSession, tmp_path: Path) -> None:
    paths = [tmp_path / "first.pcap", tmp_path / "second.pcap"]
    request = trial_request(
        stream(0, 2000), mark=1007, duration_s=60, interval_s=0.05, captures=[capture(paths[0])]
    )
    loopback.send(request)
    loopback.next_interval()
    loopback.next_interval()
    change = {"id": 31, "request": "capture", "port": 0, "on": True, "path": str(paths[1])}
    loopback.ask(change)
    first = frames_of(paths[0])
    error = loopback.ask_in_vain({**change, "id": 32})
    assert (error["where"], error["message"]) == ("path", "cannot be made: File exists")
    loopback.next_interval()
    loopback.next_interval()
    loopback.send({"id": 33, "request": "stop"})
    reply = loopback.reply_to(request["id"])
    assert frames_of(paths[0]) == first
    second = frames_of(paths[1])
    assert captured(reply)["frames"] == len(second) > 0
    numbers = [read_signature(frame).sequence for frame in (*first, *second)]
    assert numbers == sorted(set(numbers))


def test_several_queues_are_one_capture(engine: EngineSession, tmp_path: Path) -> None:
    path = tmp_path / "captured.pcap"
    queues = [[0, 0], [0, 1]]
    engine.ask(
        open_request(
            "net_null0,size=60,copy=1",
            memory={"huge": False, "megabytes": 256},
            workers=[{"cpu": CPUS[0], "tx": queues, "rx": queues}],
        )
    )
    reply = engine.ask(trial_request(captures=[capture(path, most_frames=20, snap_bytes=20)]))
    counts = captured(reply)
    assert counts["frames"] == len(frames_of(path)) == 20
    # The port is never silent, and captured to the last poll, after the counters were read.
    assert counts["left_out"] + 20 >= reply["ports"][0]["foreign"] > 20
    engine.finish()


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("there", "File exists"),
        ("link", "File exists"),
        ("no/folder", "No such file or directory"),
    ],
)
def test_a_file_that_cannot_be_made_refuses_the_trial(
    loopback: EngineSession, tmp_path: Path, path: str, why: str
) -> None:
    (tmp_path / "there").write_text("kept")
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    request = trial_request(
        mark=1005, captures=[capture(tmp_path / "first", 1), capture(tmp_path / path)]
    )
    error = loopback.ask_in_vain(request)
    assert error == {
        "where": "captures[1].path",
        "message": f"cannot be made: {why}",
        "fatal": False,
    }
    assert sorted(os.listdir(tmp_path)) == ["link", "there"]
    assert (tmp_path / "there").read_text() == "kept"


def test_a_full_disk_leaves_the_trial_its_counts(engine: EngineSession, tmp_path: Path) -> None:
    path = tmp_path / "captured.pcap"
    resource.prlimit(engine.process.pid, resource.RLIMIT_FSIZE, (24 + 10 * 76, 24 + 10 * 76))
    engine.ask(open_request("net_ring0"))
    reply = engine.ask(trial_request(stream(0, 5000), captures=[capture(path)]))
    counts = captured(reply)
    assert reply["streams"][0]["missing"] == 0
    assert counts["error"] == "File too large"
    assert counts["frames"] == len(frames_of(path)) <= 10
    assert counts["frames"] + counts["left_out"] == reply["streams"][0]["received"]
    assert all(len(frame) == len(FRAME) for frame in frames_of(path))
    engine.finish()


def test_a_switch_is_refused_where_there_is_no_such_capture(loopback: EngineSession) -> None:
    off = {"id": 21, "request": "capture", "port": 0, "on": False}
    assert loopback.ask_in_vain(off)["message"] == "no trial is running"
    request = trial_request(mark=1006, duration_s=60)
    loopback.send(request)
    assert loopback.ask_in_vain({**off, "id": 22})["message"] == "port 0 is not captured"
    loopback.ask({"id": 23, "request": "stop"})
    loopback.reply_to(request["id"])
