"""TRex's field engine, run step by step: the very frames that TRex would send."""

from __future__ import annotations

import struct
from collections.abc import Hashable
from typing import Literal

from plimsoll.remote.trex.field_engine.instructions import (
    FieldProgram,
    FixHardwareChecksum,
    FixIcmpv6Checksum,
    FixIpv4Checksum,
    FlowVariable,
    RepeatableRandom,
    TrimPacket,
    TupleVariable,
    WriteMaskedVariable,
    WriteVariable,
)
from plimsoll.remote.trex.field_engine.variables import (
    RandomNumbers,
    VariableState,
    all_values,
    variable_state,
)

_Order = Literal["big", "little"]
UDP_KIND, TCP_KIND = 11, 13
_PROTOCOLS = {UDP_KIND: 17, TCP_KIND: 6, None: 58}
_CHECKSUM_AT = {UDP_KIND: 6, TCP_KIND: 16, None: 2}


class Interpreter:
    """Makes one frame after the other from a packet, without FCS, and a program.

    TRex draws random values from a seed of its own for each core; ours is the stream's.
    """

    def __init__(self, program: FieldProgram, packet: bytes, seed: int = 0) -> None:
        self._program, self._packet = program, packet
        numbers = RandomNumbers(seed)
        self._states: dict[int, VariableState] = {
            index: variable_state(each, numbers)
            for index, each in enumerate(program.instructions)
            if isinstance(each, FlowVariable | RepeatableRandom | TupleVariable)
        }
        self._numbers = numbers

    def next_frame(self) -> bytes:
        """The next frame. Raises IndexError where an instruction lies outside of the packet."""
        frame, length = bytearray(self._packet), len(self._packet)
        self.step()
        values = all_values(self._states.values())
        for each in self._program.instructions:
            match each:
                case WriteVariable():
                    write_value(frame, each, values[each.name], self._program.sizes[each.name])
                case WriteMaskedVariable():
                    write_masked(frame, each, values[each.name])
                case FixIpv4Checksum():
                    fix_ipv4(frame, each.pkt_offset)
                case FixHardwareChecksum(l2_len=l2, l3_len=l3, l4_type=kind):
                    fix_transport(frame, l2, l3, kind)
                case FixIcmpv6Checksum(l2_len=l2, l3_len=l3):
                    fix_transport(frame, l2, l3, None)
                case TrimPacket():
                    length = min(values[each.name], length)
        return bytes(frame[:length])

    def step(self) -> dict[str, int]:
        """Only the variables, whose values are returned by name."""
        goes_on = True
        for index, each in enumerate(self._program.instructions):
            if index in self._states:
                wrapped = self._states[index].step() if goes_on else False
                goes_on = wrapped if getattr(each, "next_var", None) else True
        return all_values(self._states.values())

    @property
    def state(self) -> Hashable:
        """What decides all frames to come.

        The values as well: one that waits for another to wrap keeps its own until then.
        """
        positions = tuple(each.state() for each in self._states.values())
        values = tuple(all_values(self._states.values()).items())
        return positions, values, self._numbers.state


def write_value(frame: bytearray, write: WriteVariable, value: int, size: int) -> None:
    """As TRex writes it: modulo what the variable can hold. Raises IndexError."""
    order: _Order = "big" if write.is_big_endian else "little"
    written = (value + write.add_value) % 2 ** (8 * size)
    _put(frame, write.pkt_offset, written.to_bytes(size, order))


def write_masked(frame: bytearray, write: WriteMaskedVariable, value: int) -> None:
    """Those bits of a value that the mask names. Raises IndexError."""
    order: _Order = "big" if write.is_big_endian else "little"
    size, at = write.pkt_cast_size, write.pkt_offset
    mask = write.mask % 2 ** (8 * size)
    shifted = masked_value(write, value) & mask
    there = int.from_bytes(frame[at : at + size], order)
    _put(frame, at, ((there & ~mask) | shifted).to_bytes(size, order))


def masked_value(write: WriteMaskedVariable, value: int) -> int:
    """The shifted value in 32 bits, before the mask."""
    added = (value + write.add_value) % 2**32
    return (added << write.shift) % 2**32 if write.shift > 0 else added >> -write.shift


def _put(frame: bytearray, at: int, written: bytes) -> None:
    if at + len(written) > len(frame):
        raise IndexError(f"it writes {len(written)} bytes at {at} of a packet of {len(frame)}")
    frame[at : at + len(written)] = written


# Internet checksums (RFC 1071) of headers whose places are given.
def internet_checksum(covered: bytes) -> int:
    """The 16-bit checksum of some bytes."""
    padded = covered + b"\0" * (len(covered) % 2)
    total: int = sum(struct.unpack(f"!{len(padded) // 2}H", padded))
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    return total ^ 0xFFFF


def fix_ipv4(frame: bytearray, at: int) -> None:
    """Compute the checksum of the IPv4 header at `at`. Raises IndexError."""
    length = (frame[at] & 0xF) * 4
    if length < 20 or at + length > len(frame):
        raise IndexError(f"no IPv4 header lies at {at}")
    frame[at + 10 : at + 12] = b"\0\0"
    frame[at + 10 : at + 12] = internet_checksum(bytes(frame[at : at + length])).to_bytes(2)


def fix_transport(frame: bytearray, l2_len: int, l3_len: int, kind: int | None) -> None:
    """Compute what is behind an IP header, and IPv4's own. Raises IndexError.

    `kind` is TRex's: 11 UDP, 13 TCP, None ICMPv6; of all others IPv4's header alone.
    """
    start = l2_len + l3_len
    is_ipv4 = frame[l2_len] >> 4 == 4
    if is_ipv4:
        fix_ipv4(frame, l2_len)
    if kind not in _PROTOCOLS:
        return
    end, addresses = _segment(frame, l2_len, start, is_ipv4=is_ipv4)
    at = start + _CHECKSUM_AT[kind]
    if at + 2 > end or end > len(frame):
        raise IndexError(f"no transport header lies at {start}")
    protocol, size = _PROTOCOLS[kind], end - start
    pseudo = struct.pack("!HH", protocol, size) if is_ipv4 else struct.pack("!II", size, protocol)
    frame[at : at + 2] = b"\0\0"
    value = internet_checksum(addresses + pseudo + frame[start:end])
    # UDP's zero would say that there is none (RFC 768).
    frame[at : at + 2] = ((value or 0xFFFF) if kind == UDP_KIND else value).to_bytes(2)


def _segment(frame: bytearray, at: int, start: int, *, is_ipv4: bool) -> tuple[int, bytes]:
    """Where it ends by the IP header's length, and the addresses."""
    if is_ipv4:
        return at + int.from_bytes(frame[at + 2 : at + 4]), bytes(frame[at + 12 : at + 20])
    return at + 40 + int.from_bytes(frame[at + 4 : at + 6]), bytes(frame[at + 8 : at + 40])
