"""The streams of the focus trial: frames, latency and lateness, and each microsecond's frames."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from plimsoll.record.trials.stream_record import StreamRecord
from plimsoll.report.data.run_data import RunData
from plimsoll.report.data.times import LATENCY_COLUMNS, LATENESS_COLUMNS, cells, latency_cells
from plimsoll.text.units import format_number, format_pps, format_ratio

_LAST_US = 1000


@dataclass(frozen=True, slots=True)
class MicrosecondLine:
    """How many frames took so many whole µs, and the share of all that took no longer."""

    microseconds: str
    frames: int
    percentile: str


@dataclass(frozen=True, slots=True)
class StreamLine:
    """One stream of the focus trial: frames; latency and lateness in words."""

    name: str
    role: str
    sizes: str
    pace: str
    sent: int
    received: int
    lost: int
    loss: str
    out_of_order: int
    duplicate: int
    corrupt: int
    timed_out: int
    unsent: int
    samples: int
    latency: tuple[str, ...]
    lateness: tuple[str, ...]
    by_microsecond: tuple[MicrosecondLine, ...]


def stream_lines(data: RunData) -> tuple[StreamLine, ...]:
    """The streams of the focus trial."""
    return tuple(_line(stream) for stream in (data.focus.streams if data.focus else ()))


def sharing_note(data: RunData) -> str:
    """What two probes in flight by one polling loop do to each other; else nothing.

    The record does not say which loop has which stream: with more of them than loops,
    some loop must have two.
    """
    if data.focus is None:
        return ""
    waiting = [
        stream
        for stream in data.focus.streams
        if stream.role == "latency" and stream.pacing == "one-in-flight"
    ]
    if len(waiting) <= len(data.focus.workers):
        return ""
    cpus = ", ".join(str(worker.cpu) for worker in data.focus.workers)
    names = ", ".join(stream.name for stream in waiting)
    return (
        f"The one-in-flight latencies of {names} are not independent: these streams share "
        f"CPU {cpus}, and a polling loop that sends for one does not look for the other, so a "
        "latency includes the other stream's call to send."
    )


def _line(stream: StreamRecord) -> StreamLine:
    return StreamLine(
        name=stream.name,
        role=stream.role,
        sizes=_sizes(stream),
        pace=_pace(stream),
        sent=stream.sent,
        received=stream.received,
        lost=stream.lost,
        loss="-" if stream.loss_ratio is None else format_ratio(stream.loss_ratio),
        out_of_order=stream.out_of_order,
        duplicate=stream.duplicate,
        corrupt=stream.corrupt,
        timed_out=stream.timed_out,
        unsent=stream.skipped + stream.no_buffer,
        samples=stream.latency_ends[1].count,
        latency=latency_cells(stream, LATENCY_COLUMNS),
        lateness=cells(stream.lateness, LATENESS_COLUMNS),
        by_microsecond=tuple(_microseconds(stream)),
    )


def _sizes(stream: StreamRecord) -> str:
    """ "64", or sizes with their weights: "64, 594, 1518 at 7:4:1"."""
    sizes = ", ".join(str(each.size) for each in stream.frame_sizes)
    if len(stream.frame_sizes) == 1:
        return sizes
    return f"{sizes} at {':'.join(str(each.weight) for each in stream.frame_sizes)}"


def _pace(stream: StreamRecord) -> str:
    kind = "" if stream.pacing == "constant" else stream.pacing.replace("-", " ")
    rate = "" if stream.planned_pps is None else format_pps(stream.planned_pps)
    if stream.captured_pps is not None and stream.planned_pps is not None:
        kind += f" at {stream.planned_pps / stream.captured_pps:.4g}x its own speed"
    return ", ".join(part for part in (rate, kind) if part)


def _microseconds(stream: StreamRecord) -> Iterator[MicrosecondLine]:
    total, seen = sum(frames for _, frames in stream.latency_us), 0
    for us, frames in stream.latency_us:
        seen += frames
        name = f"{us:,}" if us < _LAST_US else f"{us:,} and more"
        yield MicrosecondLine(name, frames, f"{format_number(100 * seen / total, 6)} %")
