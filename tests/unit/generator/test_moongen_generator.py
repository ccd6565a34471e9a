"""MoonGen as a generator: what its loops are set to, and what they do not send."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from plimsoll.errors import InputError
from plimsoll.generator.moongen.port_settings import (
    check_streams,
    port_settings,
    probe_settings,
)
from plimsoll.generator.moongen.settings import (
    BINARY,
    MoonGenSettings,
    dpdk_configuration,
    dpdk_port,
)
from plimsoll.traffic.plan import StreamPlan
from plimsoll.traffic.streams.compile import compile_profile
from plimsoll.traffic.streams.profile import Profile
from tests.worded.says import Says

LOAD = {"name": "load", "role": "load", "flows": 64}
PROBE = {
    "name": "probe",
    "role": "latency",
    "rate": "100pps",
    "protocol": "PTP",
    "pacing": {"one-in-flight": {"timeout": "20ms"}},
}


def streams(*given: dict[str, object]) -> tuple[StreamPlan, ...]:
    profile = Profile.model_validate({"streams": list(given)})
    return compile_profile(profile, 1000.0, ((0, 1), (1, 0)))


def settings(folder: Path, *cpus: int) -> MoonGenSettings:
    program = folder / BINARY
    program.parent.mkdir(exist_ok=True)
    program.write_text("")
    program.chmod(0o700)
    return MoonGenSettings(tree=folder, cpus=cpus or (0,))


@pytest.mark.parametrize(
    "stream",
    [
        LOAD,
        {**LOAD, "vary": ["src_port", "dst_ip"]},
        {**LOAD, "flows": 1, "dst_ip": "2001:2::1", "frame_size": 128},
        {**LOAD, "flows": 1, "protocol": "TCP", "frame_size": 128, "vlan": 7},
    ],
)
def test_what_it_sends_is_accepted(tmp_path: Path, stream: dict[str, object]) -> None:
    assert settings(tmp_path).streams_sent(streams(stream), 2) == streams(stream)


@pytest.mark.parametrize(
    ("sent", "facts"),
    [
        (streams(LOAD, {**PROBE, "protocol": "UDP"}), ()),
        (streams(LOAD, {**PROBE, "pacing": "constant"}), ()),
        (streams({**LOAD, "protocol": "PTP", "flows": 1}, PROBE), ()),
        (streams(PROBE, {**PROBE, "name": "more"}), ()),
        (streams({**LOAD, "imix": "simple"}), ()),
        (streams({**LOAD, "frame_size": 9000}), ("9000",)),
        (streams({**LOAD, "protocol": "TCP", "frame_size": 128}), ("IPv4",)),
        (streams({**LOAD, "vary": ["dst_mac"]}), ("4",)),
        (streams(LOAD, {**LOAD, "name": "more"}), ()),
        ((replace(streams(LOAD)[0], frame_count=5),), ()),
    ],
)
def test_what_it_does_not_send_is_refused(
    sent: tuple[StreamPlan, ...], facts: tuple[str, ...], says: Says
) -> None:
    with pytest.raises(InputError) as caught:
        check_streams(sent)
    assert caught.value == says(*facts)


def test_random_values_are_refused(says: Says) -> None:
    (load, *_) = streams(LOAD)
    changed = replace(load, fields=(replace(load.fields[0], kind="random"),))
    with pytest.raises(InputError) as caught:
        check_streams((changed,))
    assert caught.value == says("load/0-1", "30", "MoonGen")


def test_a_port_is_set_to_a_frame_and_its_fields() -> None:
    (load, _) = streams(LOAD)
    frame, varied = port_settings(load, 16)
    what, port, written, ipv4, burst, gap_ns = frame
    assert (what, port, ipv4, burst) == ("frame", 0, 14, 16)
    # 16 frames of 1000 a second are 16 ms apart.
    assert gap_ns == "16000000.000000"
    # A UDP checksum that the fields would change is none.
    sent = bytes.fromhex(str(written))
    assert (sent[:40], sent[40:42], sent[42:]) == (
        load.frames[0][:40],
        b"\0\0",
        load.frames[0][42:],
    )
    # 198.19.0.1 and 63 more, written to 4 bytes.
    assert varied == ("field", 0, 30, 4, 0xC6130001, 64, 1)


def test_frames_that_do_not_change_are_the_profiles_own() -> None:
    (load, _) = streams({**LOAD, "flows": 1})
    ((_, _, written, ipv4, _, gap_ns),) = port_settings(load, 1)
    assert (bytes.fromhex(str(written)), ipv4, gap_ns) == (load.frames[0], 0, "1000000.000000")


def test_probes_are_set_to_their_ports_and_file() -> None:
    (probe, _) = streams(PROBE)
    frame = probe.frames[0].hex()
    expected = ("probe", 3, 0, 1, frame, "10000000.000000", 20, "/run/it.csv")
    assert probe_settings(3, probe, Path("/run/it.csv")) == expected
    # None waits for a rate that there is not.
    (soon, _) = streams({**PROBE, "rate": None})
    assert probe_settings(0, soon, Path("/run/it.csv"))[5] == "0.000000"


def configuration(*devargs: str) -> str:
    ports = [dpdk_port(place, each) for place, each in enumerate(devargs)]
    return dpdk_configuration(ports, (2, 3, 4), "run-6a662e")


def test_dpdk_is_given_interfaces_as_words_of_lua() -> None:
    text = configuration("net_af_packet7,iface=a,framecnt=8", "net_af_xdp1,iface=b")
    assert text.startswith("DPDKConfig {cores = {2, 3, 4}, sharedCores = 3, cli = {")
    assert '"--vdev", "net_af_packet0,iface=a", "--vdev", "net_af_packet1,iface=b"' in text
    assert all(word in text for word in ('"--no-pci"', '"--no-huge"', '"run-6a662e"'))
    with pytest.raises(ValueError, match="quotes"):
        configuration('net_af_packet0,iface="..os.exit().."')


def test_dpdk_is_given_cards_and_hugepages() -> None:
    text = configuration("87:00.1", "0000:87:00.0")
    assert '"-w", "0000:87:00.1", "-w", "0000:87:00.0"' in text
    assert '"--huge-unlink"' in text
    assert "--no-huge" not in text
    assert "--no-pci" not in text


def test_other_ports_are_refused(says: Says) -> None:
    with pytest.raises(InputError) as caught:
        configuration("net_memif0,socket=/run/m")
    assert caught.value == says("net_memif0,socket=/run/m")


def test_cpus_have_ports(tmp_path: Path, says: Says) -> None:
    sent = streams(LOAD)
    (one,) = settings(tmp_path, 3).cpu_work(sent, 2)
    assert (one.cpu, one.sends, one.receives_from) == (3, ("load/0-1", "load/1-0"), (0, 1))
    main, first, second = settings(tmp_path, 3, 4, 5).cpu_work(sent, 2)
    assert (main.sends, first.sends, second.receives_from) == ((), ("load/0-1",), (1,))
    for cpus in ((3, 4), (5, 4, 3), (3, 4, 5, 6, 7)):
        with pytest.raises(InputError) as caught:
            settings(tmp_path, *cpus).check_ports(2)
        assert caught.value == says("2")


def test_probes_have_a_cpu_of_their_own(tmp_path: Path, says: Says) -> None:
    sent = streams(LOAD, PROBE)
    main, first, _, probes = settings(tmp_path, 3, 4, 5, 6).cpu_work(sent, 2)
    assert (main.sends, first.sends) == ((), ("load/0-1",))
    assert (probes.cpu, probes.sends) == (6, ("probe/0-1", "probe/1-0"))
    assert probes.receives_from == (0, 1)
    with pytest.raises(InputError) as caught:
        settings(tmp_path, 3, 4, 5).streams_sent(sent, 2)
    assert caught.value == says("MoonGen", "4", "1")
    for cpus in ((3,), (3, 4, 5, 6)):
        assert settings(tmp_path, *cpus).streams_sent(sent, 2) == sent


def test_a_tree_without_a_program_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no build/MoonGen in"):
        MoonGenSettings(tree=tmp_path).check_ports(2)
