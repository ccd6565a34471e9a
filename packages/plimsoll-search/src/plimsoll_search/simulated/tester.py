"""A generator to try strategies with: it runs trials on a simulated DUT, in simulated time."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import pairwise
from random import Random

from pydantic import TypeAdapter

from ..evidence.counted import CountedInterval, Latencies, evidence_of_intervals
from ..evidence.trial_evidence import TrialEvidence
from ..strategy.ask import Ask
from .direction import LatencyShape, Passage, SimulatedDirection
from .models.dut_model import DutModel
from .models.registry import ModelSettings

# How long frames may come back after a trial, and the pause before the next one.
_PAUSE_S = 2.1
# At which bursts come: 10 Gbit/s of 64-byte frames.
_LINE_PPS = 10e9 / 672
# An interval's latencies are represented by so many of equal share, and delays that grow or
# shrink in a row by a few.
_LAYERS, _RAMP = 32, 8
# Intervals of a trial.
_FEWEST = 10
# Small differences of the mean wait do not count.
_WAIT_STEP_NS = 100


class SimulatedTester:
    """Offers both directions of a DUT the load of a trial; the DUT's state goes on from then on.

    `model` is as under `model` of a simulated lab: {"kind": "rare-stalls", "period": "5s"}. The
    same `seed` gives the same trials. The tester itself never falls behind.
    """

    def __init__(self, model: Mapping[str, object], *, seed: int = 0) -> None:
        self.model: DutModel = TypeAdapter(ModelSettings).validate_python(model)
        self._now_s = 0.0
        self._sides = [_Side(self.model, number, seed) for number in (0, 1)]

    def trial(self, asked: Ask) -> TrialEvidence:
        """Run it to its end; a burst leaves at 10 Gbit/s of 64-byte frames."""
        intervals: list[CountedInterval] = []
        spectrum: Counter[int] = Counter()
        for side in self._sides:
            side.direction.behaviour.begin_trial(self._now_s)
        for begin_s, end_s in _intervals(asked.duration_s):
            counts = [side.count(self._now_s, begin_s, end_s, asked) for side in self._sides]
            for _, _, latencies in counts:
                spectrum.update(latencies)
            medians, worst = zip(*(_median_and_most(each) for _, _, each in counts), strict=True)
            offered, lost, _ = zip(*counts, strict=True)
            interval = CountedInterval(begin_s, end_s, offered, lost, max(medians), max(worst))
            intervals.append(interval)
        sent_s = self._now_s + asked.duration_s
        self._now_s = sent_s + _PAUSE_S
        for side in self._sides:
            side.direction.pass_on(sent_s, self._now_s, 0.0, Passage())
        return evidence_of_intervals(intervals, _latencies(spectrum))


class _Side:
    """One direction of the DUT, and the frames that are sent through it."""

    def __init__(self, model: DutModel, number: int, seed: int) -> None:
        self._floor = model.floor
        self._chance = Random(f"{seed}/tester {number}")  # noqa: S311 - the draws of a simulation
        chance = Random(f"{seed}/direction {number}")  # noqa: S311 - the same
        self.direction = SimulatedDirection(model.behaviour(number, chance))
        self._part_lost = 0.0

    def count(
        self, began_s: float, begin_s: float, end_s: float, asked: Ask
    ) -> tuple[int, int, Counter[int]]:
        """Frames offered and lost in an interval, and the latencies of those that came."""
        passage = Passage()
        offered = 0
        for from_s, to_s, load_pps in _loads(begin_s, end_s, asked):
            self.direction.pass_on(began_s + from_s, began_s + to_s, load_pps, passage)
            offered += int(load_pps * to_s + 1e-6) - int(load_pps * from_s + 1e-6)
        lost, self._part_lost = passage.lost(self._chance, self._part_lost)
        lost = min(lost, offered)
        return offered, lost, self._latencies(passage, offered - lost)

    def _latencies(self, passage: Passage, came: int) -> Counter[int]:
        """How many frames had which latency, in ns; one of the unqueued is the slowest drawn."""
        found: Counter[int] = Counter()
        floor_ns = self._floor.floor_ns
        for delay in passage.delays:
            frames = min(came, round(delay.frames))
            came -= frames
            points = min(frames, _RAMP)
            for point in range(points):
                share = point / max(1, points - 1)
                wait_s = delay.first_s + share * (delay.last_s - delay.first_s)
                found[round(floor_ns + wait_s * 1e9)] += frames // points
        if came:
            wait_ns = round(passage.mean_wait_s * 1e9 / _WAIT_STEP_NS) * _WAIT_STEP_NS
            shape = self._floor._replace(wait_ns=wait_ns, most_wait_ns=passage.most_wait_s * 1e9)
            for latency_ns in _layers(shape):
                found[latency_ns] += max(1, came // _LAYERS)
            found[shape.slowest_ns(came, self._chance)] += 1
        return found


def _intervals(duration_s: float) -> Iterator[tuple[float, float]]:
    """Ten of a short trial, those of a long one a second long."""
    count = max(_FEWEST, math.ceil(duration_s))
    edges_s = [duration_s * number / count for number in range(count + 1)]
    return pairwise(edges_s)


def _loads(begin_s: float, end_s: float, asked: Ask) -> Iterator[tuple[float, float, float]]:
    """The constant loads of an interval: a burst leaves at once, and then there is nothing."""
    if asked.burst_frames is None:
        yield begin_s, end_s, asked.load_pps
        return
    burst_s = asked.burst_frames / _LINE_PPS
    if begin_s < burst_s:
        yield begin_s, min(burst_s, end_s), _LINE_PPS
    if burst_s < end_s:
        yield max(burst_s, begin_s), end_s, 0.0


@lru_cache(maxsize=64)
def _layers(shape: LatencyShape) -> tuple[int, ...]:
    return tuple(shape.exceeded_ns((layer + 0.5) / _LAYERS) for layer in range(_LAYERS))


def _median_and_most(latencies: Counter[int]) -> tuple[int, int]:
    return _quantile(latencies, 0.5), max(latencies, default=0)


def _latencies(spectrum: Counter[int]) -> Latencies:
    if not spectrum:
        return Latencies()
    return Latencies(
        min(spectrum), _quantile(spectrum, 0.5), _quantile(spectrum, 0.99), max(spectrum)
    )


def _quantile(latencies: Counter[int], quantile: float) -> int:
    """In ns; 0 where no frame came."""
    left = quantile * latencies.total()
    for latency_ns in sorted(latencies):
        left -= latencies[latency_ns]
        if left <= 0:
            return latency_ns
    return 0
