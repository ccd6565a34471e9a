"""BPF's instructions, as far as they are used here (Documentation/bpf/standardization, RFC 9669).

Each function gives one instruction of 8 bytes, or two where its name says so: code, registers,
offset and immediate value.
"""

from __future__ import annotations

import struct

# Of linux/bpf.h: functions of the kernel's that a program may call, by number.
MAP_LOOKUP, REDIRECT_MAP = 1, 51
# The register that points behind the stack.
STACK = 10

_MOVE, _MOVE_VALUE, _ADD_VALUE, _CALL, _EXIT = 0xBF, 0xB7, 0x07, 0x85, 0x95
_LOAD_64_BITS, _STORE_WORD, _ATOMIC_DOUBLE, _JUMP_IF_EQUAL = 0x18, 0x63, 0xDB, 0x15
_MAP_BY_DESCRIPTOR = 1


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
