"""When a soak lost frames, how many, and what it means that it lost none."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from heapq import nlargest

from plimsoll.methods.soak.result import SoakLosses, SoakLossEvent
from plimsoll.record.results.event_bound import events_per_hour_below
from plimsoll.record.trials.window_record import WindowRecord

_LARGEST_EVENTS = 100
# In those that are undecided, a latency is all that is open.
_LOSSES_JUDGED = ("pass", "fail", "undecided")


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
