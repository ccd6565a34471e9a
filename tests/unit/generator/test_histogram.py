"""The engine's buckets against the hdrhistogram package, which the rest of the world reads."""

from collections import Counter

from hdrh.histogram import HdrHistogram
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.generator.histogram import (
    Histogram,
    bucket_bounds_ns,
    empty_hdr,
    fill_hdr,
    histogram_of,
    merge,
    microseconds_of,
)
from plimsoll.record.metrics.histogram_log import HdrEncoder

latencies = st.lists(st.integers(min_value=1, max_value=2**37 - 1), min_size=1, max_size=200)


def hdr_of(values: list[int]) -> HdrHistogram:
    hdr = HdrHistogram(1, 2**37 - 1, 2)
    for value in values:
        hdr.record_value(value)
    return hdr


def ours_of(values: list[int]) -> Histogram:
    hdr = hdr_of(values)
    buckets = tuple((i, hdr.get_count_at_index(i)) for i in range(hdr.counts_len))
    return Histogram(
        count=len(values),
        sum_ns=sum(values),
        min_ns=min(values),
        max_ns=max(values),
        buckets=tuple(bucket for bucket in buckets if bucket[1]),
    )


def test_the_package_has_as_many_buckets_as_the_engine() -> None:
    assert HdrHistogram(1, 2**37 - 1, 2).counts_len == 3968


@given(latencies)
def test_every_bucket_spans_what_the_package_says(values: list[int]) -> None:
    hdr = hdr_of(values)
    for index, _ in ours_of(values).buckets:
        lowest, highest = bucket_bounds_ns(index)
        assert lowest == hdr.get_lowest_equivalent_value(hdr.get_value_from_index(index))
        assert highest == hdr.get_highest_equivalent_value(lowest)


@given(latencies, st.sampled_from([0.0, 0.01, 0.5, 0.9, 0.99, 0.999, 1.0]))
def test_a_quantile_is_never_low_and_at_most_a_bucket_high(
    values: list[int], quantile: float
) -> None:
    ordered = sorted(values)
    rank = max(1, -int(-quantile * len(ordered) // 1))
    truth = ordered[rank - 1]
    stated = ours_of(values).quantile_ns(quantile)
    assert stated is not None
    assert truth <= stated <= truth * (1 + 1 / 128)


@given(latencies)
def test_samples_are_counted_as_the_package_records_them(values: list[int]) -> None:
    assert histogram_of(Counter(values)) == ours_of(values)


def test_samples_are_counted_by_whole_microseconds() -> None:
    assert histogram_of({}) == Histogram()
    assert microseconds_of({}) == ()
    samples = {999: 1, 1000: 2, 1999: 3, 999_999: 4, 1_000_000: 5, 7_000_000: 6}
    assert microseconds_of(samples) == ((0, 1), (1, 5), (999, 4), (1000, 11))


@given(latencies, latencies)
def test_merging_equals_recording_everything(left: list[int], right: list[int]) -> None:
    assert merge([ours_of(left), ours_of(right)]) == ours_of(left + right)


@given(latencies)
def test_the_package_gets_the_same_counts(values: list[int]) -> None:
    given_back = empty_hdr()
    fill_hdr(given_back, ours_of(values))
    want = hdr_of(values)
    assert given_back.get_total_count() == len(values)
    assert [given_back.get_count_at_index(i) for i in range(3968)] == [
        want.get_count_at_index(i) for i in range(3968)
    ]


def test_without_samples_there_is_nothing_to_state() -> None:
    assert Histogram().quantile_ns(0.5) is None
    assert Histogram().mean_ns is None
    assert merge([]) == Histogram()


@given(latencies, st.lists(st.sampled_from([0.0, 0.01, 0.5, 0.9, 0.99, 0.999, 1.0]), max_size=6))
def test_several_quantiles_are_those_of_one_at_a_time(
    values: list[int], quantiles: list[float]
) -> None:
    ours, quantiles_asc = ours_of(values), sorted(quantiles)
    assert ours.quantiles_ns(quantiles_asc) == tuple(
        ours.quantile_ns(each) for each in quantiles_asc
    )


def test_without_samples_there_are_no_quantiles() -> None:
    assert Histogram().quantiles_ns((0.5, 0.99)) == ()
    assert Histogram().quantile_ns(0.5) is None


@given(st.lists(latencies, min_size=1, max_size=4))
def test_one_encoder_encodes_each_histogram_as_a_new_one_would(several: list[list[int]]) -> None:
    encoder = HdrEncoder()
    for values in several:
        assert encoder.encode(ours_of(values)) == hdr_of(values).encode().decode()


def test_an_encoder_forgets_what_it_encoded() -> None:
    encoder = HdrEncoder()
    encoder.encode(ours_of([1, 5000, 2**37 - 1]))
    decoded = HdrHistogram.decode(encoder.encode(ours_of([77])))
    assert (decoded.get_total_count(), decoded.get_min_value(), decoded.get_max_value()) == (
        1,
        77,
        77,
    )
