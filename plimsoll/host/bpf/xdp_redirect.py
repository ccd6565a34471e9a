"""A small XDP program of our own: every frame of one interface goes out of another.

Written as instructions, it needs no compiler on any machine (docs/decisions/017). It counts what
it decided in a map of its own, by XDP's action: redirect, or drop where the other interface has
gone. What the kernel loses after that decision is in the interfaces' counters.
"""

from __future__ import annotations

import os
import struct

from plimsoll.host.bpf.libbpf import (
    DEVICE_MAP,
    PERCPU_ARRAY,
    attach_xdp,
    attached_program,
    create_map,
    load_xdp,
    map_of_program,
    set_entry,
    sum_over_cpus,
)

# XDP's actions by number (enum xdp_action of linux/bpf.h).
ACTIONS = ("aborted", "drop", "pass", "tx", "redirect")
_DROP = ACTIONS.index("drop")
# Names of up to 15 characters, by which they are found again.
_PROGRAM, _COUNTS, _WAY_OUT = "plimsoll_xdp", "plimsoll_counts", "plimsoll_out"
_COUNTER_BYTES, _INDEX_BYTES = 8, 4
# Of linux/bpf.h: functions of the kernel's that a program may call, by number.
MAP_LOOKUP, REDIRECT_MAP = 1, 51
# The register that points behind the stack.
STACK = 10
_MOVE, _MOVE_VALUE, _ADD_VALUE, _CALL, _EXIT = 0xBF, 0xB7, 0x07, 0x85, 0x95
_LOAD_64_BITS, _STORE_WORD, _ATOMIC_DOUBLE, _JUMP_IF_EQUAL = 0x18, 0x63, 0xDB, 0x15
_MAP_BY_DESCRIPTOR = 1


def redirect_all(interface: str, index: int, out_index: int, mode: int) -> None:
    """Have all that comes in at `index` leave by `out_index`, in mode XDP_NATIVE or XDP_GENERIC.

    Both are interfaces of the calling thread's namespace. Program and maps live as long as the
    interface has them. Raises MachineError.
    """
    opened: list[int] = []
    try:
        opened.append(way_out := create_map(DEVICE_MAP, _WAY_OUT, _INDEX_BYTES, 1))
        set_entry(way_out, 0, out_index)
        opened.append(counts := create_map(PERCPU_ARRAY, _COUNTS, _COUNTER_BYTES, len(ACTIONS)))
        opened.append(program := load_xdp(_PROGRAM, _instructions(way_out, counts)))
        attach_xdp(interface, index, program, mode)
    finally:
        for descriptor in opened:
            os.close(descriptor)


def _instructions(way_out: int, counts: int) -> tuple[bytes, ...]:
    return (
        # action = redirect_map(way_out, 0, otherwise XDP_DROP)
        load_map_in_two(1, way_out),
        move_value(2, 0),
        move_value(3, _DROP),
        call(REDIRECT_MAP),
        move(6, 0),
        # counts[action] += 1, of this CPU; the verifier wants the pointer looked at.
        store_word(STACK, -4, 0),
        load_map_in_two(1, counts),
        move(2, STACK),
        add_value(2, -4),
        call(MAP_LOOKUP),
        jump_if_equal(0, 0, over=2),
        move_value(1, 1),
        add_in_memory(0, 1),
        # return action
        move(0, 6),
        leave(),
    )


class XdpCounts:
    """What such a program on an interface has decided, held open."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    @classmethod
    def of_interface(cls, index: int) -> XdpCounts | None:
        """That of an interface of the calling thread's namespace; None without our program.

        Raises MachineError.
        """
        program = attached_program(index)
        descriptor = None if program is None else map_of_program(program, _COUNTS)
        return None if descriptor is None else cls(descriptor)

    def read(self) -> dict[str, int]:
        """Frames by action since the program was put there. Raises MachineError."""
        return {
            action: sum_over_cpus(self._descriptor, number) for number, action in enumerate(ACTIONS)
        }

    def close(self) -> None:
        """Close it; safe to repeat."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def __del__(self) -> None:
        # An observer lives as long as a trial.
        self.close()


# BPF's instructions, as far as they are used here (Documentation/bpf/standardization, RFC 9669).
#
# Each function gives one instruction of 8 bytes, or two where its name says so: code, registers,
# offset and immediate value.
def move(to: int, source: int) -> bytes:
    """Register to register."""
    return _instruction(_MOVE, to, source)


def move_value(to: int, value: int) -> bytes:
    """A value of 32 bits to a register."""
    return _instruction(_MOVE_VALUE, to, value=value)


def add_value(to: int, value: int) -> bytes:
    """Add a value of 32 bits to a register."""
    return _instruction(_ADD_VALUE, to, value=value)


def store_word(at: int, offset: int, source: int) -> bytes:
    """The lower 32 bits of a register to the address in `at`, and `offset`."""
    return _instruction(_STORE_WORD, at, source, offset)


def add_in_memory(at: int, source: int) -> bytes:
    """Add a register to the 64 bits at the address in `at`, atomically."""
    return _instruction(_ATOMIC_DOUBLE, at, source)


def load_map_in_two(to: int, descriptor: int) -> bytes:
    """A map's address to a register: two instructions."""
    first = _instruction(_LOAD_64_BITS, to, _MAP_BY_DESCRIPTOR, value=descriptor)
    return first + _instruction(0)


def jump_if_equal(register: int, value: int, over: int) -> bytes:
    """Skip the next `over` instructions where the register has the value."""
    return _instruction(_JUMP_IF_EQUAL, register, offset=over, value=value)


def call(function: int) -> bytes:
    """One of the kernel's functions: arguments in registers 1 to 5, its result in 0."""
    return _instruction(_CALL, value=function)


def leave() -> bytes:
    """Return register 0."""
    return _instruction(_EXIT)


def _instruction(code: int, to: int = 0, source: int = 0, offset: int = 0, value: int = 0) -> bytes:
    return struct.pack("=BBhi", code, source << 4 | to, offset, value)
