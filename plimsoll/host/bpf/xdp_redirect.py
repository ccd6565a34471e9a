"""A small XDP program of our own: every frame of one interface goes out of another.

Written as instructions, it needs no compiler on any machine (docs/decisions/017). It counts what
it decided in a map of its own, by XDP's action: redirect, or drop where the other interface has
gone. What the kernel loses after that decision is in the interfaces' counters.
"""

from __future__ import annotations

import os

from plimsoll.host.bpf.instructions import (
    MAP_LOOKUP,
    REDIRECT_MAP,
    STACK,
    add_in_memory,
    add_value,
    call,
    jump_if_equal,
    leave,
    load_map_in_two,
    move,
    move_value,
    store_word,
)
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
