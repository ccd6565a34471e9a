"""The state in which a task left its CPU, as sched_switch has it."""

from __future__ import annotations

from typing import Literal

# "woken" is what a task that slept becomes: it could run, and waits for the CPU. One that left its
# CPU while it waited for a lock is "contended".
LeftAs = Literal["runnable", "stopped", "traced", "slept", "blocked", "contended", "woken"]

# include/linux/sched.h: TASK_INTERRUPTIBLE, TASK_UNINTERRUPTIBLE, __TASK_STOPPED,
# __TASK_TRACED, TASK_IDLE as the event reports it. 0 and TASK_REPORT_MAX are runnable.
_BITS: tuple[tuple[int, LeftAs], ...] = (
    (0x04, "stopped"),
    (0x08, "traced"),
    (0x02, "blocked"),
    (0x01, "slept"),
    (0x80, "slept"),
)
_LETTERS: dict[str, LeftAs] = {
    "R": "runnable",
    "S": "slept",
    "I": "slept",
    "D": "blocked",
    "T": "stopped",
    "t": "traced",
}


def left_as(prev_state: int | str | None) -> LeftAs | None:
    """From the field prev_state, a number or the letters of its text; None if unknown."""
    if isinstance(prev_state, str):
        return _LETTERS.get(prev_state[:1])
    if prev_state is None:
        return None
    if prev_state & 0xFF == 0:
        return "runnable"
    return next((name for bits, name in _BITS if prev_state & bits), None)
