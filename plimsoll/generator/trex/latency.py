"""TRex's latency statistics as a histogram of ours: never too low, and as coarse as TRex's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from hdrh.histogram import HdrHistogram

from plimsoll.generator.histogram import Histogram, bucket_of

# What TRex's lowest bucket, named 0, holds: all below 10 us.
_LOWEST_US = 10


def latency_histogram(latency: Mapping[str, object]) -> Histogram:
    """Of the `latency` part of a packet group's statistics.

    Started with `--hdrh` TRex counts by whole microseconds, else by one decimal digit of them: a
    sample of 137 us is among "100 to 200 us". Each is counted at its bucket's highest value, or at
    the maximum where that lies in it. The maximum leaves out a stream's first samples, so buckets
    may lie above it.
    """
    spans = [span for span in _spans(latency) if span.samples]
    samples = sum(span.samples for span in spans)
    if not samples:
        return Histogram()
    slowest = max(spans, key=lambda span: span.lowest_us)
    max_ns = _ns(latency.get("total_max"))
    if max_ns < slowest.lowest_us * 1000:
        max_ns = slowest.highest_ns
    min_ns = min(_ns(latency.get("total_min")), max_ns)
    buckets: dict[int, int] = {}
    for span in spans:
        index = bucket_of(max(1, min(span.highest_ns, max_ns)))
        buckets[index] = buckets.get(index, 0) + span.samples
    return Histogram(
        count=samples,
        sum_ns=_ns(latency.get("average")) * samples,
        min_ns=min_ns,
        max_ns=max_ns,
        buckets=tuple(sorted(buckets.items())),
    )


class _Span(NamedTuple):
    """Samples of `lowest_us` and more, and less than `end_us`."""

    lowest_us: int
    end_us: int
    samples: int

    @property
    def highest_ns(self) -> int:
        """The highest whole nanosecond in it."""
        return self.end_us * 1000 - 1


def _spans(latency: Mapping[str, object]) -> Iterator[_Span]:
    """Of the HdrHistogram where there is one (`--hdrh`), else of the decimal one."""
    encoded, decimal = latency.get("hdrh"), latency.get("histogram")
    if isinstance(encoded, str):
        for each in HdrHistogram.decode(encoded).get_recorded_iterator():
            value_us = each.value_iterated_to
            yield _Span(value_us, value_us + 1, each.count_at_value_iterated_to)
    elif isinstance(decimal, Mapping):
        for us, count in decimal.items():
            yield _Span(int(us), _decimal_end_us(int(us)), int(count))


def _decimal_end_us(lowest_us: int) -> int:
    """Where the decimal bucket ends that begins there."""
    if lowest_us < _LOWEST_US:
        return _LOWEST_US
    digit: int = 10 ** (len(str(lowest_us)) - 1)
    return lowest_us + digit


def _ns(us: object) -> int:
    return round(us * 1000) if isinstance(us, int | float) else 0
