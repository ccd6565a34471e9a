"""Frames of one size or a mix in place of a profile's own."""

import pytest

from plimsoll.errors import InputError
from plimsoll.methods.rfc2544.settings import RECOMMENDED_SIZES, FrameSpec, described_traffic
from plimsoll.traffic.streams.profile import Profile
from tests.worded.says import Says


def profile(*streams: dict[str, object]) -> Profile:
    return Profile.model_validate({"streams": streams})


LOAD: dict[str, object] = {"name": "load", "role": "load", "flows": 1024}
PROBE: dict[str, object] = {"name": "probe", "role": "latency", "rate": "1kpps"}


def test_the_sizes_are_those_of_section_9_1() -> None:
    assert RECOMMENDED_SIZES == (64, 128, 256, 512, 1024, 1280, 1518)


def test_load_streams_get_the_size_and_probes_are_left_out() -> None:
    (stream,) = FrameSpec(512).of(profile(LOAD, PROBE)).streams
    assert (stream.name, stream.sizes, stream.flows) == ("load", (512,), 1024)


def test_a_mix_takes_the_place_of_the_size() -> None:
    (stream,) = FrameSpec(imix="simple").of(profile(LOAD)).streams
    assert sorted(set(stream.sizes)) == [64, 594, 1518]
    assert (FrameSpec(imix="simple").label, FrameSpec(64).label) == ("imix simple", "64")


def test_a_size_that_does_not_hold_the_headers_is_named(says: Says) -> None:
    wrapped = LOAD | {"frame_size": 256, "vxlan": {"vni": 1}}
    with pytest.raises(InputError) as error:
        FrameSpec(64).of(profile(wrapped))
    assert error.value == says("64")
    assert error.value.where == "profile.streams"
    assert error.value.remedy


def test_an_unknown_mix_is_named(says: Says) -> None:
    with pytest.raises(InputError) as error:
        FrameSpec(imix="simpel").of(profile(LOAD))
    assert error.value == says("simpel")
    assert "simple" in error.value.remedy


def test_protocol_and_flows_are_reported(says: Says) -> None:
    assert described_traffic(profile(LOAD, PROBE)) == says("IPv4", "1,024")
