"""Quantiles against Prometheus's own rules and numbers of other programs."""

import math

import pytest

from plimsoll.churn.kpis.histogram import (
    CumulativeHistogram,
    added,
    kube_burner_quantile,
    sample_quantile,
)

# histogram_quantile of these, worked out by hand from Prometheus's documentation: the rank q times
# the count, linear in the bucket that holds it.
LATENCIES = CumulativeHistogram((0.1, 0.2, 0.4, math.inf), (10.0, 30.0, 40.0, 40.0))


@pytest.mark.parametrize(
    ("q", "expected"),
    [
        (0.25, 0.1),  # rank 10: all of the first bucket
        (0.125, 0.05),  # rank 5: half of the first, which begins at 0
        (0.5, 0.15),  # rank 20: half of the second
        (0.95, 0.36),  # rank 38: eight tenths of the third
        (1.0, 0.4),
    ],
)
def test_quantiles_are_linear_within_a_bucket(q: float, expected: float) -> None:
    assert LATENCIES.quantile(q) == pytest.approx(expected)


def test_beyond_the_last_finite_bound_it_is_that_bound() -> None:
    assert CumulativeHistogram((0.1, 0.2, math.inf), (1.0, 1.0, 4.0)).quantile(0.99) == 0.2


@pytest.mark.parametrize(
    "nothing",
    [
        CumulativeHistogram((0.1, math.inf), (0.0, 0.0)),
        CumulativeHistogram((math.inf,), (3.0,)),
        CumulativeHistogram((0.1, 0.2), (1.0, 3.0)),  # without an infinite bound
        CumulativeHistogram((), ()),
    ],
)
def test_where_prometheus_says_nan_there_is_none(nothing: CumulativeHistogram) -> None:
    assert nothing.quantile(0.5) is None


def test_buckets_that_fall_are_levelled() -> None:
    # Prometheus's ensureMonotonic: 10, 8, 12 is read as 10, 10, 12.
    assert CumulativeHistogram((1.0, 2.0, math.inf), (10.0, 8.0, 12.0)).quantile(
        0.5
    ) == pytest.approx(0.6)


def test_since_leaves_what_was_observed_between() -> None:
    before = CumulativeHistogram((0.1, 0.2, 0.4, math.inf), (10.0, 10.0, 10.0, 10.0))
    assert LATENCIES.since(before) == CumulativeHistogram(
        (0.1, 0.2, 0.4, math.inf), (0.0, 20.0, 30.0, 30.0)
    )


def test_after_a_restart_everything_is_new() -> None:
    before = CumulativeHistogram(LATENCIES.bounds, (100.0, 100.0, 100.0, 100.0))
    assert LATENCIES.since(before) == LATENCIES


def test_histograms_of_the_same_buckets_add_up() -> None:
    total = added([LATENCIES, LATENCIES])
    assert total is not None
    assert total.counts == (20.0, 60.0, 80.0, 80.0)
    assert added([]) is None
    with pytest.raises(ValueError, match="different buckets"):
        added([LATENCIES, CumulativeHistogram((1.0, math.inf), (1.0, 1.0))])


@pytest.mark.parametrize(
    ("values", "p50", "p95", "p99"),
    [
        # Printed by montanaflynn/stats 0.7.1, which kube-burner calls.
        ([1, 2, 3, 4, 5], 2.5, 4.5, 4.5),
        ([5], 5, 5, 5),
        ([1, 9], 1, 5, 5),
        ([3, 3, 4, 7, 8, 9, 12, 20], 7, 16, 16),
        ([1, 2, 3, 4, 5, 6, 7, 8, 9, 10], 5, 9.5, 9.5),
    ],
)
def test_quantiles_as_kube_burner_has_them(
    values: list[float], p50: float, p95: float, p99: float
) -> None:
    found = [kube_burner_quantile(values, percent) for percent in (50, 95, 99)]
    assert found == [p50, p95, p99]


def test_the_nearest_rank_of_samples() -> None:
    values = [float(n) for n in range(1, 101)]
    assert [sample_quantile(values, q) for q in (0.5, 0.95, 0.99, 1.0)] == [50, 95, 99, 100]
    assert sample_quantile([7.0], 0.99) == 7.0
    assert sample_quantile([], 0.5) is None
    assert kube_burner_quantile([], 50) is None
