"""One direction through a simulated DUT: a queue that is filled by the load and served.

The queue is a fluid between events: at a constant load and capacity its length changes
on a straight line until it is empty or full, so a span of hours costs as much as one of
a microsecond. What is computed are frames lost, frames waiting, and how long frames
waited, which is what was queued before them divided by the capacity.

How the latencies of frames through a simulated DUT are distributed. A floor that jitters
(log-normally, as the product of many small things does), and an exponential wait for whatever is
served first. Quantiles of the two are added, so a frame that is slow in one is so in both.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random
from statistics import NormalDist
from typing import NamedTuple, Protocol

from .chance import geometric_sum, poisson


class Service(NamedTuple):
    """How a direction is served from now until `until_s`, while its load stays the same.

    `capacity_pps` is how fast frames leave, 0 while the DUT is away; `resumes_pps` is how
    fast they will leave when it is back. Apart from what does not fit into the buffer, frames
    are lost in `loss_events_per_s` events of `frames_per_event` (a mean, at least 1; the
    counts are geometric). A frame that finds no queue still waits: for `mean_wait_s` in
    the mean, exponentially distributed.
    """

    until_s: float
    capacity_pps: float
    resumes_pps: float
    mean_wait_s: float
    loss_events_per_s: float = 0.0
    frames_per_event: float = 1.0


class Behaviour(Protocol):
    """One direction of a DUT, with whatever state it keeps from trial to trial.

    Times are in s of simulated time since the simulation began, and never go back.
    """

    @property
    def buffer_frames(self) -> float:
        """How many frames can wait."""

    def begin_trial(self, now_s: float) -> None:
        """A trial begins: what differs from trial to trial is drawn anew."""

    def service(self, now_s: float, load_pps: float, queue_frames: float) -> Service:
        """How `load_pps` is served from now on, with so many frames waiting.

        Called whenever the load changes, the last service has run out, or the queue has
        become empty or full. The service must last beyond `now_s`.
        """


class Delay(NamedTuple):
    """Frames that came within `span_s` waited from `first_s` (the first of them) to `last_s`."""

    frames: float
    first_s: float
    last_s: float
    span_s: float


@dataclass(slots=True)
class Passage:
    """What became of a direction's frames over an interval.

    `overflow` frames found the buffer full. Frames that are in no `delays` found no queue
    and waited `mean_wait_s` in the mean, at most `most_wait_s`. `loss_events` are the
    expected number of others, of `frames_per_event` in the mean.
    """

    overflow: float = 0.0
    delays: list[Delay] = field(default_factory=list)
    mean_wait_s: float = 0.0
    most_wait_s: float = 0.0
    loss_events: float = 0.0
    frames_per_event: float = 1.0

    def lost(self, chance: Random, carried: float) -> tuple[int, float]:
        """Whole frames lost, and what is left of one; `carried` was left of one before."""
        frames = carried + self.overflow
        whole = int(frames)
        left = frames - whole
        if self.loss_events:
            events = poisson(chance, self.loss_events)
            whole += geometric_sum(chance, events, self.frames_per_event)
        return whole, left


class SimulatedDirection:
    """A queue in front of a `behaviour`; `queue_frames` are waiting now."""

    def __init__(self, behaviour: Behaviour) -> None:
        self.behaviour = behaviour
        self.queue_frames = 0.0

    def pass_on(self, begin_s: float, end_s: float, load_pps: float, passage: Passage) -> None:
        """Offer a constant load from `begin_s` to `end_s`, and add what came of it."""
        now_s = begin_s
        while now_s < end_s:
            service = self.behaviour.service(now_s, load_pps, self.queue_frames)
            now_s = self._piece(now_s, min(end_s, service.until_s), load_pps, service, passage)

    def _piece(
        self, begin_s: float, end_s: float, load_pps: float, service: Service, passage: Passage
    ) -> float:
        """Serve until `end_s`, or until the queue is empty or full; the time that came to."""
        queue, slope_pps = self.queue_frames, load_pps - service.capacity_pps
        length_s, buffer_frames = end_s - begin_s, self.behaviour.buffer_frames
        taken_pps = load_pps
        if queue <= 0.0 and slope_pps <= 0.0:
            passage.mean_wait_s = service.mean_wait_s
            passage.most_wait_s = buffer_frames / service.resumes_pps
        elif queue >= buffer_frames and slope_pps >= 0.0:
            passage.overflow += slope_pps * length_s
            taken_pps = service.capacity_pps
        else:
            room = buffer_frames - queue if slope_pps > 0.0 else queue
            if room <= abs(slope_pps) * length_s:
                end_s = begin_s + room / abs(slope_pps)
                length_s = end_s - begin_s
                self.queue_frames = buffer_frames if slope_pps > 0.0 else 0.0
            else:
                self.queue_frames = queue + slope_pps * length_s
        if queue > 0.0 or slope_pps > 0.0:
            frames = taken_pps * length_s
            if frames > 0.0:
                passage.delays += self._delays(frames, service, begin_s, end_s, queue)
        if service.loss_events_per_s:
            passage.loss_events += service.loss_events_per_s * length_s
            passage.frames_per_event = service.frames_per_event
        return end_s

    def _delays(
        self, frames: float, service: Service, begin_s: float, end_s: float, queue: float
    ) -> Iterator[Delay]:
        """What frames wait that come from `begin_s` to `end_s`, `queue` before the first.

        Up to the first frame that is still waiting when the service ends they wait by one
        straight line, and from it on by another. Below the capacity it waits longest of all.
        """
        first_s = _wait_s(queue, service, service.until_s - begin_s)
        last_s = _wait_s(self.queue_frames, service, service.until_s - end_s)
        share = self._share_served_before(service, begin_s, end_s, queue)
        if share is None:
            yield Delay(frames, first_s, last_s, end_s - begin_s)
            return
        turn_s = begin_s + share * (end_s - begin_s)
        left_s = service.until_s - turn_s
        yield Delay(frames * share, first_s, left_s, turn_s - begin_s)
        yield Delay(frames * (1.0 - share), left_s, last_s, end_s - turn_s)

    def _share_served_before(
        self, service: Service, begin_s: float, end_s: float, queue: float
    ) -> float | None:
        """The share of a piece whose frames are served before the service ends.

        None where all are, or none.
        """
        if service.capacity_pps in (0.0, service.resumes_pps):
            return None
        at_begin = queue - service.capacity_pps * (service.until_s - begin_s)
        at_end = self.queue_frames - service.capacity_pps * (service.until_s - end_s)
        return at_begin / (at_begin - at_end) if at_begin < 0.0 < at_end else None


def _wait_s(queue: float, service: Service, left_s: float) -> float:
    """How long it takes to serve `queue` frames, `left_s` of them as now and then as it resumes."""
    if queue < service.capacity_pps * left_s:
        return queue / service.capacity_pps
    # The product would be none for a service that never ends and never serves.
    served = service.capacity_pps * left_s if service.capacity_pps else 0.0
    return left_s + (queue - served) / service.resumes_pps


_STANDARD_NORMAL = NormalDist()


class LatencyShape(NamedTuple):
    """Floor (a median) and its relative deviation, a mean wait and its most; times in ns.

    `queue_ns` is what every frame waits alike.
    """

    floor_ns: float
    deviation: float
    wait_ns: float = 0.0
    most_wait_ns: float = math.inf
    queue_ns: float = 0.0

    def value_ns(self, normal: float, exponential: float) -> int:
        """The latency at the same quantile of both standard distributions."""
        body_ns = self.floor_ns * math.exp(self.deviation * normal)
        wait_ns = min(self.wait_ns * exponential, self.most_wait_ns)
        return max(1, int(body_ns + wait_ns + self.queue_ns))

    def exceeded_ns(self, share: float) -> int:
        """The latency that so large a share of the frames exceeds."""
        return self.value_ns(*standard_values(share))

    def slowest_ns(self, frames: int, chance: Random) -> int:
        """The latency of the slowest of so many frames, drawn each time."""
        return self.exceeded_ns((1.0 - chance.random()) / frames)


def standard_values(beyond: float) -> tuple[float, float]:
    """The standard normal's and exponential's value that a share of `beyond` exceeds."""
    beyond = min(max(beyond, 1e-15), 1.0 - 1e-15)
    return -_STANDARD_NORMAL.inv_cdf(beyond), -math.log(beyond)
