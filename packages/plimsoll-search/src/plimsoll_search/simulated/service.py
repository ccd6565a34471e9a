"""What a simulated DUT does to one direction: the line between a model and the queue it serves."""

from __future__ import annotations

from typing import NamedTuple, Protocol


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
