"""How long a polling loop was kept from running, as those who measured it wrote it down."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

# Where `plimsoll calibrate` keeps what it found, by default, and where the output of
# oslat or `rtla osnoise top -q` may be put for the audit to find.
CALIBRATIONS = (
    "/root/.local/state/plimsoll/calibrations/*.json",
    "/home/*/.local/state/plimsoll/calibrations/*.json",
)
OUTPUTS = "/var/lib/plimsoll/noise"

_OSLAT = re.compile(r"^[ \t]*Maximum:\s*([\d .]+?)\s*\(us\)", re.MULTILINE)
# CPU, period, runtime, noise, "% CPU available", longest noise, longest single noise, ...
_OSNOISE = re.compile(
    r"^[ \t]*\d+[ \t]+#\d+[ \t]+\d+[ \t]+\d+[ \t]+[\d.]+[ \t]+(\d+)[ \t]+\d+(?:[ \t]+\d+)*[ \t]*$",
    re.MULTILINE,
)
_NUMBER = re.compile(r"\d+(?:\.\d+)?")


@dataclass(frozen=True, slots=True)
class Calibrated:
    """The worst stall of a calibration, in nanoseconds: on which host, which CPUs, and when."""

    host: str
    cpus: str
    measured_at: str
    worst_ns: float


def read_calibration(text: str) -> Calibrated | None:
    """None for what is not a calibration of ours, or is of another version."""
    try:
        document = json.loads(text)
        tester = document["tester"]
        return Calibrated(
            host=str(tester["host"]),
            cpus=str(tester["cpus"]),
            measured_at=str(document["measured_at"]),
            worst_ns=float(max(point["worst_stall_ns"] for point in document["points"])),
        )
    except (ValueError, LookupError, TypeError, OverflowError, RecursionError):
        return None


def measured_us(text: str) -> tuple[float, ...]:
    """The longest times of each CPU, in microseconds, of oslat or rtla; none of other text."""
    if oslat := _OSLAT.search(text):
        return tuple(float(each) for each in oslat[1].split() if _NUMBER.fullmatch(each))
    return tuple(float(each) for each in _OSNOISE.findall(text))


def calibration_fields(text: str) -> str:
    """A calibration with nothing but what is read of it."""
    found = read_calibration(text)
    kept: dict[str, Any] = {}
    if found is not None:
        kept = {
            "tester": {"host": found.host, "cpus": found.cpus},
            "measured_at": found.measured_at,
            "points": [{"worst_stall_ns": found.worst_ns}],
        }
    return json.dumps(kept)


def measured_lines(text: str) -> str:
    """The lines that are read of an output, and no others."""
    return "\n".join(_lines(text))


def _lines(text: str) -> Iterator[str]:
    if oslat := _OSLAT.search(text):
        yield oslat[0].strip()
    else:
        yield from (found[0].strip() for found in _OSNOISE.finditer(text))
