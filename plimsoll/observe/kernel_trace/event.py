"""One event of the kernel's trace."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class KernelEvent:
    """One event: when, on which CPU, what, and its fields as the kernel names them.

    `tsc` is the time stamp counter where the trace clock is x86-tsc, and nanoseconds
    where it is mono_raw.
    """

    tsc: int
    cpu: int
    name: str
    fields: Mapping[str, int | str]
