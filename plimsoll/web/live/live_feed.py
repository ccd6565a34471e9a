"""Runs that go on, followed once for all browsers that look at them, and only while one does.

Files are looked at once a second, and read where they have grown: on a machine whose CPUs are
polled, each visit takes its time from a polling loop (docs/decisions/012).
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Any

from starlette.concurrency import run_in_threadpool

from plimsoll.benchmark.check.check import planned_duration
from plimsoll.benchmark.experiment.experiment import load_experiment
from plimsoll.errors import PlimsollError
from plimsoll.record.index.run_entry import RunEntry, RunState, entry_of
from plimsoll.record.live.live_run import LiveRun, LiveState, LiveTrial
from plimsoll.record.methods.method import LOAD_LINE
from plimsoll.record.run.run_directory import RunDirectory, trial_period
from plimsoll.record.run.run_lock import is_held
from plimsoll.record.trials.trial_record import TrialRecord
from plimsoll.report.parts.tables import trial_words
from plimsoll.text.plain_text import plain_text
from plimsoll.text.units import format_ns, format_pps, format_ratio
from plimsoll.web.live.traffic_points import (
    MAX_POINTS,
    TrafficPoint,
    TrafficPoints,
    TrafficTotals,
    while_sending,
)


# What a run's experiment says of how long it may take, and which streams probe.
@dataclass(frozen=True, slots=True)
class ExpectedRun:
    """`least_s` and `most_s` bound the whole run as `plimsoll check` does; None where unknown."""

    probes: frozenset[str] = frozenset()
    least_s: float | None = None
    most_s: float | None = None


def expected_of(run: RunDirectory, method: str | None) -> ExpectedRun:
    """As far as the experiment can be read here, which may be another host than the run's."""
    try:
        probes = _probes(run.read_experiment())
    except PlimsollError:
        return ExpectedRun()
    if method != LOAD_LINE:
        return ExpectedRun(probes)
    try:
        experiment = load_experiment(run.experiment)
        # In simulated time, which passes as fast as it can be computed.
        time = None if experiment.lab.simulated else planned_duration(experiment)
    except PlimsollError:
        time = None
    return ExpectedRun(probes) if time is None else ExpectedRun(probes, time.least_s, time.most_s)


def _probes(experiment: Mapping[str, Any]) -> frozenset[str]:
    profile = experiment.get("profile")
    streams = profile.get("streams") if isinstance(profile, Mapping) else None
    return frozenset(
        str(stream.get("name"))
        for stream in (streams if isinstance(streams, list) else ())
        if isinstance(stream, Mapping) and stream.get("role") == "latency"
    )


_EVERY_S = 1.0
# So that a connection that is gone is noticed, and proxies keep a quiet one.
_QUIET_LOOKS = 15
_NS_PER_MS = 1_000_000
_NS_PER_US = 1e3
_DASH = "-"


@dataclass(frozen=True, slots=True)
class Look:
    """How a run stood at one look. `points` are those of the trial `period`."""

    state: RunState
    live: LiveState
    expected: ExpectedRun
    period: str
    points: tuple[TrafficPoint, ...]
    totals: TrafficTotals


class LiveFeed:
    """One run."""

    def __init__(self, entry: RunEntry) -> None:
        self._entry = entry
        self._opened: tuple[ExpectedRun, TrafficPoints, LiveRun] | None = None
        self._stamp: tuple[object, ...] = ()
        self._lock = asyncio.Lock()
        self.last: Look | None = None

    async def look(self) -> Look:
        """The run as it stands now. Raises RecordError where its record is damaged."""
        async with self._lock:
            return await run_in_threadpool(self._look)

    def _look(self) -> Look:
        # First: what a run writes before it lets go of its lock is then read as well.
        running = is_held(self._entry.run.path / "lock")
        stamp = (running, *_stamp(self._entry.run.journal, self._entry.run.metrics))
        if self.last is not None and stamp == self._stamp:
            return self.last
        expected, traffic, followed = self._opened = self._opened or self._open()
        live = followed.look()
        state: RunState = "running"
        if not running:
            state = entry_of(self._entry.run_id, self._entry.run.path).state
        points = while_sending(traffic.points(), sending_s(live, traffic.period))
        self.last = Look(state, live, expected, traffic.period, tuple(points), traffic.totals())
        self._stamp = stamp
        return self.last

    def _open(self) -> tuple[ExpectedRun, TrafficPoints, LiveRun]:
        method = self._entry.summary.method if self._entry.summary else None
        expected = expected_of(self._entry.run, method)
        traffic = TrafficPoints(expected.probes)
        return expected, traffic, LiveRun(self._entry.run, traffic.take)


class LiveFeeds:
    """The runs that browsers look at. `closing` ends all streams."""

    def __init__(self) -> None:
        self._feeds: dict[Path, tuple[LiveFeed, int]] = {}
        self.closing = asyncio.Event()

    @property
    def followed(self) -> frozenset[Path]:
        """The run directories that some browser looks at."""
        return frozenset(self._feeds)

    async def documents(self, entry: RunEntry) -> AsyncGenerator[dict[str, Any] | None, None]:
        """What to send, a document at a time: the whole first, then what is new.

        None keeps a quiet connection open. Ends after the document that says that the run does
        not go on any more. Raises RecordError where its record is damaged.
        """
        feed = self._enter(entry)
        sent: Look | None = None
        quiet = 0
        try:
            while not self.closing.is_set():
                look = await feed.look()
                if look is not sent:
                    yield _news(look, sent)
                    sent, quiet = look, 0
                    if look.state != "running":
                        return
                elif (quiet := quiet + 1) % _QUIET_LOOKS == 0:
                    yield None
                with suppress(TimeoutError):
                    await asyncio.wait_for(self.closing.wait(), _EVERY_S)
        finally:
            self._leave(entry.run.path)

    def _enter(self, entry: RunEntry) -> LiveFeed:
        feed, readers = self._feeds.get(entry.run.path, (None, 0))
        feed = feed or LiveFeed(entry)
        self._feeds[entry.run.path] = (feed, readers + 1)
        return feed

    def _leave(self, path: Path) -> None:
        feed, readers = self._feeds[path]
        if readers == 1:
            del self._feeds[path]
        else:
            self._feeds[path] = (feed, readers - 1)


def sending_s(live: LiveState, period: str) -> float | None:
    """For how long the trial of that period sends: as it came to, or as it is planned."""
    if live.trial is not None and trial_period(live.trial.number) == period:
        return live.trial.planned_s
    ended = (trial for trial in reversed(live.trials) if trial_period(trial.number) == period)
    return next((trial.sending_s for trial in ended), None)


def _news(look: Look, sent: Look | None) -> dict[str, Any]:
    """What a browser that has `sent` lacks; points of another `period` replace those it has."""
    known_s = -1.0
    if sent is not None and sent.period == look.period:
        known = sum(1 for _ in takewhile(_is_same, zip(sent.points, look.points, strict=False)))
        # The last point may have been half of itself: two readers make one.
        known_s = look.points[known - 2].end_s if known > 1 else known_s
    points = [point for point in look.points if point.end_s > known_s]
    trials = look.live.trials[0 if sent is None else len(sent.live.trials) :]
    return {
        **live_document(look.state, look.live, look.expected, points, trials),
        "period": look.period,
        "most_points": MAX_POINTS,
        "figures": live_figures(look.points[-1] if look.points else None, look.totals),
    }


def _is_same(points: tuple[TrafficPoint, TrafficPoint]) -> bool:
    return points[0] == points[1]


def _stamp(journal: Path, metrics: Path) -> tuple[object, ...]:
    """What changes when there is something to read."""
    found: list[object] = []
    with suppress(OSError):
        found.append(journal.stat().st_size)
    with suppress(OSError), os.scandir(metrics) as entries:
        growing = [each for each in entries if each.name.endswith(".jsonl")]
        found += sorted((each.name, each.stat().st_size) for each in growing)
    return tuple(found)


# What a browser is sent of a running run: text for people, and numbers for charts.
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
    return {name: plain_text(text) for name, text in trial_words(trial).items()}
