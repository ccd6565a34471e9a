"""The estimate between both ends: by hand, and on simulated trials whose truth is known.

A simulated DUT now and then holds what comes in, for `hold_ms` at most, and the tester's receiving
loop stands still for `stall_ms` at most: by themselves, or both at once. A frame that arrives
in a stall is known to have come between the stall's begin and its end, no sooner than it was sent.
"""

from __future__ import annotations

import functools
import math
import random
import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import pytest

from plimsoll.generator.histogram import Histogram, bucket_of, histogram_of
from plimsoll.generator.interface import DelayedEnds, StreamCounts
from plimsoll.generator.latency_ends import self_consistent
from plimsoll.record.trials.latency_record import LatencyEstimate
from tests.unit.record.trial_parts import counts as counts_of

# (least, most) in ns.
Ends = tuple[int, int]
Places = Literal["apart", "from begin", "over end"]

FRAMES, GAP_NS = 50_000, 40_000
QUANTILES = {"p50_ns": 0.5, "p90_ns": 0.9, "p99_ns": 0.99, "p99_9_ns": 0.999}


def _counts(exact: Sequence[int], delayed: Sequence[Ends], left_out: int = 0) -> StreamCounts:
    """As the engine has them: buckets of both ends, and which belong together."""
    pairs = Counter((bucket_of(low) // 8, bucket_of(high) // 8) for low, high in delayed)
    ends = DelayedEnds(tuple((low, high, n) for (low, high), n in pairs.items()), left_out)
    return replace(
        counts_of(1, latency=histogram_of(Counter(exact))),
        latency_across_stalls=histogram_of(Counter(high for _, high in delayed)),
        latency_less_stalls=histogram_of(Counter(low for low, _ in delayed)),
        delayed_ends=ends if delayed else None,
    )


def test_there_is_none_where_nothing_was_delayed_or_ends_are_not_known() -> None:
    assert LatencyEstimate.of(_counts([100], [])) is None
    delayed = _counts([100], [(50, 200)])
    assert LatencyEstimate.of(delayed) is not None
    assert LatencyEstimate.of(replace(delayed, delayed_ends=None)) is None
    assert LatencyEstimate.of(_counts([100], [(50, 200)], left_out=1)) is None
    more = replace(delayed, latency_across_stalls=histogram_of({200: 2}))
    assert LatencyEstimate.of(more) is None


def test_one_figure_stands_where_it_would_be_the_same_with_a_quarter_at_the_ends() -> None:
    """Of 1,000 exact samples 985 took 100 ns and 15 200 ns; one more lies from 0 to 1 ms."""
    found = LatencyEstimate.of(_counts([100] * 985 + [200] * 15, [(0, 1_000_000)]))
    assert found is not None
    # At the high end by a quarter it is 15.26 of 1,001 above 100 ns: p99 is 200 either way.
    assert (found.p50_ns, found.p90_ns, found.p99_ns, found.p99_9_ns) == (100, 100, 200, 200)
    # The last of ten thousand is beyond: the one sample alone says where it may be.
    assert found.p99_99_ns is None


def test_both_ends_stand_alone_where_it_would_not() -> None:
    found = LatencyEstimate.of(_counts([100] * 990 + [200] * 10, [(0, 1_000_000)] * 10))
    assert found is not None
    assert (found.p50_ns, found.p99_9_ns) == (100, None)


@dataclass(frozen=True)
class Case:
    """How long DUT and tester stand still at most, how often, and whether at once."""

    hold_ms: float
    stall_ms: float
    holds: int
    stalls: int
    placed: Places


APART = (
    Case(1, 4, 40, 6, "apart"),
    Case(4, 4, 10, 6, "apart"),
    Case(16, 4, 6, 6, "apart"),
    Case(1, 0.3, 20, 8, "apart"),
    Case(0, 0.3, 0, 8, "apart"),
)
TOGETHER = (
    Case(16, 4, 6, 6, "over end"),
    Case(4, 4, 6, 6, "over end"),
    Case(8, 4, 6, 6, "from begin"),
    Case(1, 4, 6, 6, "from begin"),
    Case(0.3, 0.3, 3, 3, "over end"),
)


@dataclass(frozen=True)
class Simulated:
    """What the DUT truly took with each frame, and what the tester knows of it."""

    truth: Sequence[int]
    exact: Sequence[int]
    delayed: Sequence[Ends]

    def quantile(self, share: float) -> int:
        return sorted(self.truth)[max(1, math.ceil(share * len(self.truth))) - 1]

    def settled(self, share: float) -> float | None:
        """The plain estimate, whatever its bias, in ns, or None where it does not settle."""
        between = Counter((bucket_of(low), bucket_of(high)) for low, high in self.delayed)
        masses = self_consistent(Counter(map(bucket_of, self.exact)), between)
        if masses is None:
            return None
        seen, rank = 0.0, share * len(self.truth) - 1e-6
        for each in masses:
            seen += each.samples
            if seen >= rank:
                return _middle_ns(each.last)
        return None


def _middle_ns(bucket: int) -> float:
    """By a search for a value that has this bucket."""
    low, high = 0, 1 << 37
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if bucket_of(middle) < bucket else (low, middle)
    return low * (1 + 1 / 400)


@functools.cache
def _simulated(case: Case, seed: int) -> Simulated:
    chance = random.Random(seed)  # noqa: S311 - the same trials each time

    def length_ns(most_ms: float) -> float:
        return most_ms * 1e6 * chance.uniform(0.5, 1.0)

    def spans(most_ms: float, number: int) -> list[tuple[float, float]]:
        begins = (chance.uniform(0, FRAMES * GAP_NS) for _ in range(number))
        return [(begin, begin + length_ns(most_ms)) for begin in begins]

    holds = spans(case.hold_ms, case.holds)
    stalls = spans(case.stall_ms, case.stalls)
    if case.placed != "apart":
        stalls = [_with(hold, length_ns(case.stall_ms), case.placed, chance) for hold in holds]
    truth, exact, delayed = [], [], []
    for frame in range(FRAMES):
        sent = frame * GAP_NS
        free = max((end for begin, end in holds if begin <= sent < end), default=sent)
        came = free + 20_000 * chance.lognormvariate(0, 0.3)
        truth.append(round(came - sent))
        away = [span for span in stalls if span[0] <= came < span[1]]
        if away:
            least = max(0, min(begin for begin, _ in away) - sent)
            delayed.append((round(least), round(max(end for _, end in away) - sent)))
        else:
            exact.append(round(came - sent))
    return Simulated(truth, exact, delayed)


def _with(
    hold: tuple[float, float], length_ns: float, placed: Places, chance: random.Random
) -> tuple[float, float]:
    if placed == "from begin":
        return hold[0], hold[0] + length_ns
    begin = hold[1] - chance.uniform(0, min(length_ns, hold[1] - hold[0]))
    return begin, begin + length_ns


def _stated(trial: Simulated) -> dict[str, float]:
    """By quantile, by how much of the truth each figure that stands is off."""
    found = LatencyEstimate.of(_counts(trial.exact, trial.delayed))
    assert found is not None
    values = {name: getattr(found, name) for name in QUANTILES}
    return {
        name: value / trial.quantile(QUANTILES[name]) - 1
        for name, value in values.items()
        if value is not None
    }


def _bias(trial: Simulated, name: str) -> float | None:
    settled = trial.settled(QUANTILES[name])
    return None if settled is None else settled / trial.quantile(QUANTILES[name]) - 1


def test_truth_lies_between_both_ends_of_the_simulated_trials() -> None:
    for case in (*APART, *TOGETHER):
        trial = _simulated(case, 1)
        assert trial.delayed
        low = Counter(trial.exact) + Counter(low for low, _ in trial.delayed)
        high = Counter(trial.exact) + Counter(high for _, high in trial.delayed)
        for share in QUANTILES.values():
            ends = [_at(histogram_of(each), share) for each in (low, high)]
            assert ends[0] * (1 - 1 / 128) <= trial.quantile(share) <= ends[1]


def _at(histogram: Histogram, share: float) -> int:
    value = histogram.quantile_ns(share)
    assert value is not None
    return value


@pytest.mark.parametrize("case", [*APART, *TOGETHER], ids=str)
def test_a_figure_that_stands_is_off_by_no_more_than_a_bucket_and_one_per_cent(case: Case) -> None:
    for seed in (1, 2):
        for name, off in _stated(_simulated(case, seed)).items():
            assert abs(off) <= 0.01 + 1 / 128, name


@pytest.mark.parametrize("case", APART, ids=str)
def test_figures_stand_where_stalls_are_apart_from_holds(case: Case) -> None:
    assert {"p50_ns"} <= _stated(_simulated(case, 1)).keys()


def test_where_stalls_come_with_holds_the_bias_is_large_and_both_ends_stand_alone() -> None:
    """The DUT stood still when the tester did, and only then: all that took long is hidden."""
    trial = _simulated(Case(1, 4, 6, 6, "from begin"), 1)
    bias = _bias(trial, "p99_9_ns")
    assert bias is not None
    assert bias < -0.5
    assert "p99_9_ns" not in _stated(trial)


def test_of_holds_longer_than_stalls_that_hide_their_ends_nothing_is_said() -> None:
    """Each hold ends in a stall: no exact sample says how long it was."""
    assert "p99_ns" not in _stated(_simulated(Case(16, 4, 6, 6, "over end"), 1))


@pytest.mark.parametrize("case", APART[:3], ids=str)
def test_where_they_are_apart_the_bias_is_small_whichever_is_longer(case: Case) -> None:
    trials = [_simulated(case, seed) for seed in range(1, 7)]
    for name in QUANTILES:
        found = [_bias(trial, name) for trial in trials]
        known = [each for each in found if each is not None]
        assert len(known) == len(trials)
        assert abs(statistics.fmean(known)) < 0.015, name


def test_there_the_estimate_is_near_though_the_ends_are_far_apart() -> None:
    trial = _simulated(APART[0], 1)
    high = histogram_of(Counter(trial.exact) + Counter(high for _, high in trial.delayed))
    bias = _bias(trial, "p99_9_ns")
    assert bias is not None
    assert abs(bias) < 0.01
    assert _at(high, 0.999) > 3 * trial.quantile(0.999)
