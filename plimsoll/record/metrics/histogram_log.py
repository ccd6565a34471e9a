"""The histograms of a run over time, as an HdrHistogram interval log.

Of every interval in a trial's first ten minutes; then each entry is of a minute, with the
samples of all its intervals. Latency and, of probes, lateness: one tag a stream and
direction. The gaps of each polling loop: one tag a CPU. The format is that of HdrHistogram's
Java HistogramLogWriter (version 1.3, which has tags), so its tools read the file. Before the
first entry of each trial a comment has the trial's number: times do not tell, as a wall clock
may be set back.
"""

from __future__ import annotations

import base64
import ctypes
import re
import zlib
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal
from urllib.parse import quote

from hdrh.histogram import HdrHistogram

from plimsoll.generator.histogram import (
    HIGHEST_NS,
    LOWEST_NS,
    SIGNIFICANT_DIGITS,
    Histogram,
    HistogramSum,
    empty_hdr,
    fill_hdr,
)
from plimsoll.generator.interface import Interval
from plimsoll.record.files.growing_files import Closeable, SettlingFile, TimeSteps, settling_lines
from plimsoll.record.files.record_error import RecordError
from plimsoll.record.metrics.engine_samples import direction_name
from plimsoll.record.run.file_check import require_intact_paths
from plimsoll.record.run.listed_files import ListedFiles
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.traffic.plan import StreamPlan

# Bounded, as each number becomes a float: a thousand digits would be infinite.
_NUMBER = r"(\d{1,15}\.\d{1,9})"
_LINE = re.compile(rf"Tag=([^,\s]+),{_NUMBER},{_NUMBER},{_NUMBER},(\S+)", re.ASCII)
# Before what is under zlib: a cookie and a length.
_HEADER_BYTES = 8
# 4,000 counters of 9 bytes at most, and the layout.
_MAX_BYTES = 1 << 16
# A comment, or the heading of the columns.
_NO_ENTRY = ("#", '"StartTimestamp"')
_TRIAL = re.compile(r"#\[Trial: ([0-9]{1,9})\]", re.ASCII)


@dataclass(frozen=True, slots=True)
class LogEntry:
    """One line: times in s since the epoch, the exact greatest value in ms.

    `trial` is the one that it is of; None in logs of earlier versions, whose entries are known
    apart by their times alone. `place` says in errors which entry of which file it is.
    """

    line: str
    trial: int | None
    tag: str
    begin_s: float
    length_s: float
    max_ms: float
    payload: str
    path: Path
    place: str

    @property
    def end_s(self) -> float:
        """When it ends."""
        return self.begin_s + self.length_s

    def decoded(self) -> HdrHistogram:
        """Its histogram, values in ns. Raises RecordError where it is damaged."""
        try:
            _check_size(self.payload)
            histogram = HdrHistogram.decode(self.payload)
        except Exception as error:
            # The package raises whatever zlib, base64 or its own decoder raise.
            raise damaged(self.path, self.place) from error
        if _layout(histogram) != (LOWEST_NS, HIGHEST_NS, SIGNIFICANT_DIGITS):
            raise damaged(self.path, self.place)
        return histogram


def log_entries(path: Path) -> Iterator[LogEntry]:
    """All entries in the file's order; none without a file, and a torn last line is left out.

    Of a log in a run directory these are the entries that the run's journal lists, and those
    of a trial that goes on. Raises RecordError where they are not as they were recorded, and
    naming the line where one is damaged.
    """
    trial: int | None = None
    for number, line in enumerate(log_lines(path), start=1):
        if line.startswith(_NO_ENTRY):
            mark = _TRIAL.fullmatch(line)
            trial = trial if mark is None else int(mark[1])
            continue
        match = _LINE.fullmatch(line)
        if match is None:
            raise damaged(path, f"line {number}")
        tag, begin_s, length_s, max_ms, payload = match.groups()
        times = (float(begin_s), float(length_s), float(max_ms))
        yield LogEntry(line, trial, tag, *times, payload, path, f"line {number}")


def log_lines(path: Path) -> Iterator[str]:
    """The lines of those entries and what stands between them. Raises RecordError as above."""
    run = RunDirectory(path.parent)
    require_intact_paths(run, [path])
    return settling_lines(path, ListedFiles.of(run).length(path.name))


def trial_mark(number: int) -> str:
    """The line after which entries are of this trial: a comment to other programs."""
    return f"#[Trial: {number}]"


def is_trial_mark(line: str) -> bool:
    """Whether `trial_mark` made the line."""
    return _TRIAL.fullmatch(line) is not None


def damaged(path: Path, place: str) -> RecordError:
    """The error for a line, or another place, that cannot be read."""
    return RecordError(
        f"{place} is damaged",
        where=str(path),
        remedy="restore the file from a copy of the run, or delete that line and its interval",
    )


def _check_size(payload: str) -> None:
    """Raise ValueError for more than any of ours has: the package inflates whatever there is."""
    packed = base64.b64decode(payload)[_HEADER_BYTES:]
    if len(zlib.decompressobj().decompress(packed, _MAX_BYTES + 1)) > _MAX_BYTES:
        raise ValueError("more than any histogram has")


def _layout(histogram: HdrHistogram) -> tuple[int, int, int]:
    return (
        histogram.lowest_trackable_value,
        histogram.highest_trackable_value,
        histogram.significant_figures,
    )


_NS_PER_MS = 1e6
_NS_PER_S = 1e9
# What a stream's histogram is of: "across-stalls" is latency that stalls of the tester may have
# made longer, as measured, "less-stalls" that of the same samples less the most by which they may.
StreamKind = Literal["latency", "across-stalls", "less-stalls", "lateness"]


@dataclass(frozen=True, slots=True)
class LoggedHistogram:
    """One interval of one tag, or one step of a minute.

    Times are UTC, in s since the epoch, values in ns. `max_ns` is the exact greatest value;
    the histogram has that of its bucket. `trial` is None in logs of earlier versions.
    """

    trial: int | None
    tag: str
    begin_s: float
    end_s: float
    histogram: HdrHistogram
    max_ns: int


@dataclass
class _Step:
    """The histograms of a step of time so far, by tag."""

    begin_s: float
    end_s: float
    sums: dict[str, HistogramSum] = field(default_factory=dict)


class HistogramLog(Closeable):
    """Appends the histograms of intervals; a resumed run goes on in the same file."""

    def __init__(self, path: Path) -> None:
        """Open for appending. Raises RecordError."""
        self._file = SettlingFile(path)
        self._steps = TimeSteps()
        self._step: _Step | None = None
        self._encoder = HdrEncoder()
        # The trial that has begun and has no entry yet.
        self._begun: int | None = None

    def begin_trial(self, number: int) -> None:
        """What is appended from here on is of this trial. Raises RecordError."""
        self.settle()
        self._begun = number

    def append(self, plans: Sequence[StreamPlan], interval: Interval) -> None:
        """Append every histogram that had samples in the interval.

        Latencies measured across a tester stall have a tag of their own. Raises RecordError.
        """
        if self._steps.begins_anew(interval):
            self.settle()
        end_s = interval.end_unix_ns / _NS_PER_S
        begin_s = end_s - (interval.end_s - interval.begin_s)
        if self._file.empty:
            self._file.append(_header(begin_s))
        if self._begun is not None:
            self._file.append([trial_mark(self._begun)])
            self._begun = None
        sampled = [(tag, each) for tag, each in _tagged(plans, interval) if each.count]
        lines = [self._line(tag, begin_s, end_s, histogram) for tag, histogram in sampled]
        if not self._steps.coarse(interval):
            self._file.append(lines)
            return
        self._file.hold(lines)
        self._add(sampled, begin_s, end_s)
        if self._steps.ends_with(interval):
            self.settle()

    def settle(self) -> None:
        """Write the open step, if there is one: its trial has ended. Raises RecordError."""
        self._steps.end()
        if self._step is not None:
            step = self._step
            self._file.settle(
                self._line(tag, step.begin_s, step.end_s, histogram.total)
                for tag, histogram in step.sums.items()
            )
            self._step = None

    def close(self) -> None:
        """Close the file; safe to repeat."""
        self._file.close()

    def _line(self, tag: str, begin_s: float, end_s: float, histogram: Histogram) -> str:
        # Not the package's own writer: it knows no tags and rounds the maximum down to whole ms.
        payload = self._encoder.encode(histogram)
        max_ms = (histogram.max_ns or 0) / _NS_PER_MS
        return f"Tag={tag},{begin_s:.3f},{end_s - begin_s:.3f},{max_ms:.6f},{payload}"

    def _add(self, sampled: Sequence[tuple[str, Histogram]], begin_s: float, end_s: float) -> None:
        if self._step is None:
            self._step = _Step(begin_s, end_s)
        self._step.end_s = end_s
        for tag, histogram in sampled:
            self._step.sums.setdefault(tag, HistogramSum()).add(histogram)


def stream_tag(name: str, tx_port: int, rx_port: int, kind: StreamKind = "latency") -> str:
    """The tag of a stream by its name and ports, without commas or spaces.

    Odd characters of the name are written as in a URL.
    """
    suffix = "" if kind == "latency" else f"+{kind}"
    return f"{quote(name, safe='/:')}@{direction_name(tx_port, rx_port)}{suffix}"


def gaps_tag(cpu: int) -> str:
    """The tag of a polling loop's gaps."""
    return f"polling-gaps@cpu-{cpu}"


def read_histogram_log(
    path: Path,
    *,
    begin_s: float = 0.0,
    end_s: float = float("inf"),
    trials: Collection[int] | None = None,
    takes: Callable[[str], bool] = lambda tag: True,
) -> Iterator[LoggedHistogram]:
    """The intervals of these trials (None: all) whose tag `takes` accepts, in the file's order.

    Of entries without a trial, as earlier versions wrote them, those that begin in
    [begin_s, end_s). Without a file there are none, and a torn last line is left out. Raises
    RecordError naming the line when a line is damaged.
    """
    for entry in log_entries(path):
        if entry.trial is not None and trials is not None:
            chosen = entry.trial in trials
        else:
            chosen = begin_s <= entry.begin_s < end_s
        if chosen and takes(entry.tag):
            times = (entry.begin_s, entry.end_s)
            max_ns = round(entry.max_ms * _NS_PER_MS)
            yield LoggedHistogram(entry.trial, entry.tag, *times, entry.decoded(), max_ns)


def _tagged(plans: Sequence[StreamPlan], interval: Interval) -> Iterator[tuple[str, Histogram]]:
    by_id = {plan.stream: plan for plan in plans}
    for counts in interval.streams:
        plan = by_id[counts.stream]
        stream = (plan.name, plan.tx_port, plan.rx_port)
        yield stream_tag(*stream), counts.latency
        yield stream_tag(*stream, "across-stalls"), counts.latency_across_stalls
        yield stream_tag(*stream, "less-stalls"), counts.latency_less_stalls
        yield stream_tag(*stream, "lateness"), counts.lateness
    for worker in interval.workers:
        yield gaps_tag(worker.cpu), worker.gaps


def _header(begin_s: float) -> list[str]:
    moment = datetime.fromtimestamp(begin_s, UTC).isoformat(sep=" ", timespec="milliseconds")
    return [
        "#[Logged by plimsoll; values in ns, Interval_Max in ms]",
        "#[Histogram log format version 1.3]",
        f"#[StartTime: {begin_s:.3f} (seconds since epoch), {moment}]",
        '"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"',
    ]


# Histograms as text, in HdrHistogram's compressed encoding (V2, base64).
class HdrEncoder:
    """Encodes one histogram after the other by one and the same object of the package.

    A new one each time would have its 4,000 counters allocated and laid out for each.
    """

    def __init__(self) -> None:
        self._hdr = empty_hdr()
        self._counts = self._hdr.encoder.get_counts()

    def encode(self, histogram: Histogram) -> str:
        """The text, as `HdrHistogram.decode` and HdrHistogram's Java tools read it."""
        fill_hdr(self._hdr, histogram)
        text: str = self._hdr.encode().decode("ascii")
        # The package's own reset sets one counter after the other.
        ctypes.memset(self._counts, 0, ctypes.sizeof(self._counts))
        return text
