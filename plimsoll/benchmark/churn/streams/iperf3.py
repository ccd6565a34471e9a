"""What iperf3 says of a stream: its intervals, by its JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from plimsoll.errors import MachineError


@dataclass(frozen=True, slots=True)
class StreamInterval:
    """What arrived in [begin_s, end_s) since the stream's beginning; retransmits by the sender."""

    begin_s: float
    end_s: float
    bits: float


@dataclass(frozen=True, slots=True)
class StreamReport:
    """One side's report of a stream: its intervals, and how it ended early, if it did."""

    version: str
    intervals: tuple[StreamInterval, ...]
    retransmits: tuple[int, ...]
    error: str | None

    @property
    def length_s(self) -> float:
        """To the end of the last interval."""
        return self.intervals[-1].end_s if self.intervals else 0.0


def read_report(path: Path) -> StreamReport:
    """The report in a file. Raises MachineError for one that is none."""
    try:
        return parse_report(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise MachineError(
            f"iperf3 left no report: {error}",
            where=str(path),
            remedy="look at what it printed; it is to be version 3.7 or later",
        ) from error


def parse_report(document: Mapping[str, Any]) -> StreamReport:
    """The same of a document. Raises KeyError, TypeError and ValueError."""
    sums = [each["sum"] for each in document["intervals"] if not each["sum"].get("omitted")]
    return StreamReport(
        version=str(document["start"]["version"]),
        intervals=tuple(
            StreamInterval(float(each["start"]), float(each["end"]), 8.0 * each["bytes"])
            for each in sums
        ),
        retransmits=tuple(int(each.get("retransmits", 0)) for each in sums),
        error=document.get("error"),
    )
