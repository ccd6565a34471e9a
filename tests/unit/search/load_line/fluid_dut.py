"""A DUT of a few lines to try the load-line search on: a queue, its stalls, and their evidence.

It is written apart from plimsoll.generator.simulated, on purpose: the search is not to lean
on the way that one sees things.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, field

from plimsoll.search.evidence.trial_evidence import LatencyPeak, LossSample, TrialEvidence
from plimsoll.search.load_line.tried import Tried
from plimsoll.search.strategy.ask import Ask, Finished, RecordedTrial, Search, Told
from tests.unit.search.load_line.disturbed import disturbance, with_disturbances

IDLE_NS = 10_000


@dataclass
class FluidDut:
    """One direction. Every `period_s` a stall of `stall_s`, give or take `jitter` of it.

    With a `cause` the kernel's trace names it.
    """

    capacity_pps: float = 1e6
    buffer: float = 1000.0
    period_s: float | None = None
    stall_s: float = 0.0
    jitter: float = 0.0
    tolerance: float = 0.0
    cause: str | None = None
    chance: random.Random = field(default_factory=lambda: random.Random(1))  # noqa: S311

    def answer(self, asked: Ask) -> Told:
        """Run the trial that was asked for."""
        interval_s = min(1.0, asked.duration_s / 10)
        if asked.duration_s > 1000:
            interval_s = asked.duration_s / 500
        planned = round(asked.duration_s / interval_s)
        allowed = self.tolerance * asked.load_pps * asked.duration_s
        losses: list[LossSample] = []
        peaks: list[LatencyPeak] = []
        away: list[tuple[float, float]] = []
        queue = 0.0
        over_before = False
        for number in range(planned):
            begin_s, end_s = number * interval_s, (number + 1) * interval_s
            queue += (asked.load_pps - self.capacity_pps) * interval_s
            lost = max(0.0, queue - self.buffer)
            queue = min(max(queue, 0.0), self.buffer)
            longest_s = 0.0
            for at_s, length_s in self._stalls(begin_s, end_s):
                away.append((at_s, length_s))
                longest_s = max(longest_s, length_s)
                lost += max(0.0, queue + asked.load_pps * length_s - self.buffer)
            if lost >= 1:
                losses.append(LossSample(begin_s=begin_s, end_s=end_s, frames=int(lost)))
            waited_ns = (queue / self.capacity_pps + longest_s) * 1e9
            peaks.append(LatencyPeak(at_s=begin_s, max_ns=IDLE_NS + round(waited_ns)))
            over = sum(loss.frames for loss in losses) > allowed
            if over and over_before and asked.early_abort:
                break
            over_before = over
        told = self._told(asked, interval_s, losses, peaks, queue)
        if self.cause is None or not away:
            return told
        named = (disturbance(self.cause, away),)
        return with_disturbances(Tried(asked, told), named).told

    def _stalls(self, begin_s: float, end_s: float) -> list[tuple[float, float]]:
        """When they begin, and how long they last."""
        if self.period_s is None:
            return []
        first, last = math.ceil(begin_s / self.period_s), math.ceil(end_s / self.period_s)
        spread = ((number, self.chance.uniform(-1, 1)) for number in range(first, last))
        return [
            (number * self.period_s, self.stall_s * (1 + self.jitter * each))
            for number, each in spread
        ]

    def _told(
        self,
        asked: Ask,
        interval_s: float,
        losses: list[LossSample],
        peaks: list[LatencyPeak],
        queue: float,
    ) -> Told:
        intervals = len(peaks)
        sending_s = intervals * interval_s
        offered = int(asked.load_pps * sending_s)
        lost = sum(loss.frames for loss in losses)
        waited_ns = IDLE_NS + round(queue / self.capacity_pps * 1e9)
        evidence = TrialEvidence(
            sending_s=sending_s,
            intervals=intervals,
            offered=offered,
            lost=lost,
            loss_ratio=lost / offered,
            forwarded_pps=(offered - lost) / sending_s,
            first_loss_s=losses[0].begin_s if losses else None,
            lossy_intervals=len(losses),
            losses=tuple(losses[:128] + sorted(losses[128:], key=_frames)[-128:]),
            min_ns=IDLE_NS,
            p50_ns=waited_ns,
            p99_ns=waited_ns,
            max_ns=max(peak.max_ns for peak in peaks),
            latency_growth=None,
            peaks=tuple(sorted(sorted(peaks, key=_height)[-64:], key=lambda each: each.at_s)),
        )
        failed = lost > self.tolerance * offered
        rules = ("loss-ratio",) if failed else ()
        return Told({asked.goal: "fail" if failed else "pass"}, evidence, {asked.goal: rules})


def _frames(loss: LossSample) -> int:
    return loss.frames


def _height(peak: LatencyPeak) -> int:
    return peak.max_ns


def search_all(
    search: Search, dut: FluidDut, most: int = 500
) -> tuple[Finished, list[RecordedTrial], list[Ask]]:
    """Search to the end: how it ended, what was told, and what was asked."""
    told: list[RecordedTrial] = []
    asks: list[Ask] = []
    for _ in range(most):
        asked = search.ask()
        if isinstance(asked, Finished):
            return asked, told, asks
        answer = dut.answer(asked)
        asks.append(asked)
        told.append(RecordedTrial(asked.phase, asked.load_pps, answer))
        search.tell(answer)
    raise AssertionError("the search does not end")
