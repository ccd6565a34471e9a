"""Both ends of a stream's latency, by hand."""

from dataclasses import replace

from plimsoll.generator.histogram import Histogram, histogram_of
from plimsoll.generator.interface import StreamCounts
from plimsoll.generator.latency_ends import LatencyEnds, least_longest_ns
from tests.unit.record.trial_parts import FOUR, NONE, counts


def _counts(exact: Histogram, delayed: Histogram, less: Histogram = NONE) -> StreamCounts:
    return replace(
        counts(1), latency=exact, latency_across_stalls=delayed, latency_less_stalls=less
    )


def test_without_stalls_both_ends_are_the_same() -> None:
    ends = LatencyEnds.of(_counts(FOUR, NONE))
    assert ends == LatencyEnds(FOUR, FOUR)
    assert least_longest_ns(_counts(NONE, NONE)) is None


def test_each_sample_has_a_low_and_a_high_end() -> None:
    given = _counts(FOUR, histogram_of({300: 2}), histogram_of({270: 1, 40: 1}))
    ends = LatencyEnds.of(given)
    assert (ends.samples, ends.low.count) == (6, 6)
    assert (ends.low.min_ns, ends.low.max_ns) == (40, 270)
    assert (ends.high.min_ns, ends.high.max_ns) == (100, 300)
    assert least_longest_ns(given) == 270


def test_a_generator_that_knows_no_low_ends_leaves_them_at_nothing() -> None:
    given = _counts(FOUR, histogram_of({300: 2}))
    ends = LatencyEnds.of(given)
    assert ends.low.count == ends.high.count == 6
    assert (ends.low.min_ns, ends.low.buckets[0]) == (0, (0, 2))
    assert least_longest_ns(given) == FOUR.max_ns
