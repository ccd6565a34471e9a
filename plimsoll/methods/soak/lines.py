"""The tables of a soak's page, in words."""

from __future__ import annotations

from dataclasses import dataclass

from plimsoll.methods.soak.data import SoakData
from plimsoll.methods.soak.result import SoakSegment
from plimsoll.record.trials.window_record import WindowRecord
from plimsoll.report.data.times import nanoseconds, slowest_cell
from plimsoll.text.units import (
    format_duration,
    format_ns,
    format_number,
    format_pps,
    format_ratio,
)


@dataclass(frozen=True, slots=True)
class WindowLine:
    """One window; its latency is that of the worst probe."""

    number: int
    begin: str
    end: str
    verdict: str
    lost: int
    loss: str
    p50: str
    p99: str
    worst: str
    stall: str
    reason: str


@dataclass(frozen=True, slots=True)
class TimedLine:
    """Something that happened at a time: how much, and what is known of it."""

    at: str
    much: str
    what: str


@dataclass(frozen=True, slots=True)
class SegmentLine:
    """One trial of a soak that was resumed."""

    trial: int
    gap: str
    length: str
    windows: int
    verdict: str
    reason: str


@dataclass(frozen=True, slots=True)
class DriftLine:
    """First against last, and the slope with its 95 % interval."""

    what: str
    first: str
    last: str
    slope: str
    text: str


def window_lines(data: SoakData) -> tuple[WindowLine, ...]:
    """All windows by time, numbered through all trials."""
    return tuple(_window(data, n, each) for n, each in enumerate(data.windows, start=1))


def loss_lines(data: SoakData) -> tuple[TimedLine, ...]:
    """The largest loss events by time."""
    return tuple(
        TimedLine(elapsed(each.at_s), f"{each.frames:,}", format_duration(each.length_s))
        for each in data.result.losses.events
    )


def spike_lines(data: SoakData) -> tuple[TimedLine, ...]:
    """The worst spikes by time."""
    return tuple(
        TimedLine(elapsed(each.at_s), format_ns(each.latency_ns), f"{each.stream}: {each.cause}")
        for each in data.result.spikes.worst
    )


def segment_lines(data: SoakData) -> tuple[SegmentLine, ...]:
    """The trials of the soak."""
    return tuple(_segment(each) for each in data.result.segments)


def drift_lines(data: SoakData) -> tuple[DriftLine, ...]:
    """Each series that was recorded."""
    lines = []
    for each in data.result.drift:
        rate = each.kind == "rate"
        show = format_pps if rate else _microseconds
        slope, low, high = (
            format_number(value) for value in (each.slope_per_hour, each.slope_low, each.slope_high)
        )
        unit = "pps" if rate else "µs"
        lines.append(
            DriftLine(
                what=f"received rate, {each.of}" if rate else f"{each.kind}, {each.of}",
                first=show(each.first),
                last=show(each.last),
                slope=f"{slope} {unit}/h ({low} to {high})",
                text=each.text,
            )
        )
    return tuple(lines)


def elapsed(at_s: float) -> str:
    """A time since the start, as h:mm:ss.s."""
    tenths = round(at_s * 10)
    hours, rest = divmod(tenths, 36_000)
    minutes, seconds = divmod(rest, 600)
    return f"{hours}:{minutes:02d}:{seconds / 10:04.1f}"


def _window(data: SoakData, number: int, window: WindowRecord) -> WindowLine:
    begin_s = data.begins_s[window.trial]
    probes = [each for each in window.streams if each.name in data.probes]
    ratios = [each.loss_ratio for each in window.streams if each.loss_ratio is not None]
    return WindowLine(
        number=number,
        begin=elapsed(begin_s + window.begin_s),
        end=elapsed(begin_s + window.end_s),
        verdict=window.verdict,
        lost=sum(each.lost for each in window.streams),
        loss=format_ratio(max(ratios, default=0.0)),
        p50=slowest_cell(probes, "p50_ns"),
        p99=slowest_cell(probes, "p99_ns"),
        worst=slowest_cell(probes, "max_ns"),
        stall=nanoseconds(window.worst_stall_ns or None),
        reason="; ".join(dict.fromkeys(each.text for each in window.reasons)),
    )


def _segment(segment: SoakSegment) -> SegmentLine:
    reasons = dict.fromkeys(each.text for each in segment.reasons)
    return SegmentLine(
        trial=segment.trial,
        gap=format_duration(segment.gap_s) if segment.gap_s else "-",
        length=format_duration(segment.sending_s),
        windows=segment.windows,
        verdict="unfinished" if segment.verdict == "none" else segment.verdict,
        reason="; ".join(reasons) or ("killed or running" if segment.verdict == "none" else ""),
    )


def _microseconds(value: float) -> str:
    return format_ns(value * 1e3)
