"""Each trial by itself: its verdict with every finding, its streams, the names of its charts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from plimsoll.record.trials.flow_summary import FlowSummary
from plimsoll.record.trials.stream_record import StreamRecord
from plimsoll.record.trials.trial_record import TrialRecord
from plimsoll.report.data.times import latency_cells
from plimsoll.report.figures.figure import Figure
from plimsoll.report.parts.finding_lines import FindingLine, finding_lines
from plimsoll.report.parts.noise_lines import NoiseLine, noise_lines
from plimsoll.text.units import format_duration, format_pps, format_ratio

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
