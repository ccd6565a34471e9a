"""Our own memory antagonist as a neighbour: a stated working set, touched in a stated way."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path
from typing import Literal

from pydantic import Field

from plimsoll.errors import MachineError
from plimsoll.host.processes.child import Child
from plimsoll.neighbours.neighbour import Achieved, IntensityUnit, NeighbourModel
from plimsoll.text.quantities import ByteRateField, ByteSizeField
from plimsoll.text.units import RatioField, format_ratio

PROGRAM = "plimsoll-antagonist"
_READY = "ready"
_UNIT: IntensityUnit = "B/s"
_NS_PER_S = 1e9
# As --writes counts: engine/src/antagonist/memory_walk.h.
_STEPS = 256


class MemorySettings(NeighbourModel):
    """plimsoll-antagonist: each worker touches the cache lines of a buffer of its own.

    `working_set` is the size of each worker's buffer, `access` the order of its lines, `writes`
    the share of them that is written, to 1/256. `rate`, of all workers together, is what they
    touch at most.
    """

    kind: Literal["memory"] = "memory"
    working_set: ByteSizeField = Field(default=64 << 20, ge=64, le=1 << 50)
    access: Literal["sequential", "random"] = "random"
    writes: RatioField = Field(default=0.5, ge=0, le=1)
    rate: ByteRateField | None = Field(default=None, ge=1, le=1 << 50)

    @property
    def name(self) -> str:
        """With what can be felt of it."""
        return f"memory {self.access} {self.working_set / (1 << 20):g} MiB"

    @property
    def level(self) -> str:
        """Share of writes, and rate."""
        rate = "" if self.rate is None else f", {self.rate / 1e6:g} MB/s in all"
        return f"{format_ratio(self.writes)} writes{rate}"

    @property
    def memory_bytes(self) -> int:
        """All buffers."""
        return self.working_set * self.worker_count

    def find_program(self) -> str:
        """In this Python's folder, or on PATH."""
        installed = Path(sys.executable).parent / PROGRAM
        if os.access(installed, os.X_OK):
            return str(installed)
        found = shutil.which(PROGRAM)
        if found is None:
            raise MachineError(
                f"there is no program {PROGRAM}",
                where="PATH",
                remedy="build Plimsoll anew (make build), or leave the noise out: --set noise=[]",
            )
        return found

    def argv(self, program: str, report: Path, folder: Path) -> tuple[str, ...]:
        """What it has to say goes to its log."""
        return (
            program,
            *("--working-set", str(self.working_set), "--access", self.access),
            *("--writes", str(round(self.writes * _STEPS)), "--rate", str(self.rate or 0)),
            *("--workers", str(self.worker_count)),
        )

    def is_ready(self, child: Child, processes: int) -> bool:
        """It says so once all its memory is there."""
        return _READY in child.log_tail(1)

    def achieved(self, child: Child, report: Path) -> Achieved:
        """By the last line that it prints."""
        return read_last_words(child.log_tail(1))


def read_last_words(said: tuple[str, ...]) -> Achieved:
    """The bytes that were touched a second, of the antagonist's last line."""
    try:
        document = json.loads(said[-1])
        wall_s = document["wall_ns"] / _NS_PER_S
        rate = document["bytes"] / wall_s
        return Achieved(_UNIT, rate, document["cpu_ns"] / _NS_PER_S, program=PROGRAM)
    except (ValueError, TypeError, KeyError, IndexError, ZeroDivisionError, RecursionError):
        return Achieved(
            _UNIT, program=PROGRAM, unknown=f"{PROGRAM} ended without reporting its intensity"
        )


NEIGHBOUR = MemorySettings
