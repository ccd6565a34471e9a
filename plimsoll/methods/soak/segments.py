"""The trials that a soak is made of: one, and one more for each time it was resumed."""

from __future__ import annotations

from collections.abc import Sequence

from plimsoll.methods.soak.result import SoakSegment
from plimsoll.record.run.boot_time import SentTime, pause_s
from plimsoll.record.run.journal import TRIAL_STARTED, WINDOW, JournalContents
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
