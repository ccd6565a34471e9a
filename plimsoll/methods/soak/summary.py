"""A soak summed up from its run directory, be it finished, killed or still running."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from plimsoll.benchmark.experiment.versions import versions
from plimsoll.benchmark.session.run_start import recorded_settings
from plimsoll.benchmark.whole_run.agreement import dut_agreement_of
from plimsoll.methods.soak.drift import POINTS, TYPES, drifts_of
from plimsoll.methods.soak.losses import losses_of
from plimsoll.methods.soak.result import SoakResult, SoakTester, SoakWindows
from plimsoll.methods.soak.segments import PHASE, begins_of, segments_of, windows_of
from plimsoll.methods.soak.series import MAX, soak_series
from plimsoll.methods.soak.settings import SoakSettings
from plimsoll.methods.soak.spikes import spikes_of
from plimsoll.methods.soak.verdict import end_of, notes_of, verdict_of
from plimsoll.record.causes.spikes import read_spikes
from plimsoll.record.results.trial_counts import counts_of, invalid_reasons
from plimsoll.record.run.environment import load_environment
from plimsoll.record.run.journal import TRIAL_STARTED, JournalContents, read_journal
from plimsoll.record.run.result_file import read_run_result
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.record.trials.trial_record import TrialRecord
from plimsoll.record.trials.window_record import WindowRecord, WindowVerdict


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
