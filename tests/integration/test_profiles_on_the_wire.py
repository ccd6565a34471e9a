"""Profiles from YAML to bytes: compiled, sent by the engine into a pcap file, taken apart."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from scapy.utils import RawPcapReader

from plimsoll.generator.engine.engine import Engine
from plimsoll.generator.engine.settings import EngineSettings
from plimsoll.generator.interface import TrialPlan
from plimsoll.host.ledger.hugepages import MemoryPlan
from plimsoll.text.document import read_document
from plimsoll.traffic.streams.compile import compile_profile
from plimsoll.traffic.streams.profile import Profile
from tests.integration.engine.captures import read_signature
from tests.unit.traffic.frame_reader import Parsed, parse

EXAMPLES = Path(__file__).parents[2] / "examples"
LOAD_PPS = 20_000.0

KINDS = """
streams:
  - {name: qinq, role: load, frame_size: 128, vlan: [300, 7], flows: 50}
  - {name: mpls, role: load, frame_size: 128, mpls: [16, 17], flows: 50}
  - {name: tcp, role: load, protocol: TCP, frame_size: 76, flows: 50, vary: [src_port]}
  - {name: icmp, role: load, protocol: ICMP, frame_size: 64}
  - {name: garp, role: load, protocol: GARP, frame_size: 64}
  - {name: gtpu, role: load, frame_size: 256, gtpu: {teid: 9}, flows: 50, vary: [teid, src_ip]}
  - {name: six, role: load, frame_size: 84, src_ip: "2001:2::1", dst_ip: "2001:2:0:1::1", flows: 9}
  - {name: random, role: load, flows: 1000000, vary: [{field: IP.src, values: random, seed: 3}]}
"""


@pytest.fixture
def written(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "kinds.yaml"
    path.write_text(KINDS)
    return path


def sent(profile: Profile, folder: Path) -> dict[str, list[bytes]]:
    """Every frame that left the port in a short trial, by stream, in the order of sending."""
    capture = folder / "sent.pcap"
    plans = compile_profile(profile, LOAD_PPS, ((0, 0),))
    largest = max(plan.largest_frame_size for plan in plans)
    with closing(Engine.start(folder / "log", {"RUNTIME_DIRECTORY": str(folder)})) as engine:
        engine.open(
            workers=EngineSettings().layout(1),
            stamps="tsc",
            memory=MemoryPlan(huge=False, megabytes=256),
            devargs=[f"net_pcap0,tx_pcap={capture}"],
            descriptors=1024,
            main_cpus=[0],
            max_frame_bytes=largest - 4,
        )
        plan = TrialPlan(mark=7, streams=plans, duration_s=0.1, drain_s=0, catch_up_us=1e6)
        engine.trial(plan, lambda _: False)
    names = {plan.stream: plan.name for plan in plans}
    frames: dict[str, list[bytes]] = {name: [] for name in names.values()}
    for frame, _ in RawPcapReader(str(capture)):
        frames[names[read_signature(frame).stream]].append(frame)
    return frames


def taken_apart(frames: list[bytes]) -> list[Parsed]:
    parsed = [parse(frame) for frame in frames]
    assert parsed
    assert all(all(each.valid) for each in parsed), "a checksum does not hold"
    return parsed


@pytest.mark.parametrize("name", ["imix-vlan-profile", "vxlan-profile", "article-profile"])
def test_the_examples_hold_on_the_wire(name: str, tmp_path: Path) -> None:
    profile = read_document(EXAMPLES / f"{name}.yaml").validate(Profile)
    for frames in sent(profile, tmp_path).values():
        taken_apart(frames)


def test_each_kind_of_frame_holds_on_the_wire(written: Path, tmp_path: Path) -> None:
    frames = sent(read_document(written).validate(Profile), tmp_path)
    qinq = taken_apart(frames["qinq/0-0"])[0]
    assert qinq.tags == [(300, 0), (7, 0)]
    assert qinq.ethertypes[:2] == [0x88A8, 0x8100]
    assert taken_apart(frames["mpls/0-0"])[0].labels == [16, 17]
    assert [each.ports[0][0] for each in taken_apart(frames["tcp/0-0"])[:3]] == [4096, 4097, 4098]
    assert taken_apart(frames["icmp/0-0"])[0].protocols == [1]
    assert taken_apart(frames["garp/0-0"])[0].arp is not None
    assert [each.tunnels for each in taken_apart(frames["gtpu/0-0"])[:3]] == [[9], [10], [11]]
    assert taken_apart(frames["six/0-0"])[0].ips == [("2001:2::1", "2001:2:0:1::1")]
    sources = {each.ips[0][0] for each in taken_apart(frames["random/0-0"])}
    # 250 draws of a million: a repetition or two may be among them, not more.
    assert len(sources) >= len(frames["random/0-0"]) - 3


def test_sizes_of_a_mix_are_in_proportion(tmp_path: Path) -> None:
    profile = read_document(EXAMPLES / "imix-vlan-profile.yaml").validate(Profile)
    sizes = [len(frame) + 4 for frame in sent(profile, tmp_path)["mix/0-0"]]
    whole = sizes[: len(sizes) // 12 * 12]
    assert whole.count(68) == 7 * len(whole) // 12
    assert whole.count(594) == 4 * len(whole) // 12
    assert whole.count(1518) == len(whole) // 12
