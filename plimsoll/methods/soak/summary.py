"""A soak summed up from its run directory, be it finished, killed or still running."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from heapq import nlargest
from itertools import combinations
from statistics import median
from typing import Any, Literal

from plimsoll.benchmark.session.session import recorded_settings, versions
from plimsoll.benchmark.whole_run.diagnosis import dut_agreement_of
from plimsoll.methods.soak.result import (
    LatencySpike,
    SeriesDrift,
    SoakLosses,
    SoakLossEvent,
    SoakResult,
    SoakSegment,
    SoakSpikes,
    SoakTester,
    SoakWindows,
)
from plimsoll.methods.soak.series import (
    MAX,
    P50,
    P99,
    PHASE,
    RX,
    SoakSeries,
    begins_of,
    segments_of,
    soak_series,
    windows_of,
)
from plimsoll.methods.soak.settings import SoakSettings
from plimsoll.methods.soak.verdict import end_of, notes_of, verdict_of
from plimsoll.record.causes.spikes import Spike, read_spikes
from plimsoll.record.results.load_line import events_per_hour_below
from plimsoll.record.results.method_result import counts_of, invalid_reasons
from plimsoll.record.run.environment import load_environment
from plimsoll.record.run.journal import TRIAL_STARTED, JournalContents, read_journal
from plimsoll.record.run.result_file import read_run_result
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.record.trials.trial_record import TrialRecord
from plimsoll.record.trials.window_record import WindowRecord, WindowVerdict
from plimsoll.text.units import format_duration, format_ns, format_pps, format_ratio

TYPES = (RX, P50, P99)
# 19,900 pairs: some 20 ms.
POINTS = 200
_MIN_POINTS = 8
# Of a soak that is too short for hours.
_SHARES = 8
_HOUR_S = 3600.0
_KINDS: dict[str, Literal["rate", "p50", "p99"]] = {RX: "rate", P50: "p50", P99: "p99"}
# Two-sided 95 % of the normal distribution.
_Z_95 = 1.96
# Quantiles are known to 0.78 % (the histogram's buckets); counted frames are exact, and a
# second's count moves by a few as the second's end falls.
_RESOLUTION = {"rate": 0.001, "p50": 0.01, "p99": 0.01}
_LARGEST_EVENTS = 100
# In those that are undecided, a latency is all that is open.
_LOSSES_JUDGED = ("pass", "fail", "undecided")
# Of the usual worst latency of an interval. It varies by half or so in a steady queue, and
# a spike should be something that is worth looking up in a trace.
FACTOR = 5.0
_SHOWN = 20


def read_soak_result(run: RunDirectory) -> SoakResult | None:
    """The soak's result; None while there is none. Raises RecordError."""
    return read_run_result(run, SoakResult)


def summarise_soak(run: RunDirectory) -> SoakResult:
    """What the record says of the soak so far. Raises RecordError and InputError."""
    history = read_journal(run.journal)
    settings = SoakSettings.recorded(recorded_settings(history), str(run.journal))
    experiment = run.read_experiment()
    segments, windows = segments_of(history), windows_of(history)
    trials = [trial for trial in history.trials() if trial.phase == PHASE]
    counts = _windows(windows, settings)
    losses = losses_of(windows, begins_of(segments))
    series = soak_series(run, segments, (*TYPES, MAX), POINTS)
    ended = end_of(history, segments, settings)
    verdict = verdict_of(windows, segments, settings.undecided)
    return SoakResult(
        run_id=run.run_id,
        name=str(experiment.get("name") or run.run_id),
        quick=False,
        shortfalls=(),
        notes=notes_of(verdict, ended, counts, losses, segments),
        trials=counts_of(history.trials()),
        invalid_reasons=invalid_reasons(trials),
        versions=_versions(run),
        load=str(settings.load),
        load_pps=_load_pps(history),
        offered_pps=_offered_pps(trials),
        requested_s=settings.duration_s,
        sent_s=sum(segment.sending_s for segment in segments),
        ended=ended,
        verdict=verdict,
        criteria=_criteria(experiment),
        windows=counts,
        segments=segments,
        losses=losses,
        drift=drifts_of(series),
        spikes=spikes_of(read_spikes(run), series, segments),
        tester=_tester(windows),
        dut_agreement=dut_agreement_of(trials),
    )


def _versions(run: RunDirectory) -> dict[str, str | None]:
    """Those that the environment names, the engine's among them; our own before it is known."""
    environment = load_environment(run.environment)
    return dict(environment.versions) if environment else versions(None)


def _windows(windows: Sequence[WindowRecord], settings: SoakSettings) -> SoakWindows:
    return SoakWindows(
        window_s=settings.window_s,
        passed=_count(windows, "pass"),
        failed=_count(windows, "fail"),
        invalid=_count(windows, "invalid"),
        unjudged=_count(windows, "none"),
        passed_s=_seconds(windows, "pass"),
        failed_s=_seconds(windows, "fail"),
        invalid_s=_seconds(windows, "invalid"),
        undecided=_count(windows, "undecided"),
        undecided_s=_seconds(windows, "undecided"),
        undecided_limit=settings.undecided,
    )


def _count(windows: Sequence[WindowRecord], verdict: WindowVerdict) -> int:
    return sum(window.verdict == verdict for window in windows)


def _seconds(windows: Sequence[WindowRecord], verdict: WindowVerdict) -> float:
    return sum(window.sending_s for window in windows if window.verdict == verdict)


def _tester(windows: Sequence[WindowRecord]) -> SoakTester:
    return SoakTester(
        stalls=sum(window.stalls for window in windows),
        worst_stall_ns=max((window.worst_stall_ns for window in windows), default=0),
        worst_stalled_share=max((window.stalled_share for window in windows), default=0.0),
    )


def _load_pps(history: JournalContents) -> float:
    """As the last of the soak's trials was started; 0 before any was."""
    loads = [
        event.fields.get("load_pps")
        for event in history.of_kind(TRIAL_STARTED)
        if event.fields.get("phase") == PHASE
    ]
    known = [float(load) for load in loads if isinstance(load, int | float)]
    return known[-1] if known else 0.0


def _offered_pps(trials: Sequence[TrialRecord]) -> float | None:
    """Of the segments that ended, each as long as it sent."""
    known = [(each.offered_pps, each.sending_s) for each in trials if each.offered_pps is not None]
    sent_s = math.fsum(seconds for _, seconds in known)
    return math.fsum(pps * seconds for pps, seconds in known) / sent_s if sent_s > 0 else None


def _criteria(experiment: Mapping[str, Any]) -> tuple[dict[str, Any], ...]:
    criteria = experiment.get("criteria")
    entries = criteria if isinstance(criteria, list) else []
    return tuple(dict(entry) for entry in entries if isinstance(entry, dict))


# Whether a soak ended as it began: rate and latency, first against last.
def drifts_of(series: Sequence[SoakSeries]) -> tuple[SeriesDrift, ...]:
    """The drift of each series that is long enough to tell."""
    drifts = (_drift(each) for each in series if each.type in _KINDS)
    return tuple(each for each in drifts if each is not None)


def _drift(series: SoakSeries) -> SeriesDrift | None:
    points = [(each.at_s, each.median) for each in series.stretches]
    if len(points) < _MIN_POINTS:
        return None
    kind = _KINDS[series.type]
    length_s = points[-1][0] - points[0][0]
    # The first against the last hour; of a shorter soak, against the last eighth.
    span_s = min(_HOUR_S, length_s / _SHARES)
    first = median(value for at_s, value in points if at_s <= points[0][0] + span_s)
    last = median(value for at_s, value in points if at_s >= points[-1][0] - span_s)
    slope, low, high = (each * _HOUR_S for each in _theil_sen_95(points))
    moved = abs(last - first) > _RESOLUTION[kind] * abs(first)
    drift = SeriesDrift(
        of=series.of,
        kind=kind,
        unit="pps" if kind == "rate" else "us",
        span_s=span_s,
        first=first,
        last=last,
        slope_per_hour=slope,
        slope_low=low,
        slope_high=high,
        drifts=(low > 0 or high < 0) and moved,
        text="",
    )
    return drift.model_copy(update={"text": _text(drift)})


def _theil_sen_95(points: Sequence[tuple[float, float]]) -> tuple[float, float, float]:
    """The median slope of all pairs, per s, and its 95 % interval (Sen 1968, by Kendall)."""
    # Two trials may meet in one stretch, and have no slope between them.
    slopes = sorted(
        (y2 - y1) / (x2 - x1) for (x1, y1), (x2, y2) in combinations(points, 2) if x1 != x2
    )
    count, pairs = len(points), len(slopes)
    spread = _Z_95 * math.sqrt(count * (count - 1) * (2 * count + 5) / 18)
    # The slope below which so many lie, rounded outwards, and its counterpart from above.
    low = max(0, math.floor((pairs - spread) / 2) - 1)
    return median(slopes), slopes[low], slopes[pairs - 1 - low]


def _text(drift: SeriesDrift) -> str:
    kind, span = drift.kind, format_duration(drift.span_s)
    what = f"received rate of {drift.of}" if kind == "rate" else f"{kind} latency of {drift.of}"
    first, last = _value(kind, drift.first), _value(kind, drift.last)
    if not drift.drifts:
        return f"The {what} did not drift: {first} in the first {span}, {last} in the last."
    way = "rose" if drift.last > drift.first else "fell"
    by = format_ratio(abs(drift.last - drift.first) / drift.first) if drift.first else "all of it"
    text = f"The {what} {way} from {first} in the first {span} to {last} in the last, by {by}"
    if drift.span_s * _SHARES < _HOUR_S:
        # Too short to extrapolate to an hour.
        return f"{text}."
    return f"{text}; {_value(kind, abs(drift.slope_per_hour))} an hour."


def _value(kind: str, value: float) -> str:
    return format_pps(value) if kind == "rate" else format_ns(value * 1e3)


# When a soak lost frames, how many, and what it means that it lost none.
def losses_of(windows: Sequence[WindowRecord], begins_s: Mapping[int, float]) -> SoakLosses:
    """The losses of all windows; `begins_s` is when each trial began, since the first one did."""
    events = _events(windows, begins_s)
    kept = sum(len(window.losses) for window in windows)
    # Those that the windows have not kept, and one less for each that crosses a border.
    event_count = sum(window.loss_events for window in windows) - kept + len(events)
    largest = nlargest(_LARGEST_EVENTS, events, key=lambda event: event.frames)
    frames = sum(window.lost for window in windows)
    judged_s = sum(window.sending_s for window in windows if window.verdict in _LOSSES_JUDGED)
    lossless = not frames and judged_s > 0
    return SoakLosses(
        frames=frames,
        event_count=event_count,
        events=tuple(sorted(largest, key=lambda event: event.at_s)),
        no_loss_s=judged_s if lossless else None,
        events_per_hour_below=events_per_hour_below(judged_s) if lossless else None,
    )


def _events(windows: Sequence[WindowRecord], begins_s: Mapping[int, float]) -> list[SoakLossEvent]:
    """The events that the windows have kept; those that touch at a border are one."""
    events: list[SoakLossEvent] = []
    for window in windows:
        for loss in window.losses:
            event = SoakLossEvent(
                trial=window.trial,
                at_s=begins_s[window.trial] + loss.begin_s,
                length_s=loss.end_s - loss.begin_s,
                frames=loss.frames,
            )
            if events and _adjacent(events[-1], event):
                event = _joined(events.pop(), event)
            events.append(event)
    return events


def _adjacent(one: SoakLossEvent, other: SoakLossEvent) -> bool:
    # Ends and begins are the same times; only adding them up rounds.
    touching = math.isclose(one.at_s + one.length_s, other.at_s, abs_tol=1e-6)
    return one.trial == other.trial and touching


def _joined(one: SoakLossEvent, other: SoakLossEvent) -> SoakLossEvent:
    return SoakLossEvent(
        trial=one.trial,
        at_s=one.at_s,
        length_s=other.at_s + other.length_s - one.at_s,
        frames=one.frames + other.frames,
    )


# Latencies of a soak that stand out, with their times and their cause where it is known.
def spikes_of(
    spikes: Sequence[Spike],
    series: Sequence[SoakSeries],
    segments: Sequence[SoakSegment],
) -> SoakSpikes:
    """The spikes in these trials against what is usual by `series`."""
    begins_s = begins_of(segments)
    # When the soak began by each trial's own clock.
    zeros_ms = {s.trial: s.begin_unix_ns / 1e6 - begins_s[s.trial] * 1e3 for s in segments}
    usual_ns = {
        each.of: median(stretch.median for stretch in each.stretches) * 1e3
        for each in series
        if each.type == MAX
    }
    found = [
        _spike(spike, zeros_ms[spike.trial])
        for spike in spikes
        if spike.trial in zeros_ms and _stands_out(spike, usual_ns)
    ]
    counts = Counter(spike.cause for spike in found)
    worst = [
        spike
        for cause in counts
        for spike in nlargest(_SHOWN, (s for s in found if s.cause == cause), key=_latency_ns)
    ]
    return SoakSpikes(
        factor=FACTOR,
        usual_ns=usual_ns,
        counts=dict(counts),
        worst=tuple(sorted(worst, key=lambda spike: spike.at_s)),
    )


def _stands_out(spike: Spike, usual_ns: Mapping[str, float]) -> bool:
    usual = usual_ns.get(spike.stream or "")
    return spike.kind == "latency" and usual is not None and spike.length_ns > FACTOR * usual


def _spike(spike: Spike, zero_ms: float) -> LatencySpike:
    return LatencySpike(
        trial=spike.trial,
        at_s=(spike.begin_ms - zero_ms) / 1e3,
        stream=spike.stream or "",
        latency_ns=spike.length_ns,
        cause=spike.attribution,
    )


def _latency_ns(spike: LatencySpike) -> int:
    return spike.latency_ns
