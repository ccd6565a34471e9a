"""Histograms of the protocol in the hands of the hdrhistogram package."""

from typing import Any

from hdrh.histogram import HdrHistogram

Histogram = dict[str, Any]


def check_against_hdr(histogram: Histogram) -> None:
    """Its buckets are HdrHistogram's, and agree with its exact count, sum, min and max."""
    hdr = HdrHistogram(1, 2**37 - 1, 2)
    indices = [index for index, _ in histogram["buckets"]]
    assert indices == sorted(set(indices))
    for index, count in histogram["buckets"]:
        assert hdr.record_value(hdr.get_value_from_index(index), count)
    recorded = {index: count for index, count in enumerate(hdr.counts) if count}
    assert recorded == dict(histogram["buckets"])
    assert hdr.get_total_count() == histogram["count"]
    if not histogram["count"]:
        assert histogram["sum_ns"] == 0
        assert histogram["min_ns"] is histogram["max_ns"] is None
        return
    assert hdr.values_are_equivalent(hdr.get_min_value(), histogram["min_ns"])
    assert hdr.values_are_equivalent(hdr.get_max_value(), histogram["max_ns"])
    lowest = [(hdr.get_value_from_index(index), count) for index, count in histogram["buckets"]]
    highest = [(hdr.get_highest_equivalent_value(value), count) for value, count in lowest]
    assert sum(value * count for value, count in lowest) <= histogram["sum_ns"]
    assert sum(value * count for value, count in highest) >= histogram["sum_ns"]


def merged(parts: list[Histogram]) -> Histogram:
    """The histogram of all parts' samples."""
    full = [part for part in parts if part["count"]]
    buckets: dict[int, int] = {}
    for part in full:
        for index, count in part["buckets"]:
            buckets[index] = buckets.get(index, 0) + count
    return {
        "count": sum(part["count"] for part in full),
        "sum_ns": sum(part["sum_ns"] for part in full),
        "min_ns": min((part["min_ns"] for part in full), default=None),
        "max_ns": max((part["max_ns"] for part in full), default=None),
        "buckets": [[index, buckets[index]] for index in sorted(buckets)],
    }
