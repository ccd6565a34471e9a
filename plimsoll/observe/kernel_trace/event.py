"""A kernel event as the ring buffer has it."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec


class KernelEvent(msgspec.Struct, frozen=True):
    """One event on one CPU; a busy second has a hundred thousand.

    `tsc` is its time by the trace's clock: TSC ticks, or nanoseconds of CLOCK_MONOTONIC_RAW
    where the clock is "mono_raw". `cpu` is where it happened. `fields` are named as the
    kernel names them, and `common_pid` is the thread that was running. Functions are names,
    other addresses hexadecimal text, sets of CPUs lists such as "0,2". `common_comm`, where
    it could be found out, is the name of that thread.
    """

    tsc: int
    cpu: int
    name: str
    fields: Mapping[str, int | str]
