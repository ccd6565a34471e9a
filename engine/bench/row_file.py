"""Rows for programs: a JSON document, with the machine they came from."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from bench_bed import BenchBed
from contest import Row

from plimsoll.version import VERSION

_CPUINFO = Path("/proc/cpuinfo")


def write_rows(path: Path, rows: Sequence[Row], bed: BenchBed, rounds: int) -> None:
    """Write them; null where there is no peer."""
    document = {
        "plimsoll": VERSION,
        "machine": _machine(bed),
        "rounds": rounds,
        "seconds": bed.seconds,
        "rows": [asdict(row) for row in rows],
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document, indent=2) + "\n")


def _machine(bed: BenchBed) -> dict[str, object]:
    return {
        "cpu": _cpu_model(),
        "cpus": os.cpu_count(),
        "kernel": platform.release(),
        "hugepages": bed.generator_memory.huge,
    }


def _cpu_model() -> str:
    for line in _CPUINFO.read_text().splitlines():
        name, _, value = line.partition(":")
        if name.strip() == "model name":
            return value.strip()
    return platform.machine()
