"""Streams that replay a capture with its own gaps: what is sent of them, and when."""

from dataclasses import replace
from pathlib import Path

import pytest
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether
from scapy.utils import wrpcap

from plimsoll.errors import InputError
from plimsoll.text.units import parse_rate
from plimsoll.traffic.imported.trafficgen import load_profile
from plimsoll.traffic.streams.compile import compile_profile
from plimsoll.traffic.streams.profile import Profile
from tests.worded.says import Says

PATHS = ((0, 1), (1, 0))
# Four gaps of 2 ms in the mean: 500 pps.
TIMES_MS = (0, 1, 1, 6, 8)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    packets = []
    for number, time_ms in enumerate(TIMES_MS):
        packets.append(Ether() / IP() / UDP(sport=number) / bytes(30))
        packets[-1].time = 1000 + time_ms / 1000
    wrpcap(str(tmp_path / "lan.pcap"), packets)
    return tmp_path


def _profile(folder: Path, *streams: str) -> Profile:
    path = folder / "profile.yaml"
    path.write_text("streams:\n" + "".join(f"- {each}\n" for each in streams))
    return load_profile(path)


REPLAY = "{name: web, role: load, pcap: lan.pcap, pacing: captured}"


def test_the_load_is_the_mean_rate_in_both_directions(folder: Path) -> None:
    profile = _profile(folder, REPLAY)
    plans = compile_profile(profile, 1000.0, PATHS)
    assert [plan.rate_pps for plan in plans] == [1000, 1000]
    for plan in plans:
        assert plan.pacing.kind == "captured"
        assert plan.pacing.gaps is not None
        assert plan.pacing.gaps.gaps_ns == (10**6, 0, 5 * 10**6, 2 * 10**6, 2 * 10**6)
        assert len(plan.frames) == 5
    assert Profile.model_validate(profile.model_dump(mode="json")) == profile


def test_the_profile_s_own_rate_is_the_capture_s(folder: Path) -> None:
    profile = _profile(folder, REPLAY)
    assert profile.rate_pps == 500
    assert profile.pps_of(parse_rate("1x"), None) == 500
    assert profile.pps_of(parse_rate("4x"), None) == 2000


def test_captures_share_the_load_by_their_own_rates(folder: Path) -> None:
    """So all of them are scaled alike, and are against each other as they were captured."""
    few = "{name: few, role: load, pcap: {file: lan.pcap, first: 3, count: 2}, pacing: captured}"
    plans = compile_profile(_profile(folder, REPLAY, few), 1400.0, ((0, 1),))
    # 500 pps and one gap of 5 ms, 200 pps: twice as fast as captured.
    assert [plan.rate_pps for plan in plans] == [1000, 400]


def test_a_weight_or_a_rate_takes_its_place(folder: Path) -> None:
    weighed = REPLAY.replace("}", ", rate: 3x}")
    even = "{name: even, role: load, rate: 1x}"
    plans = compile_profile(_profile(folder, weighed, even), 4000.0, ((0, 1),))
    assert [plan.rate_pps for plan in plans] == [3000, 1000]
    assert _profile(folder, REPLAY.replace("}", ", rate: 2kpps}")).rate_pps == 2000


def test_the_own_rate_and_a_weight_do_not_add_up(folder: Path, says: Says) -> None:
    with pytest.raises(InputError) as caught:
        _profile(folder, REPLAY, "{name: even, role: load}")
    assert caught.value == says()


def test_a_probe_without_rate_has_the_capture_s_whatever_the_load(folder: Path) -> None:
    probe = REPLAY.replace("role: load", "role: latency").replace("web", "probe")
    taken = probe.replace("}", ", taken_from: even}")
    even = "{name: even, role: load, rate: 1x}"
    loads = compile_profile(_profile(folder, even, taken), 4000.0, ((0, 1),))
    assert [plan.rate_pps for plan in loads] == [3500, 500]
    assert loads[1].taken_from == "even/0-1"


def test_the_run_says_what_the_own_speed_is(folder: Path, says: Says) -> None:
    assert _profile(folder, REPLAY).notes()[1] == says("captured", "500", "10ms")
    assert len(_profile(folder, REPLAY.replace("captured", "poisson")).notes()) == 1


def test_a_capture_keeps_the_gaps_alone(folder: Path, says: Says) -> None:
    with pytest.raises(InputError) as caught:
        _profile(folder, "{name: web, role: load, pacing: captured}")
    assert caught.value == says("profile.yaml:2", "streams[0].pacing")


def test_gaps_that_are_not_there_are_reported_with_file_and_line(folder: Path, says: Says) -> None:
    one = REPLAY.replace("lan.pcap", "{file: lan.pcap, first: 2, count: 2}")
    with pytest.raises(InputError) as caught:
        _profile(folder, one)
    message = str(caught.value)
    place = f"{folder}/profile.yaml:2: streams[0].pacing: {folder}/lan.pcap"
    assert message == says(str(place), "2", "3")
    assert _profile(folder, one.replace("captured", "constant"))


def test_such_a_stream_is_not_steady(folder: Path) -> None:
    (plan,) = compile_profile(_profile(folder, REPLAY), 1000.0, ((0, 1),))
    assert not plan.steady
    assert replace(plan, pacing=replace(plan.pacing, kind="constant", gaps=None)).steady
