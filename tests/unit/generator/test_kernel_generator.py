"""The kernel as a generator: frames one by one, what trafgen is given, and what it cannot send."""

from __future__ import annotations

from dataclasses import replace

import pytest
from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.l2 import Ether

from plimsoll.errors import InputError
from plimsoll.generator.generator_plan import Launch
from plimsoll.generator.kernel.settings import TrafgenSettings
from plimsoll.generator.kernel.written_frames import written_frames
from plimsoll.generator.port_streams import interface_of
from plimsoll.host.ledger.ledger import Ledger
from plimsoll.traffic.plan import FieldWriter, Schedule, StreamPlan
from plimsoll.traffic.streams.compile import compile_profile
from plimsoll.traffic.streams.profile import Profile
from tests.worded.says import Says


def streams(**changes: object) -> tuple[StreamPlan, ...]:
    stream = {"name": "load", "role": "load", **changes}
    profile = Profile.model_validate({"streams": [stream]})
    return compile_profile(profile, 1000.0, ((0, 1), (1, 0)))


def rebuilt(frame: bytes) -> bytes:
    """The frame with every checksum as Scapy reckons it."""
    packet = Ether(frame)
    for layer in (IP, UDP, TCP):
        if layer in packet:
            del packet[layer].chksum
    return bytes(packet)


@pytest.mark.parametrize(
    "changes",
    [
        {"flows": 300},
        {"flows": 16, "vary": ["src_ip", "dst_ip", "src_port"]},
        {"flows": 8, "protocol": "TCP", "frame_size": 128, "vlan": 7, "vary": ["dst_port"]},
        {"flows": 4, "vary": ["src_mac", "dst_ip"]},
    ],
)
def test_frames_differ_by_flow_and_their_checksums_are_right(changes: dict[str, object]) -> None:
    frames = list(written_frames(streams(**changes)[0]))
    assert len(set(frames)) == len(frames) == changes["flows"]
    assert [frame.hex() for frame in frames] == [rebuilt(frame).hex() for frame in frames]


def test_fields_are_written_as_the_engine_writes_them() -> None:
    plan = replace(
        streams()[0],
        fields=(
            FieldWriter(36, 2, 3, kind="list", values=(7, 9, 8), first=1),
            FieldWriter(34, 2, 2, step=-5, every=3),
            FieldWriter(0, 1, 2, mask=0x02),
        ),
    )
    frames = list(written_frames(plan))
    assert [int.from_bytes(each[36:38], "big") for each in frames] == [9, 8, 7, 9, 8, 7]
    assert [int.from_bytes(each[34:36], "big") for each in frames] == [4096] * 3 + [4091] * 3
    assert [each[0] for each in frames] == [0x02, 0x00] * 3


@pytest.mark.parametrize(
    "field",
    [
        FieldWriter(30, 4, 4097),
        FieldWriter(30, 4, 16, kind="random", seed=1),
        FieldWriter(30, 4, 16, churn=1.0, cycle=32),
    ],
)
def test_more_frames_than_a_list_has_are_refused(field: FieldWriter, says: Says) -> None:
    with pytest.raises(InputError) as caught:
        list(written_frames(replace(streams()[0], fields=(field,))))
    assert caught.value == says("4096", "random")


@pytest.mark.parametrize(
    ("sent", "facts"),
    [
        (streams(imix="simple"), ()),
        ((*streams(), replace(streams()[0], stream=9, name="more/0-1")), ()),
        ((replace(streams()[0], schedule=Schedule(1.0)),), ()),
        ((replace(streams()[0], frame_count=5),), ()),
    ],
)
def test_what_trafgen_does_not_send_is_refused(
    sent: tuple[StreamPlan, ...], facts: tuple[str, ...], says: Says
) -> None:
    with pytest.raises(InputError) as caught:
        TrafgenSettings().streams_sent(sent, 2)
    assert caught.value == says(*facts)


def test_interfaces_are_read_from_what_a_lab_opens(says: Says) -> None:
    assert interface_of("net_af_packet0,iface=pl12ab-0,framecnt=4096") == "pl12ab-0"
    assert interface_of("net_af_xdp1,start_queue=0,iface=eth1") == "eth1"
    with pytest.raises(InputError) as caught:
        interface_of("net_memif0,role=client")
    assert caught.value == says("net_memif0,role=client")


def test_one_cpu_has_every_so_manyth_port() -> None:
    sent = streams()
    first, second = TrafgenSettings(cpus=(3, 4)).cpu_work(sent, 2)
    assert (first.cpu, first.sends) == (3, ("load/0-1",))
    assert (second.cpu, second.sends) == (4, ("load/1-0",))


def test_ports_that_are_no_interfaces_are_refused(tmp_path: object, says: Says) -> None:
    ledger = Ledger.__new__(Ledger)
    launch = Launch(("net_ring0",), 512, 1514, 1.0, ledger)
    with pytest.raises(InputError) as caught:
        TrafgenSettings().start(launch)
    assert caught.value == says("net_ring0")
