"""The streams of the focus trial, and each trial by itself with every finding."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from plimsoll.host.cpus import format_cpu_list
from plimsoll.neighbours.neighbour import NeighbourRun
from plimsoll.record.trials.flow_summary import FlowSummary
from plimsoll.record.trials.stream_record import StreamRecord
from plimsoll.record.trials.trial_record import TrialRecord
from plimsoll.report.data.run_data import RunData
from plimsoll.report.data.times import LATENCY_COLUMNS, LATENESS_COLUMNS, cells, latency_cells
from plimsoll.report.figures.figure import Figure
from plimsoll.report.parts.finding_lines import FindingLine, finding_lines
from plimsoll.text.units import format_duration, format_number, format_pps, format_ratio


@dataclass(frozen=True, slots=True)
class NoiseLine:
    """One neighbour: what it was meant to do, where, and what it did."""

    name: str
    level: str
    place: str
    workers: int
    did: str
    cpu_time: str


def noise_lines(noise: Sequence[NeighbourRun]) -> tuple[NoiseLine, ...]:
    """One of each, in the experiment's order."""
    return tuple(
        NoiseLine(
            name=each.name,
            level=each.level or "as much as it can",
            place=_place(each),
            workers=each.workers,
            did=_did(each),
            cpu_time="" if each.cpu_s is None else format_duration(each.cpu_s),
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


STREAM_COLUMNS = ("p50", "p99", "p99.9", "max")
# Of those that lost most.
_SHOWN_FLOWS = 10


@dataclass(frozen=True, slots=True)
class TrialStream:
    """One stream: frames, and its latency in STREAM_COLUMNS."""

    name: str
    sent: int
    received: int
    lost: int
    loss: str
    latency: tuple[str, ...]
    flows: str | None = None


@dataclass(frozen=True, slots=True)
class TrialDetail:
    """A trial that unfolds. `figures` are its own charts; a `shown` trial's are in the page."""

    number: int
    title: str
    verdict: str
    findings: tuple[FindingLine, ...]
    streams: tuple[TrialStream, ...]
    figures: tuple[Figure, ...]
    shown: bool
    noise: tuple[NoiseLine, ...]


def trial_details(
    trials: Sequence[TrialRecord], figures: Mapping[int, tuple[Figure, ...]], shown: int | None
) -> tuple[TrialDetail, ...]:
    """All finished trials, by number."""
    return tuple(
        TrialDetail(
            number=trial.number,
            title=_title(trial),
            verdict=trial.verdict,
            findings=finding_lines(trial.findings),
            streams=tuple(map(_stream, trial.streams)),
            figures=figures.get(trial.number, ()),
            shown=trial.number == shown,
            noise=noise_lines(trial.noise),
        )
        for trial in trials
    )


def _title(trial: TrialRecord) -> str:
    load = f" at {format_pps(trial.load_pps)}" if trial.load_pps else ""
    return f"Trial {trial.number}: {trial.phase}{load}, {format_duration(trial.sending_s)}"


def _stream(stream: StreamRecord) -> TrialStream:
    return TrialStream(
        name=stream.name,
        sent=stream.sent,
        received=stream.received,
        lost=stream.lost,
        loss="-" if stream.loss_ratio is None else format_ratio(stream.loss_ratio),
        latency=latency_cells(stream, STREAM_COLUMNS),
        flows=None if stream.flows is None else _flows(stream.name, stream.flows),
    )


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
