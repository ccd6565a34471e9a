"""TRex's field engine run step by step, against what its own documents and captures show."""

from typing import Any

import pytest
from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.inet6 import ICMPv6EchoRequest, IPv6
from scapy.layers.l2 import Ether

from plimsoll.remote.trex.field_engine.instructions import FieldProgram
from plimsoll.remote.trex.field_engine.interpreter import Interpreter
from tests.unit.remote.trex.stl_json import UDP_64, flow_var, listed_var, vm, write, write_mask
from tests.worded.says import Says


def frames_of(
    count: int, *instructions: dict[str, Any], packet: bytes = bytes(UDP_64)
) -> list[bytes]:
    interpreter = Interpreter(FieldProgram.model_validate(vm(*instructions)), packet, seed=1)
    return [interpreter.next_frame() for _ in range(count)]


def at(frames: list[bytes], offset: int, width: int) -> list[int]:
    return [int.from_bytes(frame[offset : offset + width]) for frame in frames]


@pytest.mark.parametrize(
    ("variable", "expected"),
    [
        (flow_var("v", 2, "inc", 10, 13), [10, 11, 12, 13, 10, 11]),
        (flow_var("v", 2, "inc", 10, 13, init_value=12), [12, 13, 10, 11, 12, 13]),
        (flow_var("v", 2, "dec", 10, 13), [13, 12, 11, 10, 13, 12]),
        # 10 to 13 in steps of 3 is lengthened to 10 to 15, a whole number of steps.
        (flow_var("v", 2, "inc", 10, 13, step=3), [10, 13, 10, 13, 10, 13]),
        (flow_var("v", 2, "dec", 10, 13, step=3), [13, 10, 13, 10, 13, 10]),
        # As TRex's exp/dependent_field_engine_vars.pcap has it: down from the last.
        (listed_var("v", 2, "inc", [7, 5, 9]), [7, 5, 9, 7, 5, 9]),
        (listed_var("v", 2, "dec", [7, 5, 9]), [9, 5, 7, 9, 5, 7]),
        (listed_var("v", 2, "inc", [7, 5, 9], step=2), [7, 9, 5, 7, 9, 5]),
    ],
)
def test_variables_go_through_their_values(variable: dict[str, Any], expected: list[int]) -> None:
    assert at(frames_of(6, variable, write("v", 34)), 34, 2) == expected


def test_a_tuple_is_that_of_the_specification() -> None:
    # TRex's RPC specification, tuple_flow_var: 10.0.0.1 to .5, ports 1025 to 1028, 10 flows.
    variable = {
        "type": "tuple_flow_var", "name": "t", "ip_min": 0x0A000001, "ip_max": 0x0A000005,
        "port_min": 1025, "port_max": 1028, "limit_flows": 10, "flags": 0,
    }  # fmt: skip
    frames = frames_of(11, variable, write("t.ip", 26), write("t.port", 34))
    found = list(zip(at(frames, 26, 4), at(frames, 34, 2), strict=True))
    ips = [0x0A000001 + n for n in range(5)]
    assert found == [(ip, 1025) for ip in ips] + [(ip, 1026) for ip in ips] + [(ips[0], 1025)]


def test_a_masked_write_is_that_of_the_specification() -> None:
    # write_mask_flow_var: "a" from 1, cast to a byte, mask 0xf0, shifted by 4, over 0x03.
    packet = bytearray(bytes(UDP_64))
    packet[42] = 0x03
    frames = frames_of(
        5,
        flow_var("a", 2, "inc", 1, 10),
        write_mask("a", 42, 1, 0xF0, shift=4),
        packet=bytes(packet),
    )
    assert at(frames, 42, 1) == [0x13, 0x23, 0x33, 0x43, 0x53]


def test_repeated_random_values_begin_anew_after_their_limit() -> None:
    variable = {
        "type": "flow_var_rand_limit", "name": "v", "size": 2, "limit": 5, "seed": 0x1234,
        "min_value": 0, "max_value": 10, "next_var": None,
    }  # fmt: skip
    values = at(frames_of(15, variable, write("v", 34)), 34, 2)
    assert values[:5] == values[5:10] == values[10:]
    assert max(values) <= 10
    # The linear congruence of TRex's fastrand(): 214013 x + 2531011, bits 16 to 30, mod 11.
    seed = (214013 * 0x1234 + 2531011) % 2**32
    assert values[0] == (seed >> 16 & 0x7FFF) % 11


def test_a_next_variable_goes_on_when_the_first_wraps() -> None:
    first = flow_var("a", 1, "inc", 1, 3, next_var="b")
    second = flow_var("b", 1, "inc", 5, 6, split_to_cores=False)
    frames = frames_of(8, first, second, write("a", 42), write("b", 43))
    assert at(frames, 42, 1) == [1, 2, 3, 1, 2, 3, 1, 2]
    assert at(frames, 43, 1) == [5, 5, 5, 6, 6, 6, 5, 5]


def test_a_written_value_is_added_to_and_in_either_order() -> None:
    variable = flow_var("v", 2, "inc", 0x0100, 0x0102)
    frames = frames_of(2, variable, write("v", 34, -1), write("v", 36, 2, big=False))
    assert at(frames, 34, 2) == [0x00FF, 0x0100]
    assert at(frames, 36, 2) == [0x0201, 0x0301]


def test_the_ipv4_checksum_is_scapys() -> None:
    fix = {"type": "fix_checksum_ipv4", "pkt_offset": 14}
    for number, frame in enumerate(
        frames_of(3, flow_var("ip", 4, "inc", 0x10000001, 0x100000FF), write("ip", 26), fix)
    ):
        expected = UDP_64.copy()
        expected[IP].src = f"16.0.0.{number + 1}"
        expected[UDP].chksum = UDP_64.__class__(bytes(UDP_64))[UDP].chksum
        assert frame == bytes(expected)


@pytest.mark.parametrize(
    ("transport", "kind"), [(UDP(sport=1025, dport=12), 11), (TCP(sport=1025, dport=12), 13)]
)
@pytest.mark.parametrize("network", [IP(src="16.0.0.1"), IPv6(src="2001:db8::1")])
def test_hardware_checksums_are_scapys(network: Any, transport: Any, kind: int) -> None:
    packet = Ether() / network / transport / (b"x" * 18)
    l3 = 20 if isinstance(network, IP) else 40
    fix = {"type": "fix_checksum_hw", "l2_len": 14, "l3_len": l3, "l4_type": kind}
    port = flow_var("p", 2, "inc", 2000, 2100)
    (frame, *_) = frames_of(1, port, write("p", 14 + l3), fix, packet=bytes(packet))
    expected = packet.copy()
    expected[transport.__class__].sport = 2000
    assert frame == bytes(expected)


def test_the_icmpv6_checksum_is_scapys() -> None:
    packet = Ether() / IPv6(src="2001:db8::1", dst="2001:db8::2") / ICMPv6EchoRequest(data=b"x" * 8)
    fix = {"type": "fix_checksum_icmpv6", "l2_len": 14, "l3_len": 40}
    (frame,) = frames_of(
        1, flow_var("s", 2, "inc", 77, 99), write("s", 60), fix, packet=bytes(packet)
    )
    expected = packet.copy()
    expected[ICMPv6EchoRequest].seq = 77
    assert frame == bytes(expected)


def test_a_frame_is_cut_to_what_its_variable_says() -> None:
    frames = frames_of(4, flow_var("n", 2, "inc", 50, 52), {"type": "trim_pkt_size", "name": "n"})
    assert [len(frame) for frame in frames] == [50, 51, 52, 50]


def test_a_write_outside_of_the_packet_is_an_error(says: Says) -> None:
    with pytest.raises(IndexError) as caught:
        frames_of(1, flow_var("v", 4, "inc", 0, 9), write("v", 58))
    assert caught.value == says("4", "58", "60")
