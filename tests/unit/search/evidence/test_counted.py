"""Evidence of counts, by hand."""

from __future__ import annotations

from plimsoll.search.evidence.counted import CountedInterval, Latencies, evidence_of_intervals


def test_counts_of_two_directions_become_evidence() -> None:
    intervals = [
        CountedInterval(0.0, 1.0, (1000, 1000), (0, 0), 5_000, 7_000),
        CountedInterval(1.0, 2.0, (1000, 1000), (0, 20), 6_000, 90_000),
        CountedInterval(2.0, 4.0, (2000, 2000), (1, 20), 7_000, 80_000),
    ]
    evidence = evidence_of_intervals(intervals, Latencies(4_000, 6_000, 60_000, 90_000))
    assert (evidence.sending_s, evidence.intervals) == (4.0, 3)
    assert (evidence.offered, evidence.lost) == (8000, 41)
    # Of the second direction 40 of 4000.
    assert (evidence.loss_ratio, evidence.forwarded_pps) == (0.01, 990.0)
    assert (evidence.first_loss_s, evidence.lossy_intervals) == (1.0, 2)
    assert [(each.begin_s, each.frames) for each in evidence.losses] == [(1.0, 20), (2.0, 21)]
    assert [(each.at_s, each.max_ns) for each in evidence.peaks] == [
        (0.0, 7_000),
        (1.0, 90_000),
        (2.0, 80_000),
    ]
    assert (evidence.min_ns, evidence.p99_ns, evidence.latency_growth) == (4_000, 60_000, 1000.0)


def test_without_latencies_there_are_none() -> None:
    evidence = evidence_of_intervals([CountedInterval(0.0, 1.0, (10,), (0,))])
    assert (evidence.min_ns, evidence.latency_growth, evidence.peaks) == (None, None, ())
    assert evidence.losses == ()


def test_of_many_losses_the_first_and_the_largest_are_kept() -> None:
    intervals = [
        CountedInterval(float(second), second + 1.0, (1000,), (1 + second % 2,), 9, 100 + second)
        for second in range(600)
    ]
    evidence = evidence_of_intervals(intervals)
    assert (len(evidence.losses), evidence.lossy_intervals) == (256, 600)
    assert [each.begin_s for each in evidence.losses[:128]] == [float(s) for s in range(128)]
    assert {each.frames for each in evidence.losses[128:]} == {2}
    assert [each.max_ns for each in evidence.peaks] == [100 + s for s in range(536, 600)]
