"""TRex's programs as templates and fields: the same frames, with room for the signature."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import ARP, Dot1Q, Ether
from scapy.packet import Packet, Raw

from plimsoll.errors import InputError
from plimsoll.remote.trex.field_engine.instructions import FieldProgram
from plimsoll.remote.trex.field_engine.interpreter import Interpreter
from plimsoll.remote.trex.field_engine.made_frames import MadeFrames, made_frames
from tests.unit.remote.trex.stl_json import UDP_64, flow_var, listed_var, vm, write, write_mask
from tests.worded.says import Says


def made(
    *instructions: dict[str, Any], packet: Packet | bytes = UDP_64, timed: bool = False
) -> MadeFrames:
    return made_frames(
        FieldProgram.model_validate(vm(*instructions)), bytes(packet), seed=1, timed=timed
    )


def sent(frames: MadeFrames, number: int) -> bytes:
    """Frame `number` by the words of docs/engine-protocol.md, checksums left alone."""
    order = frames.order or range(len(frames.frames))
    template = frames.frames[order[number % len(order)]]
    frame = bytearray(template)
    for field in frames.fields:
        mask = 2 ** (8 * field.width) - 1 if field.mask is None else field.mask
        low = (mask & -mask).bit_length() - 1
        place = slice(field.offset, field.offset + field.width)
        there = int.from_bytes(template[place]) & mask
        index = (field.first + number) // field.every % field.count
        value = field.values[index] if field.kind == "list" else (there >> low) + index * field.step
        whole = int.from_bytes(frame[place]) & ~mask | (value << low) & mask
        frame[place] = whole.to_bytes(field.width)
    return bytes(frame)


# Of the frames that Scapy makes, what may differ: checksums, and the signature's 18 bytes.
def same_but_checksums(one: bytes, other: bytes, upto: int = 42) -> bool:
    parts = [(0, 24), (26, 40)]
    return all(one[a:b] == other[a:b] for a, b in parts if b <= upto)


def test_addresses_of_a_range_are_counted() -> None:
    frames = made(
        flow_var("ip", 4, "inc", 0x10000001, 0x100000FE),
        write("ip", 26),
        {"type": "fix_checksum_ipv4", "pkt_offset": 14},
    )
    assert len(frames.frames) == 1
    (field,) = frames.fields
    assert (field.offset, field.width, field.count, field.step) == (26, 4, 254, 1)
    assert field.fixes == (24, 40)
    assert not frames.short_signature
    assert frames.notes == ()
    # The template is the first frame, whose checksums are right with zeroes at its end.
    expected = UDP_64.copy()
    expected[Raw].load = bytes(18)
    assert frames.frames[0] == bytes(expected)
    for number in (0, 1, 253, 254):
        expected[IP].src = f"16.0.0.{number % 254 + 1}"
        assert same_but_checksums(sent(frames, number), bytes(expected))


def test_a_tuple_counts_ports_when_addresses_begin_anew() -> None:
    variable = {
        "type": "tuple_flow_var", "name": "t", "ip_min": 0x10000001, "ip_max": 0x10000003,
        "port_min": 1025, "port_max": 65535, "limit_flows": 0, "flags": 0,
    }  # fmt: skip
    frames = made(variable, write("t.ip", 26), write("t.port", 34))
    expected = UDP_64.copy()
    expected[Raw].load = bytes(18)
    for number in (0, 1, 2, 3, 4, 100, 193_532):
        expected[IP].src = f"16.0.0.{number % 3 + 1}"
        expected[UDP].sport = 1025 + number // 3 % 64511
        assert same_but_checksums(sent(frames, number), bytes(expected))


def test_a_limit_that_cuts_a_round_is_said(says: Says) -> None:
    variable = {
        "type": "tuple_flow_var", "name": "t", "ip_min": 1, "ip_max": 3, "port_min": 1,
        "port_max": 9, "limit_flows": 10, "flags": 0,
    }  # fmt: skip
    assert made(variable, write("t.ip", 26)).notes == (says("9", "10"),)


def test_vlan_and_mpls_bits_are_masked() -> None:
    packet = Ether() / Dot1Q(vlan=1, prio=5) / IP() / UDP() / (b"x" * 30)
    frames = made(
        flow_var("v", 2, "inc", 10, 12), write_mask("v", 14, 2, 0x0FFF, shift=0), packet=packet
    )
    expected = packet.copy()
    for number in range(4):
        expected[Dot1Q].vlan = 10 + number % 3
        assert sent(frames, number)[:18] == bytes(expected)[:18]


def test_random_values_have_the_streams_seed() -> None:
    frames = made(flow_var("p", 2, "random", 1000, 2999), write("p", 34))
    (field,) = frames.fields
    assert (field.kind, field.count, field.step) == ("random", 2000, 1)
    assert int.from_bytes(frames.frames[0][34:36]) == 1000


def test_a_range_beyond_what_the_engine_counts_is_spread_and_said(says: Says) -> None:
    frames = made(flow_var("ip", 4, "random", 0, 2**32 - 1), write("ip", 26))
    (field,) = frames.fields
    assert (field.count, field.step) == (2**24, 256)
    assert frames.notes == (says("16777216", "4294967296"),)


def test_frames_of_many_lengths_are_a_cycle_of_templates() -> None:
    frames = made(
        flow_var("n", 2, "inc", 60, 64),
        {"type": "trim_pkt_size", "name": "n"},
        write("n", 16, -14),
        {"type": "fix_checksum_ipv4", "pkt_offset": 14},
        write("n", 38, -34),
        packet=Ether() / IP() / UDP() / (b"x" * 60),
    )
    assert [len(frame) for frame in frames.frames] == [60, 61, 62, 63, 64]
    for frame in frames.frames:
        read = Ether(frame)
        length = len(frame) - 14
        assert (read[IP].len, read[UDP].len) == (length, length - 20)
        checksums = read[IP].chksum, read[UDP].chksum
        del read[IP].chksum, read[UDP].chksum
        again = Ether(bytes(read))
        assert (again[IP].chksum, again[UDP].chksum) == checksums
    assert frames.mean_bytes == 62


def test_too_many_lengths_are_refused_by_name(says: Says) -> None:
    with pytest.raises(InputError) as caught:
        made(
            flow_var("n", 2, "inc", 60, 9000),
            {"type": "trim_pkt_size", "name": "n"},
            packet=bytes(bytes(UDP_64).ljust(9000, b"x")),
        )
    assert caught.value == says("flow_var", "trim_pkt_size")


@pytest.mark.parametrize(
    ("packet", "timed", "length", "short"),
    [
        # 18 bytes of payload: all of it.
        (UDP_64, False, 60, False),
        # 14: the short one, but not of a latency stream, whose frames grow.
        (Ether() / Dot1Q() / IP() / UDP() / (b"x" * 14), False, 60, True),
        (Ether() / Dot1Q() / IP() / UDP() / (b"x" * 14), True, 78, False),
        # TCP leaves 6 bytes of payload.
        (Ether() / IP() / TCP() / (b"x" * 6), False, 72, True),
        (Ether() / IP() / TCP() / (b"x" * 6), True, 78, False),
        # 28 bytes of ARP leave 18 of padding.
        (Ether() / ARP(), True, 60, False),
        (Ether() / IPv6() / UDP() / (b"x" * 30), True, 92, False),
    ],
)
def test_where_the_signature_lies(packet: Packet, timed: bool, length: int, short: bool) -> None:
    frames = made(packet=packet, timed=timed)
    (frame,) = frames.frames
    assert (len(frame), frames.short_signature) == (length, short)
    assert frame[-12 if short else -18 :] == bytes(12 if short else 18)
    grown = length - max(60, len(packet))
    said = (f"frames are {grown} bytes longer, to have room for the signature",) if grown else ()
    assert frames.notes == said
    assert frames.mean_bytes == len(packet)


def test_what_the_program_writes_keeps_its_place() -> None:
    # It writes the payload's first two bytes, so that 16 are left: the short signature.
    frames = made(flow_var("v", 2, "inc", 0, 9), write("v", 42))
    assert frames.short_signature
    assert len(frames.frames[0]) == 60
    # And the last two: the frame grows.
    assert len(made(flow_var("v", 2, "inc", 0, 9), write("v", 58)).frames[0]) == 72


@pytest.mark.parametrize(
    ("instructions", "facts"),
    [
        ([flow_var(f"v{n}", 1, "inc", 0, 250 - n) for n in range(9)]
         + [write(f"v{n}", 26 + n % 4 + 8 * (n // 4)) for n in range(9)],
         ("9", "8")),
        ([flow_var("v", 4, "inc", 0, 5000), write("v", 26), write("v", 28)],
         ()),
        ([flow_var("v", 2, "inc", 0, 5000), write("v", 16)], ()),
        ([flow_var("v", 2, "inc", 0, 5000), write("v", 34, big=False)], ()),
    ],
)  # fmt: skip
def test_what_no_field_can_say_is_refused_with_the_reason(
    instructions: list[dict[str, Any]], facts: tuple[str, ...], says: Says
) -> None:
    with pytest.raises(InputError) as refusal:
        made(*instructions)
    assert refusal.value == says(*facts)
    assert refusal.value.message.startswith("flow_var, write_flow_var: ")


def test_a_list_that_waits_is_no_cycle_before_it_has_been_through(says: Says) -> None:
    # b begins in its middle, so the list's first value stands for one frame less than the others
    # do: 0 0 0 0 0 13 13 13 0 0 0 13 13 13, which no number of templates says from the first on.
    with pytest.raises(InputError) as caught:
        made(
            flow_var("b", 2, "inc", 100, 102, init_value=101, next_var="c"),
            listed_var("c", 2, "inc", [0, 13]),
            write("b", 6),
            write("c", 28),
        )
    assert caught.value == says("flow_var", "write_flow_var")


def test_a_list_that_waits_for_a_whole_round_is_a_cycle() -> None:
    frames = made(
        flow_var("b", 2, "inc", 100, 102, next_var="c"),
        listed_var("c", 2, "inc", [0, 13]),
        write("b", 6),
        write("c", 28),
    )
    found = [int.from_bytes(sent(frames, number)[28:30]) for number in range(12)]
    assert found == [0, 0, 0, 13, 13, 13] * 2


def _programs() -> st.SearchStrategy[list[dict[str, Any]]]:
    """Up to three variables, of which each may wait for the one before, and their writes."""
    places = {"a": 0, "b": 6, "c": 28}
    one = st.tuples(
        st.sampled_from(["inc", "dec", "list"]),
        st.integers(0, 40),
        st.integers(0, 40),
        st.integers(1, 3),
        st.booleans(),
        st.integers(-5, 5),
        st.sampled_from(["plain", "mask"]),
    )

    def built(drawn: list[tuple[Any, ...]]) -> list[dict[str, Any]]:
        variables, writes = [], []
        for number, (kind, low, span, step, chained, add, form) in enumerate(drawn):
            name = "abc"[number]
            following = "abc"[number + 1] if chained and number + 1 < len(drawn) else None
            if kind == "list":
                values = [(low * 7 + 13 * n) % 65536 for n in range(span % 7 + step)]
                variables.append(listed_var(name, 2, "inc", values, step=step, next_var=following))
            else:
                init = low + 100 + span // 2
                variables.append(
                    flow_var(name, 2, kind, low + 100, low + 100 + span, init_value=init,
                             step=step, next_var=following)
                )  # fmt: skip
            at = places[name]
            writes.append(
                write(name, at, add)
                if form == "plain"
                else write_mask(name, at, 2, 0x0FF0, shift=add, add=1)
            )
        return variables + writes

    return st.lists(one, min_size=1, max_size=3).map(built)


@settings(max_examples=40, deadline=None)
@given(_programs())
def test_fields_are_what_the_program_comes_to(instructions: list[dict[str, Any]]) -> None:
    # Another way to the same frames: the program run step by step.
    try:
        frames = made(*instructions)
    except InputError:
        return
    interpreter = Interpreter(FieldProgram.model_validate(vm(*instructions)), bytes(UDP_64), seed=1)
    for number in range(120):
        expected, found = interpreter.next_frame(), sent(frames, number)
        assert (found[:24], found[26:40]) == (expected[:24], expected[26:40])
