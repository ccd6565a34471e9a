"""The streams of the focus trial, and each trial by itself with every finding."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from plimsoll.host.cpus import format_cpu_list
from plimsoll.neighbours.neighbour import NeighbourRun
from plimsoll.record.trials.flow_summary import FlowSummary
from plimsoll.record.trials.stream_record import StreamRecord
from plimsoll.record.trials.trial_record import TrialRecord
from plimsoll.report.data.run_data import RunData
from plimsoll.report.data.times import (
    LATENCY_COLUMNS,
    LATENESS_COLUMNS,
    bounded_cells,
    cells,
    latency_columns,
    time_columns,
)
from plimsoll.report.figures.figure import Figure
from plimsoll.report.figures.table import (
    Cell,
    Cells,
    ReportColumn,
    ReportTable,
    count,
    number,
    ratio,
    sentence,
    text,
)
from plimsoll.report.parts.finding_lines import finding_lines, findings_table
from plimsoll.text.plain_text import slug
from plimsoll.text.units import format_duration, format_number, format_pps, format_ratio

NOISE_COLUMNS = (
    sentence("neighbour", "Noise"),
    text("level", "Meant to do"),
    text("place", "Where"),
    count("workers", "Workers"),
    ReportColumn(("did", "unit"), "Did"),
    ReportColumn(("cpu_s",), "CPU time", format_duration, missing=""),
)


def noise_cells(noise: Sequence[NeighbourRun]) -> tuple[Cells, ...]:
    """A row of NOISE_COLUMNS for each neighbour, in the experiment's order."""
    return tuple(
        (
            each.name,
            each.level or "as much as it can",
            _place(each),
            each.workers,
            Cell((each.intensity, each.unit), _did(each)),
            each.cpu_s,
        )
        for each in noise
    )


def _place(neighbour: NeighbourRun) -> str:
    places = [f"CPU {format_cpu_list(neighbour.cpus)}"] if neighbour.cpus else []
    places += [f"cgroup {neighbour.cgroup}"] if neighbour.cgroup else []
    return ", ".join(places)


def _did(neighbour: NeighbourRun) -> str:
    if neighbour.ended_early is not None:
        return f"{neighbour.ended_early} before the trial was over"
    if neighbour.intensity is None:
        return f"not known: {neighbour.unknown}"
    if neighbour.unit == "B/s":
        return f"{format_number(neighbour.intensity / 1e6)} MB/s"
    return f"{format_number(neighbour.intensity)} {neighbour.unit}"


_STREAM_COLUMNS = ("p50", "p99", "p99.9", "max")
# Of those that lost most.
_SHOWN_FLOWS = 10


@dataclass(frozen=True, slots=True)
class TrialDetail:
    """A trial that unfolds. `figures` are its own charts; a `shown` trial's are in the page.

    `flows` are sentences on the flows of its streams. Tables without rows are not shown.
    """

    number: int
    title: str
    verdict: str
    streams: ReportTable
    flows: tuple[str, ...]
    noise: ReportTable
    findings: ReportTable
    figures: tuple[Figure, ...]
    shown: bool


def trial_details(
    trials: Sequence[TrialRecord], figures: Mapping[int, tuple[Figure, ...]], shown: int | None
) -> tuple[TrialDetail, ...]:
    """All finished trials, by number."""
    return tuple(
        TrialDetail(
            number=trial.number,
            title=_title(trial),
            verdict=trial.verdict,
            streams=_streams(trial),
            flows=tuple(_flows(each.name, each.flows) for each in trial.streams if each.flows),
            noise=ReportTable(
                f"trial-{trial.number}-noise",
                NOISE_COLUMNS,
                noise_cells(trial.noise),
                f"Noise of trial {trial.number}",
            ),
            findings=findings_table(
                finding_lines(trial.findings), f"trial-{trial.number}-findings"
            ),
            figures=figures.get(trial.number, ()),
            shown=trial.number == shown,
        )
        for trial in trials
    )


def _title(trial: TrialRecord) -> str:
    load = f" at {format_pps(trial.load_pps)}" if trial.load_pps else ""
    return f"Trial {trial.number}: {trial.phase}{load}, {format_duration(trial.sending_s)}"


def _streams(trial: TrialRecord) -> ReportTable:
    columns = (
        text("stream", "Stream"),
        count("sent_frames", "Sent"),
        count("received_frames", "Received"),
        count("lost_frames", "Lost"),
        ratio("loss_ratio", "Loss ratio"),
        *latency_columns(_STREAM_COLUMNS),
    )
    rows = tuple(
        (
            stream.name,
            stream.sent,
            stream.received,
            stream.lost,
            stream.loss_ratio,
            *bounded_cells(stream, _STREAM_COLUMNS),
        )
        for stream in trial.streams
    )
    title = f"Streams of trial {trial.number}"
    return ReportTable(f"trial-{trial.number}-streams", columns, rows, title)


def _flows(stream: str, flows: FlowSummary) -> str:
    if not flows.lossy:
        return f"{stream}: none of its {flows.flows:,} flows lost a frame."
    worst = "; ".join(
        f"{each.name}: {each.lost:,} of {each.sent:,}" for each in flows.worst[:_SHOWN_FLOWS]
    )
    rest = flows.lossy - min(flows.lossy, _SHOWN_FLOWS)
    more = f"; and {rest:,} more" if rest else ""
    return (
        f"{stream}: {flows.lossy:,} of {flows.flows:,} flows lost frames, {flows.unseen:,} of them "
        f"all that were sent. Lost most: {worst}{more}."
    )


_LAST_US = 1000


def tables_of_streams(data: RunData) -> StreamTables | None:
    """Of the focus trial; None before one has ended."""
    if data.focus is None:
        return None
    streams = data.focus.streams
    return StreamTables(
        frames=_frames(streams),
        latency=_latency(streams),
        lateness=_lateness(streams),
        by_microsecond=tuple(_by_microsecond(each) for each in streams if each.latency_us),
    )


@dataclass(frozen=True, slots=True)
class StreamTables:
    """The streams of one trial: their frames, latency and lateness, and latency by microsecond.

    `by_microsecond` has a table for each stream whose frames were counted so, named by it.
    """

    frames: ReportTable
    latency: ReportTable
    lateness: ReportTable
    by_microsecond: tuple[ReportTable, ...]


def _frames(streams: Sequence[StreamRecord]) -> ReportTable:
    columns = (
        text("stream", "Stream"),
        text("role", "Role"),
        ReportColumn(("frame_size_bytes",), "Frame, B"),
        ReportColumn(("planned_pps",), "Pace"),
        count("sent_frames", "Sent"),
        count("unsent_frames", "Not sent"),
        count("received_frames", "Received"),
        ReportColumn(("lost_frames", "loss_ratio"), "Lost"),
        count("timed_out_frames", "Timed out"),
        count("out_of_order_frames", "Out of order"),
        count("duplicate_frames", "Duplicates"),
        count("corrupt_frames", "Corrupt"),
    )
    rows = tuple(
        (
            stream.name,
            stream.role,
            _sizes(stream),
            Cell((stream.planned_pps,), _pace(stream)),
            stream.sent,
            stream.skipped + stream.no_buffer,
            stream.received,
            Cell((stream.lost, stream.loss_ratio), _lost(stream)),
            stream.timed_out,
            stream.out_of_order,
            stream.duplicate,
            stream.corrupt,
        )
        for stream in streams
    )
    return ReportTable("frames", columns, rows, "Frames of each stream")


def _lost(stream: StreamRecord) -> str:
    share = "-" if stream.loss_ratio is None else format_ratio(stream.loss_ratio)
    return f"{stream.lost:,} ({share})"


def _latency(streams: Sequence[StreamRecord]) -> ReportTable:
    columns = (
        text("stream", "Stream"),
        text("role", "Role"),
        count("samples", "Samples"),
        *latency_columns(LATENCY_COLUMNS),
    )
    rows: tuple[Cells, ...] = tuple(
        (
            stream.name,
            stream.role,
            stream.latency_ends[1].count,
            *bounded_cells(stream, LATENCY_COLUMNS),
        )
        for stream in streams
    )
    return ReportTable("latency", columns, rows, "Latency of each stream")


def _lateness(streams: Sequence[StreamRecord]) -> ReportTable:
    columns = (text("stream", "Stream"), *time_columns(LATENESS_COLUMNS, "late"))
    rows: tuple[Cells, ...] = tuple(
        (each.name, *cells(each.lateness, LATENESS_COLUMNS)) for each in streams
    )
    return ReportTable("lateness", columns, rows, "Lateness of each stream")


def _by_microsecond(stream: StreamRecord) -> ReportTable:
    """How many frames took so many whole µs, and the share of all that took no longer."""
    columns = (
        number("latency_us", "Microseconds", _bucket),
        count("frames", "Frames"),
        number("percentile", "Percentile", lambda share: f"{format_number(share, 6)} %"),
    )
    total = sum(frames for _, frames in stream.latency_us)
    seen = accumulate(frames for _, frames in stream.latency_us)
    rows: tuple[Cells, ...] = tuple(
        (us, frames, 100 * below / total)
        for (us, frames), below in zip(stream.latency_us, seen, strict=True)
    )
    name = f"by-microsecond-{slug(stream.name)}"
    return ReportTable(name, columns, rows, stream.name, style="", narrow=True)


def _bucket(us: int) -> str:
    return f"{us:,}" if us < _LAST_US else f"{us:,} and more"


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
