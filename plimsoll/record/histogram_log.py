"""The latency histograms of every interval, as an HdrHistogram interval log.

One tag a stream and direction. The format is that of HdrHistogram's Java
HistogramLogWriter (version 1.3, which has tags), so its tools read the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import quote

from hdrh.histogram import HdrHistogram

from plimsoll.generator.histogram import Histogram
from plimsoll.generator.interface import Interval
from plimsoll.record.append_file import AppendFile
from plimsoll.record.closeable import Closeable
from plimsoll.record.metric_row import path_name
from plimsoll.record.record_error import RecordError
from plimsoll.traffic.plan import StreamPlan

_NS_PER_MS = 1e6
_NS_PER_S = 1e9
_LINE = re.compile(r"Tag=([^,\s]+),([\d.]+),([\d.]+),([\d.]+),(\S+)")


@dataclass(frozen=True, slots=True)
class LoggedHistogram:
    """One interval of one tag; times are UTC, in s since the epoch, values in ns."""

    tag: str
    begin_s: float
    end_s: float
    histogram: HdrHistogram


class HistogramLog(Closeable):
    """Appends the histograms of intervals; a resumed run goes on in the same file."""

    def __init__(self, path: Path) -> None:
        """Open for appending. Raises RecordError."""
        self._file = AppendFile(path)

    def append(self, plans: Sequence[StreamPlan], interval: Interval) -> None:
        """Append the latency of each stream that had samples in the interval.

        Samples taken across a tester stall have a tag of their own. Raises RecordError.
        """
        end_s = interval.end_unix_ns / _NS_PER_S
        begin_s = end_s - (interval.end_s - interval.begin_s)
        by_id = {plan.stream: plan for plan in plans}
        lines: list[str] = [] if not self._file.empty else _header(begin_s)
        for counts in interval.streams:
            plan = by_id[counts.stream]
            for tag, histogram in (
                (stream_tag(plan), counts.latency),
                (stream_tag(plan, across_stalls=True), counts.latency_across_stalls),
            ):
                if histogram.count:
                    lines.append(_line(tag, begin_s, end_s, histogram))
        self._file.append(lines)

    def close(self) -> None:
        """Close the file; safe to repeat."""
        self._file.close()


def stream_tag(plan: StreamPlan, *, across_stalls: bool = False) -> str:
    """The tag of a stream and its direction: without commas or spaces, one to each stream."""
    return histogram_tag(plan.name, plan.tx_port, plan.rx_port, across_stalls=across_stalls)


def histogram_tag(name: str, tx_port: int, rx_port: int, *, across_stalls: bool = False) -> str:
    """The tag of a stream by its name and ports; odd characters of the name as in a URL."""
    suffix = "+across-stalls" if across_stalls else ""
    return f"{quote(name, safe='/:')}@{path_name(tx_port, rx_port)}{suffix}"


def read_histogram_log(
    path: Path, *, begin_s: float = 0.0, end_s: float = float("inf")
) -> Iterator[LoggedHistogram]:
    """The intervals that begin in [begin_s, end_s), in the file's order.

    Without a file there are none, and a torn last line is left out. Raises
    RecordError naming the line when a line is damaged.
    """
    if not path.exists():
        return
    with path.open(encoding="utf-8") as file:
        for number, line in enumerate(file, start=1):
            if not line.startswith("Tag=") or not line.endswith("\n"):
                continue
            logged = _parse(line, path, number, begin_s, end_s)
            if logged is not None:
                yield logged


def _parse(
    line: str, path: Path, number: int, begin_s: float, end_s: float
) -> LoggedHistogram | None:
    match = _LINE.fullmatch(line.rstrip("\n"))
    if match is None:
        raise _damaged(path, number)
    tag, begin, length = match[1], float(match[2]), float(match[3])
    if not begin_s <= begin < end_s:
        return None
    try:
        histogram = HdrHistogram.decode(match[5])
    except Exception as error:
        # The package raises whatever zlib, base64 or its own decoder raise.
        raise _damaged(path, number) from error
    return LoggedHistogram(tag, begin, begin + length, histogram)


def _header(begin_s: float) -> list[str]:
    moment = datetime.fromtimestamp(begin_s, UTC).isoformat(sep=" ", timespec="milliseconds")
    return [
        "#[Logged by plimsoll; values in ns, Interval_Max in ms]",
        "#[Histogram log format version 1.3]",
        f"#[StartTime: {begin_s:.3f} (seconds since epoch), {moment}]",
        '"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"',
    ]


def _line(tag: str, begin_s: float, end_s: float, histogram: Histogram) -> str:
    # Not the package's own writer: it knows no tags and rounds the maximum down to whole ms.
    payload = histogram.to_hdr().encode().decode("ascii")
    max_ms = (histogram.max_ns or 0) / _NS_PER_MS
    return f"Tag={tag},{begin_s:.3f},{end_s - begin_s:.3f},{max_ms:.6f},{payload}"


def _damaged(path: Path, number: int) -> RecordError:
    return RecordError(
        f"line {number} is damaged",
        where=str(path),
        remedy="restore the file from a copy of the run, or delete that line and its interval",
    )
