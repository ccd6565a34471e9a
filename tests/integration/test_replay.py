"""Captures replayed with their own gaps: what the engine sends of them, and when it is due.

When frames leave depends on the machine; which are due by the end of a trial does not, as what
is late is sent nevertheless. So schedules are read off trials that end between two frames.
"""

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from itertools import accumulate, pairwise
from pathlib import Path

import pytest
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether
from scapy.packet import Raw
from scapy.utils import PcapNgReader, PcapReader, RawPcapReader, wrpcap, wrpcapng

from plimsoll.generator.engine.engine import Engine
from plimsoll.generator.engine.settings import EngineSettings
from plimsoll.generator.interface import TrialPlan, TrialReport
from plimsoll.host.ledger.hugepages import MemoryPlan
from plimsoll.traffic.imported.trafficgen import load_profile
from plimsoll.traffic.plan import StreamPlan
from plimsoll.traffic.streams.compile import compile_profile
from tests.integration.engine.captures import read_signature
from tests.integration.engine.session import LONGEST_CATCH_UP_NS
from tests.tried_again import SpoiltByMachine

# In µs, two of them at one time: a round of 10 ms, whose last gap is the mean of the others.
TIMES_US = (0, 700, 700, 1_900, 5_200, 8_000)
CONTENTS = [b"frame %d of the capture" % number for number in range(len(TIMES_US))]
# So slow that a round takes 384 ms.
SLOWER = 40.0


@pytest.fixture(params=["pcap", "pcap in ns", "pcapng"])
def capture(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Written by Scapy."""
    packets = []
    for content, time_us in zip(CONTENTS, TIMES_US, strict=True):
        packets.append(Ether() / IP() / UDP() / Raw(content.ljust(60, b".")))
        packets[-1].time = 1_700_000_000 + time_us / 1e6
    path = tmp_path / "lan.pcap"
    if request.param == "pcapng":
        wrpcapng(str(path), packets)
    else:
        wrpcap(str(path), packets, nano=request.param == "pcap in ns")
    return path


def own_gaps_s(capture: Path) -> list[float]:
    """As Scapy reads them, and the mean one behind the last frame."""
    reader = PcapNgReader if capture.read_bytes()[:4] == b"\x0a\x0d\x0d\x0a" else PcapReader
    times = [float(packet.time) - 1_700_000_000 for packet in reader(str(capture))]
    gaps = [later - earlier for earlier, later in pairwise(times)]
    return [*gaps, sum(gaps) / len(gaps)]


def plans(capture: Path, *, slower: float = SLOWER, fields: str = "") -> tuple[StreamPlan, ...]:
    path = capture.with_name("profile.yaml")
    path.write_text(
        f"streams:\n- {{name: lan, role: load, pcap: lan.pcap, pacing: captured{fields}}}\n"
    )
    profile = load_profile(path)
    assert profile.rate_pps is not None
    return compile_profile(profile, profile.rate_pps / slower, ((0, 0),))


@contextmanager
def engine(folder: Path, devargs: str) -> Iterator[Engine]:
    with closing(Engine.start(folder / "log", {"RUNTIME_DIRECTORY": str(folder)})) as started:
        started.open(
            workers=EngineSettings().layout(1),
            stamps="tsc",
            memory=MemoryPlan(huge=False, megabytes=256),
            devargs=[devargs],
            descriptors=1024,
            main_cpus=[0],
            max_frame_bytes=1514,
        )
        yield started


def trial(running: Engine, streams: tuple[StreamPlan, ...], seconds: float) -> TrialReport:
    """A trial in which no frame is too late. Raises SpoiltByMachine where that could not be."""
    plan = TrialPlan(mark=7, streams=streams, duration_s=seconds, drain_s=0, catch_up_us=1e6)
    report = running.trial(plan, lambda _: False)
    (counts,) = report.streams
    away_ns = max(worker.worst_stall_ns for worker in report.workers)
    if counts.skipped and away_ns > LONGEST_CATCH_UP_NS:
        raise SpoiltByMachine(f"the polling loop was away for {away_ns} ns")
    assert counts.skipped == counts.refused == counts.no_buffer == 0
    return report


def test_frames_are_due_at_the_capture_s_gaps(capture: Path, tmp_path: Path) -> None:
    """In the first round and in the third, between any two frames that have a gap."""
    gaps_s = [SLOWER * gap_s for gap_s in own_gaps_s(capture)]
    due_s = list(accumulate(gaps_s, initial=0.0))
    expected, seen = dict[float, int](), dict[float, int]()
    with engine(tmp_path, "net_null0,no-rx=1") as running:
        for place, gap_s in enumerate(gaps_s):
            if gap_s == 0:
                continue
            for rounds in (0, 2):
                end_s = rounds * due_s[-1] + due_s[place] + gap_s / 2
                expected[end_s] = rounds * len(gaps_s) + place + 1
                seen[end_s] = trial(running, plans(capture), end_s).streams[0].sent
    assert len(expected) == 10
    assert seen == expected


def frames_sent(path: Path) -> Sequence[bytes]:
    return [frame for frame, _ in RawPcapReader(str(path))]


def content_number(frame: bytes) -> int:
    return CONTENTS.index(frame[42 : 42 + len(CONTENTS[0])])


def test_each_frame_goes_out_at_its_place_and_not_before_its_time(
    capture: Path, tmp_path: Path
) -> None:
    """Over and over, and those of one time at once, as the stamps they carry have it."""
    with engine(tmp_path, f"net_pcap0,tx_pcap={tmp_path / 'sent.pcap'}") as running:
        report = trial(running, plans(capture, slower=5.0), 1.0)
        ticks_a_second = running.facts.tsc_hz
    assert ticks_a_second is not None
    frames = frames_sent(tmp_path / "sent.pcap")
    numbers = range(len(frames))
    assert len(frames) == report.streams[0].sent > 100
    assert [content_number(frame) for frame in frames] == [number % 6 for number in numbers]
    stamps = [read_signature(frame).time for frame in frames]
    gaps_s = [5.0 * gap_s for gap_s in own_gaps_s(capture)]
    due_s = [number // 6 * sum(gaps_s) + sum(gaps_s[: number % 6]) for number in numbers]
    # The clock is read just before the start is set; stamps are the last 48 bits of theirs.
    elapsed_s = [(stamp - report.clock[0].tsc) % 2**48 / ticks_a_second for stamp in stamps]
    assert all(at_s > least_s for at_s, least_s in zip(elapsed_s, due_s, strict=True))
    assert stamps[1::6][: len(stamps[2::6])] == stamps[2::6]


def test_a_schedule_begins_the_capture_anew(capture: Path, tmp_path: Path) -> None:
    """Each repetition ends within a round, and the next one begins with the first frame."""
    schedule = ", schedule: {duration: 25ms, repeat: true, pause: 15ms}"
    with engine(tmp_path, f"net_pcap0,tx_pcap={tmp_path / 'sent.pcap'}") as running:
        trial(running, plans(capture, slower=1.0, fields=schedule), 0.2)
    numbers = [content_number(frame) for frame in frames_sent(tmp_path / "sent.pcap")]
    # Rounds of 9.6 ms: two, and what is due in the first 5.8 ms of the third.
    assert numbers == [0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4] * 5
