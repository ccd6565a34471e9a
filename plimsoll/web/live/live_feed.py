"""Runs that go on, followed once for all browsers that look at them, and only while one does.

Files are looked at once a second, and read where they have grown: on a machine whose CPUs are
polled, each visit takes its time from a polling loop (docs/decisions/012).
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator
from contextlib import suppress
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Any

from starlette.concurrency import run_in_threadpool

from plimsoll.record.index.run_entry import RunEntry, RunState, entry_of
from plimsoll.record.live.live_run import LiveRun, LiveState
from plimsoll.record.run.run_directory import trial_period
from plimsoll.record.run.run_lock import is_held
from plimsoll.web.live.expected_run import ExpectedRun, expected_of
from plimsoll.web.live.live_document import live_document, live_figures
from plimsoll.web.live.traffic_points import (
    MOST_POINTS,
    TrafficPoint,
    TrafficPoints,
    TrafficTotals,
    while_sending,
)

_EVERY_S = 1.0
# So that a connection that is gone is noticed, and proxies keep a quiet one.
_QUIET_LOOKS = 15


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
        "most_points": MOST_POINTS,
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
