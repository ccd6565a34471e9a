"""TRex's field engine, run step by step: the very frames that TRex would send."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Literal

from plimsoll.remote.trex.field_engine.header_checksums import fix_ipv4, fix_transport
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
