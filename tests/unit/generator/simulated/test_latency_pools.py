"""Latency histograms: the engine's buckets, and the distribution that was requested."""

from __future__ import annotations

import math
from statistics import NormalDist

import pytest
from hdrh.histogram import HdrHistogram
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.generator.histogram import Histogram, bucket_of, empty_hdr, fill_hdr
from plimsoll.generator.simulated.latency_pools import LatencyPools
from plimsoll.generator.simulated.latency_tally import DelayShare, LatencyTally
from plimsoll.search.simulated.direction import LatencyShape
from tests.unit.generator.simulated.driving import chance_of

SHAPE = LatencyShape(10_000.0, 0.06, 20_000.0)


def quantile_ns(shape: LatencyShape, quantile: float) -> float:
    """By the definition: the quantiles of a log-normal and an exponential added."""
    normal = NormalDist().inv_cdf(quantile)
    return shape.floor_ns * math.exp(shape.deviation * normal) - shape.wait_ns * math.log(
        1 - quantile
    )


@given(st.integers(1, 2**37 - 1))
def test_buckets_are_those_of_hdrhistogram(value_ns: int) -> None:
    hdr = HdrHistogram(1, 2**37 - 1, 2)
    hdr.record_value(value_ns)
    assert hdr.counts[bucket_of(value_ns)] == 1


@pytest.mark.parametrize("frames", [1, 2, 39, 40, 41, 999, 1000, 1001, 123_456, 10**6, 10**9])
def test_as_many_frames_as_requested(frames: int) -> None:
    tally = LatencyTally(LatencyPools(chance_of(1)), in_us=True)
    for _ in range(6):
        drawn = tally.unqueued(SHAPE, frames)
        assert drawn.count == frames == sum(n for _, n in drawn.buckets)
        assert sum(n for _, n in drawn.us) == frames
    total = tally.total()
    assert total.count == 6 * frames == sum(n for _, n in total.buckets)
    assert sum(n for _, n in total.us) == 6 * frames


@pytest.mark.parametrize("frames", [1000, 10**6])
def test_quantiles_are_those_of_the_shape(frames: int) -> None:
    tally = LatencyTally(LatencyPools(chance_of(2)))
    for _ in range(50):
        tally.unqueued(SHAPE, frames)
    found = tally.total().histogram
    for quantile in (0.1, 0.5, 0.9, 0.99):
        assert found.quantile_ns(quantile) == pytest.approx(quantile_ns(SHAPE, quantile), rel=0.05)


def test_the_maximum_grows_with_the_number_of_frames() -> None:
    few, many = LatencyTally(LatencyPools(chance_of(3))), LatencyTally(LatencyPools(chance_of(3)))
    few.unqueued(SHAPE, 1000)
    for _ in range(1000):
        many.unqueued(SHAPE, 1000)
    # The exponential's median of the largest of a million is 20 us * ln(1.44 million).
    assert (many.total().max_ns) == pytest.approx(quantile_ns(SHAPE, 1 - 0.69e-6), rel=0.3)
    assert few.total().max_ns < many.total().max_ns


def test_a_wait_ends_where_the_buffer_does() -> None:
    shape = SHAPE._replace(most_wait_ns=50_000.0)
    tally = LatencyTally(LatencyPools(chance_of(4)))
    for _ in range(50):
        tally.unqueued(shape, 10_000)
    assert 50_000 < tally.total().max_ns < 50_000 + 15_000


def test_frames_of_a_ramp_are_spread_over_it_with_both_ends() -> None:
    tally = LatencyTally(LatencyPools(chance_of(5)))
    drawn = tally.queued(SHAPE, 1000, [DelayShare(1000, 2e-3, 0.0)])
    assert (drawn.count, drawn.min_ns, drawn.max_ns) == (1000, 10_000, 2_010_000)
    assert drawn.sum_ns / 1000 == pytest.approx(1_010_000, rel=0.01)


def test_all_that_waited_alike_still_differ_by_the_floor() -> None:
    tally = LatencyTally(LatencyPools(chance_of(6)))
    drawn = tally.queued(SHAPE, 10_000, [DelayShare(10_000, 2e-3, 2e-3)])
    assert drawn.min_ns == pytest.approx(2_008_000, abs=1000)
    assert drawn.max_ns == pytest.approx(2_012_700, abs=1500)


def test_histograms_are_those_of_the_interface() -> None:
    tally = LatencyTally(LatencyPools(chance_of(7)))
    assert tally.unqueued(SHAPE, 0).histogram == Histogram()
    drawn = tally.unqueued(SHAPE, 500)
    recorded = empty_hdr()
    fill_hdr(recorded, drawn.histogram)
    assert recorded.get_total_count() == 500
