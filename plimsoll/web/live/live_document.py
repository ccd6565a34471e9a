"""What a browser is sent of a run that goes on: text for people, and numbers for charts."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from plimsoll.record.index.run_entry import RunState
from plimsoll.record.live.live_run import LiveState, LiveTrial
from plimsoll.record.trials.trial_record import TrialRecord
from plimsoll.report.parts.tables import trial_line
from plimsoll.text.plain_text import plain_text
from plimsoll.text.units import format_ns, format_pps, format_ratio
from plimsoll.web.live.expected_run import ExpectedRun
from plimsoll.web.live.traffic_points import TrafficPoint, TrafficTotals

_NS_PER_MS = 1_000_000
_NS_PER_US = 1e3
_DASH = "-"


def live_document(
    state: RunState,
    live: LiveState,
    expected: ExpectedRun,
    points: Sequence[TrafficPoint],
    trials: Sequence[TrialRecord],
) -> dict[str, Any]:
    """How the run stands, with the `points` and `trials` that the browser does not have yet.

    Times are in ms since the epoch by this host's clock, `now_ms` being now, so that a browser
    whose clock is off counts the right seconds.
    """
    return {
        "state": state,
        "now_ms": time.time_ns() // _NS_PER_MS,
        "begun_ms": None if live.begun_unix_ns is None else live.begun_unix_ns // _NS_PER_MS,
        "least_s": expected.least_s,
        "most_s": expected.most_s,
        "trial": None if live.trial is None else trial_document(live.trial),
        "verdicts": dict(live.verdicts),
        "points": [_point(point) for point in points],
        "trials": [_trial(trial) for trial in trials],
    }


def trial_document(trial: LiveTrial) -> dict[str, Any]:
    """The trial that goes on."""
    return {
        "number": trial.number,
        "phase": plain_text(trial.phase, 40),
        "load_mpps": trial.load_pps / 1e6,
        "load": format_pps(trial.load_pps) if trial.load_pps else "probe only",
        "begun_ms": trial.begun_unix_ns // _NS_PER_MS,
        "planned_s": trial.planned_s,
    }


def live_figures(last: TrafficPoint | None, totals: TrafficTotals) -> Mapping[str, str]:
    """The last interval's figures as people read them; loss and stalls of the trial so far."""
    last = last or TrafficPoint(0.0, 0.0)
    latency = last.latency_us or {}
    return {
        "sent": _DASH if last.tx_pps is None else format_pps(last.tx_pps),
        "received": _DASH if last.rx_pps is None else format_pps(last.rx_pps),
        # A frame in flight when an interval ends is missing, and back in the next one.
        "loss": format_ratio(max(0.0, totals.lost / totals.sent)) if totals.sent > 0 else _DASH,
        **{
            name: format_ns(latency[name] * _NS_PER_US) if name in latency else _DASH
            for name in ("p50", "p99", "p99.9", "max")
        },
        "stalled": _DASH
        if totals.stalled_us is None
        else format_ns(totals.stalled_us * _NS_PER_US),
    }


def _point(point: TrafficPoint) -> dict[str, Any]:
    return {
        "at": round(point.end_s, 3),
        "sent": _mpps(point.tx_pps),
        "received": _mpps(point.rx_pps),
        "lost": point.lost_pps,
        "stalled": point.stalled_us,
        "latency": point.latency_us or {},
    }


def _mpps(pps: float | None) -> float | None:
    return None if pps is None else pps / 1e6


def _trial(trial: TrialRecord) -> dict[str, Any]:
    return {name: _plain(value) for name, value in asdict(trial_line(trial)).items()}


def _plain(value: object) -> object:
    return plain_text(value) if isinstance(value, str) else value
