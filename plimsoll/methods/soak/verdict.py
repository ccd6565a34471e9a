"""The verdict on a soak, why it is over, and the sentences that say so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from plimsoll.benchmark.trial_run.trial_overseer import StartingTrial, WindowWatch, judged_as_it_ran
from plimsoll.generator.interface import Interval
from plimsoll.host.processes.stop_request import StopRequest
from plimsoll.methods.soak.result import SoakEnd, SoakLosses, SoakSegment, SoakWindows
from plimsoll.methods.soak.settings import SoakSettings
from plimsoll.record.run.journal import JournalContents
from plimsoll.record.trials.trial_record import Verdict
from plimsoll.record.trials.window_record import WindowRecord
from plimsoll.text.units import format_duration, format_number, format_ratio
from plimsoll.trial.outcome.finding import Finding
from plimsoll.trial.outcome.outcome import Outcome

SOAK_STOPPED = "soak-stopped"


@dataclass
class SoakWatch:
    """A TrialOverseer that stops a soak on request, or at its first failed window.

    A soak that was stopped is judged for the time that it ran.
    """

    windows: WindowWatch
    request: StopRequest
    _stopped: bool = False

    def begin(self, start: StartingTrial) -> None:
        """Begin the windows."""
        self.windows.begin(start)

    def interval(self, interval: Interval) -> bool:
        """Account for an interval; True when the soak is to end."""
        failed = self.windows.interval(interval)
        if not self._stopped and self.request.signal_name is not None:
            self._stop("signal", self.request.signal_name)
        elif not self._stopped and failed:
            self._stop("failure", "a window failed")
        return self._stopped

    def ended(self, outcome: Outcome) -> tuple[Outcome, list[Finding]]:
        """Close the windows; what was stopped had no longer to run than it did."""
        _, findings = self.windows.ended(outcome)
        return judged_as_it_ran(outcome) if self._stopped else outcome, findings

    def _stop(self, why: str, what: str) -> None:
        self._stopped = True
        self.windows.recorder.event(SOAK_STOPPED, why=why, what=what)


_ENDS: dict[SoakEnd, str] = {
    "duration": "It ran for the whole duration requested.",
    "failure": "It was stopped at the first failure, as requested.",
    "signal": "A signal ended it before its time.",
    "link": "A lost link ended it before its time.",
    "unfinished": "It has not ended: it is running, or was killed and can be resumed.",
}


def verdict_of(
    windows: Sequence[WindowRecord], segments: Sequence[SoakSegment], undecided_limit: float
) -> Verdict:
    """Fail when anything failed; pass when all segments passed; else invalid.

    A segment, or a share of at most `undecided_limit` of the windows, may be undecided: what
    stalls of the tester leave open of a latency is not the DUT's failure, and no proof either.
    """
    if "fail" in {window.verdict for window in windows} | {each.verdict for each in segments}:
        return "fail"
    # A segment that was killed is judged by its windows alone.
    finished = [segment for segment in segments if segment.verdict != "none"]
    killed = {segment.trial for segment in segments if segment.verdict == "none"}
    spoiled = any(w.verdict == "invalid" and w.trial in killed for w in windows)
    passed = sum(window.verdict == "pass" for window in windows)
    undecided = sum(window.verdict == "undecided" for window in windows)
    few = undecided <= undecided_limit * (passed + undecided)
    if passed and few and not spoiled and all(map(_passed_or_undecided, finished)):
        return "pass"
    return "invalid"


def _passed_or_undecided(segment: SoakSegment) -> bool:
    if segment.verdict != "invalid":
        return segment.verdict == "pass"
    return bool(segment.reasons) and all(each.undecided for each in segment.reasons)


def left_s(segments: Sequence[SoakSegment], settings: SoakSettings) -> float:
    """The time that is still to be run; none when it is too short to be judged as a window."""
    left = settings.duration_s - sum(segment.sending_s for segment in segments)
    return left if left >= settings.window_s / 2 else 0.0


def end_of(
    history: JournalContents, segments: Sequence[SoakSegment], settings: SoakSettings
) -> SoakEnd:
    """Why the soak is over, by its last trial."""
    if not left_s(segments, settings):
        return "duration"
    trials = {trial.number: trial for trial in history.trials()}
    last = trials.get(segments[-1].trial) if segments else None
    if last is None or last.ended_by == "duration":
        return "unfinished"
    if last.ended_by == "link_down":
        return "link"
    whys = [event.fields.get("why") for event in history.of_kind(SOAK_STOPPED)]
    return "signal" if whys and whys[-1] == "signal" else "failure"


def notes_of(
    verdict: Verdict,
    ended: SoakEnd,
    windows: SoakWindows,
    losses: SoakLosses,
    segments: Sequence[SoakSegment],
) -> tuple[str, ...]:
    """What to know before the numbers."""
    return tuple(
        note
        for note in (
            _ENDS[ended],
            _windows_note(windows),
            _loss_note(losses),
            _gaps_note(segments),
            _invalid_note(verdict, windows),
        )
        if note
    )


def _windows_note(windows: SoakWindows) -> str:
    note = (
        f"Of the windows of {format_duration(windows.window_s)}, {windows.passed} passed, "
        f"{windows.failed} failed and {windows.invalid} were invalid, spoiled by the tester."
    )
    if windows.undecided:
        note += (
            f" {windows.undecided} more are undecided: the tester's stalls leave open whether the "
            f"DUT kept a latency criterion in them ({_undecided_limit(windows)})."
        )
    short = " The last one was cut short and is judged with the whole trial alone."
    return note + (short if windows.unjudged else "")


def _undecided_limit(windows: SoakWindows) -> str:
    judged = windows.passed + windows.failed + windows.invalid + windows.undecided
    share = format_ratio(windows.undecided / judged)
    return f"{share}, {format_ratio(windows.undecided_limit or 0.0)} allowed"


def _loss_note(losses: SoakLosses) -> str:
    if losses.no_loss_s is not None and losses.events_per_hour_below is not None:
        return (
            f"No loss in {format_number(losses.no_loss_s)} s: with 95 % confidence, frames are "
            f"lost less often than {format_number(losses.events_per_hour_below)} times an hour "
            "(3 ÷ the time)."
        )
    if not losses.frames:
        return "No window was judged, so nothing is known of losses."
    events = "one event" if losses.event_count == 1 else f"{losses.event_count:,} events"
    return f"Frames lost that no stall of the tester explains: {losses.frames:,}, in {events}."


def _gaps_note(segments: Sequence[SoakSegment]) -> str:
    gaps = [segment for segment in segments if segment.gap_s]
    if not gaps:
        return ""
    listed = ", ".join(f"{format_duration(each.gap_s)} before trial {each.trial}" for each in gaps)
    return (
        f"It was interrupted and resumed: {len(segments)} trials, without traffic for {listed}. "
        "Nothing is known of the DUT in between."
    )


def _invalid_note(verdict: Verdict, windows: SoakWindows) -> str:
    if verdict != "invalid":
        return ""
    held = " What held, held in the windows that passed." if windows.passed else ""
    return f"Nothing failed, and the whole is invalid: the tester was at fault somewhere.{held}"
