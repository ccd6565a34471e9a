"""Runs plimsoll-trace on directories laid out like tracefs."""

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from plimsoll.observe.kernel_trace.trace_program import (
    CpuTotals,
    KernelEvent,
    Window,
    find_trace_program,
    read_buffers,
)

RECORDED = Path(__file__).parent / "recorded"
ALWAYS: list[Window] = [(0, 2**64 - 1)]


def program() -> Path:
    found = find_trace_program()
    assert found is not None, "plimsoll-trace is missing: make build"
    return found


def read(
    directory: Path, windows: Sequence[Window] = ALWAYS, symbols: Path | None = None
) -> tuple[list[KernelEvent], list[CpuTotals]]:
    return read_buffers(program(), [directory], windows, environment=os.environ, symbols=symbols)


def directory_of(place: Path, pages: Mapping[int, bytes]) -> Path:
    """The recorded directory with these bytes in the buffers of these CPUs."""
    shutil.copytree(RECORDED, place, ignore=lambda _, names: {"per_cpu"} & set(names))
    for cpu, content in pages.items():
        buffer = place / f"per_cpu/cpu{cpu}/trace_pipe_raw"
        buffer.parent.mkdir(parents=True)
        buffer.write_bytes(content)
    return place


def run(*arguments: str, windows: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [program(), *arguments], input=windows, capture_output=True, text=True, check=False
    )
