"""The trials that a soak is made of, and its series, reduced to the points requested."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from plimsoll.methods.soak.result import SoakSegment
from plimsoll.record.metrics.metrics import query_metrics
from plimsoll.record.run.environment import SentTime, pause_s
from plimsoll.record.run.journal import TRIAL_STARTED, WINDOW, JournalContents
from plimsoll.record.run.run_directory import RunDirectory, trial_period
from plimsoll.record.trials.trial_record import TrialRecord
from plimsoll.record.trials.window_record import WindowRecord

PHASE = "soak"


def windows_of(history: JournalContents) -> tuple[WindowRecord, ...]:
    """The windows of all trials, in order. Raises ValueError for those of another version."""
    return tuple(
        WindowRecord.model_validate(event.fields.get("window")) for event in history.of_kind(WINDOW)
    )


def segments_of(history: JournalContents) -> tuple[SoakSegment, ...]:
    """The soak's trials, in order, finished or not."""
    windows = windows_of(history)
    finished = {trial.number: trial for trial in history.trials()}
    segments: list[SoakSegment] = []
    earlier: SentTime | None = None
    for event in history.of_kind(TRIAL_STARTED):
        number = event.fields.get("number")
        if event.fields.get("phase") != PHASE or not isinstance(number, int):
            continue
        own = [window for window in windows if window.trial == number]
        begin_unix_ns = own[0].begin_unix_ns if own else event.at_unix_ns
        segment = _segment(number, begin_unix_ns, finished.get(number), own)
        time = SentTime(event, segment.begin_unix_ns, segment.sending_s)
        segments.append(segment.model_copy(update={"gap_s": pause_s(earlier, time)}))
        earlier = time
    return tuple(segments)


def begins_of(segments: Sequence[SoakSegment]) -> dict[int, float]:
    """By trial, when it began, in s since the first one did.

    By what was sent and the gaps between, and not by the clock: one that was set back between
    two sessions must not lay one trial over another.
    """
    begins_s: dict[int, float] = {}
    end_s = 0.0
    for segment in segments:
        begins_s[segment.trial] = end_s + segment.gap_s
        end_s = begins_s[segment.trial] + segment.sending_s
    return begins_s


def _segment(
    number: int,
    begin_unix_ns: int,
    trial: TrialRecord | None,
    windows: list[WindowRecord],
) -> SoakSegment:
    begin_unix_ns = trial.begin_unix_ns if trial else begin_unix_ns
    sending_s = trial.sending_s if trial else sum(window.sending_s for window in windows)
    return SoakSegment(
        trial=number,
        begin_unix_ns=begin_unix_ns,
        gap_s=0.0,
        sending_s=sending_s,
        windows=len(windows),
        verdict=trial.verdict if trial else "none",
        reasons=trial.reasons if trial else (),
        streams=trial.streams if trial else (),
    )


RX, LOST = "rx-pps", "lost-rx-pps"
P50, P99, MAX = "p50-round-trip-usec", "p99-round-trip-usec", "max-round-trip-usec"
# Medians, least and greatest of each stretch of `width` ms; the drain's rows are left out.
_STATEMENT = """
SELECT type, coalesce(names['stream'], names['tx_port'] || ' → ' || names['rx_port']) AS of,
       (begin_ms - ?) // ? AS stretch, median(value), min(value), max(value), count(*)
FROM rows
WHERE list_contains(?, type) AND (begin_ms + end_ms) / 2 < ?
GROUP BY ALL ORDER BY type, of, stretch
"""


@dataclass(frozen=True, slots=True)
class SeriesStretch:
    """A stretch of a series in one trial: its middle in s since the soak's first frame."""

    trial: int
    at_s: float
    median: float
    least: float
    greatest: float
    values: int


@dataclass(frozen=True, slots=True)
class SoakSeries:
    """One metric `type` of one stream, or of one direction as "0 → 1", by time."""

    type: str
    of: str
    stretches: tuple[SeriesStretch, ...]


def soak_series(
    run: RunDirectory, segments: Sequence[SoakSegment], types: Sequence[str], stretches: int
) -> tuple[SoakSeries, ...]:
    """The series of these types, each in at most about so many stretches.

    Rates are in pps, latencies in µs. Raises RecordError.
    """
    if not segments:
        return ()
    begins_s = begins_of(segments)
    length_s = begins_s[segments[-1].trial] + segments[-1].sending_s
    # Whole seconds: intervals that a stretch cuts would make it seem unsteady.
    width_s = max(1, round(length_s / stretches))
    found: dict[tuple[str, str], list[SeriesStretch]] = {}
    for segment in segments:
        begin_ms = segment.begin_unix_ns / 1e6
        zero_ms = round(begin_ms - begins_s[segment.trial] * 1e3)
        # Where a segment ended that was killed is unknown: it has no drain.
        killed = segment.verdict == "none"
        end_ms = math.inf if killed else begin_ms + segment.sending_s * 1e3
        rows = query_metrics(
            run,
            _STATEMENT,
            (zero_ms, width_s * 1000, list(types), end_ms),
            periods=[trial_period(segment.trial)],
        )
        for kind, of, stretch, *values in rows:
            at_s = (stretch + 0.5) * width_s
            found.setdefault((kind, of), []).append(SeriesStretch(segment.trial, at_s, *values))
    return tuple(SoakSeries(kind, of, tuple(each)) for (kind, of), each in found.items())
