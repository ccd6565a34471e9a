"""Worst latencies, loss events and clock readings against a DUT whose every deed is known.

The schedule is known as well: frame n is due n gaps after the trial began, and never sent
before that. So each time has a floor that does not depend on how fast the machine is.
"""

from collections.abc import Iterator
from typing import Any

import pytest

from plimsoll.generator.engine.messages import TRIAL_REPORT
from plimsoll.generator.interface import TrialReport
from plimsoll.record.trials.clock_fit import ClockFit
from tests.integration.engine.delay_dut import path
from tests.integration.engine.requests import CPUS, Request, open_request, stream, trial_request
from tests.integration.engine.session import EngineSession
from tests.integration.engine.truth_bed import Truth, TruthBed, truth_bed

RATE_PPS = 10_000
GAP_NS = 1_000_000_000 // RATE_PPS
SENT = 3000
RUN = {"duration_s": SENT / RATE_PPS}
# WORST_LATENCIES_MAX of engine/src/dataplane/measures/worst_latencies.h.
LISTED_AT_MOST = 256
# The clocks are read together within less, in one of twenty tries at least.
BEGIN_UNCERTAINTY_NS = 1_000_000


@pytest.fixture(scope="module")
def bed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TruthBed]:
    with truth_bed(tmp_path_factory.mktemp("truth")) as bed:
        yield bed


def there(**changes: Any) -> Request:
    return stream(0, RATE_PPS, rx_port=1, **changes)


def report_of(truth: Truth) -> TrialReport:
    return TRIAL_REPORT.validate_python(truth.reply)


def due_ns(report: TrialReport, number: int) -> float:
    """Wall-clock time before which frame `number` cannot have been sent."""
    return report.begin_unix_ns + number * GAP_NS - BEGIN_UNCERTAINTY_NS


@pytest.mark.parametrize("role", ["load", "latency"])
@pytest.mark.parametrize("interval_s", [1.0, 0.02])
def test_the_worst_latencies_are_those_of_the_frames_held_back(
    bed: TruthBed, role: str, interval_s: float
) -> None:
    """Each comes right behind the frame 1000 numbers later: a tenth of a second late."""
    held_back = {100 + 200 * n for n in range(8)}
    wrongs = [{"do": "reorder", "frames": sorted(held_back), "by": 1000}]
    truth = bed.run(
        there(role=role), paths=[path(0, 1, wrongs=wrongs)], interval_s=interval_s, **RUN
    )
    report = report_of(truth)
    fit = ClockFit.of(report.clock)
    (counts,) = report.streams
    holds_ns = {frame.sequence: frame.hold_ns for frame in truth.report.of(0)}
    latencies = [worst.latency_ticks for worst in counts.worst]
    assert len(latencies) == 64
    assert latencies == sorted(latencies, reverse=True)
    # Where the tester's CPU was away as long, others are as late; but none that was held for
    # longer than the least of these is left out. The DUT's hold in ns is rounded down.
    least_ns = latencies[-1] / fit.tsc_hz * 1e9
    longest = {number for number, hold_ns in holds_ns.items() if hold_ns - 1 > least_ns}
    listed = {
        number: train
        for train in counts.worst
        for number in range(train.sequence, train.sequence + train.frames)
    }
    assert longest <= listed.keys()
    for worst in map(listed.__getitem__, held_back & longest):
        assert worst.frames == 1
        assert worst.latency_ticks / fit.tsc_hz * 1e9 >= holds_ns[worst.sequence] - 1
        assert fit.unix_ns(worst.sent_tsc) >= due_ns(report, worst.sequence)
        assert fit.unix_ns(worst.received_tsc) >= due_ns(report, worst.sequence + 1000)
    # They filled the gaps that they had left, though pages were turned in between.
    assert counts.losses == ()
    assert (counts.losses_left_out.events, counts.losses_left_out.frames) == (0, 0)


def test_all_above_the_threshold_are_listed_next_to_the_worst(bed: TruthBed) -> None:
    held_back = [100 + 20 * n for n in range(100)]
    wrongs = [{"do": "reorder", "frames": held_back, "by": 500}]
    # Of the 500 frames of 100 µs that a frame is held for.
    spike_us = 50_000 // 2
    options = {"worst": 2, "spike_us": spike_us, **RUN}
    truth = bed.run(there(), paths=[path(0, 1, wrongs=wrongs)], **options)
    (counts,) = report_of(truth).streams
    held = {frame.sequence for frame in truth.report.of(0) if frame.hold_ns >= 1000 * spike_us}
    # Where the tester's CPU was away for so long, the DUT held some for less.
    assert held & set(held_back)
    listed = {
        number
        for train in counts.worst
        for number in range(train.sequence, train.sequence + train.frames)
    }
    assert len(held - listed) <= counts.spikes_left_out
    # Where the machine made more spikes than fit, the rest is counted, and only the rest.
    assert counts.spikes_left_out == 0 or len(counts.worst) == LISTED_AT_MOST


def test_each_loss_event_names_what_was_dropped_and_when(bed: TruthBed) -> None:
    dropped = [0, 10, 20, 21, 22, *range(500, 600), 1000, 1002, SENT - 1]
    wrongs = [{"do": "drop", "frames": dropped}, {"do": "duplicate", "every": 7}]
    truth = bed.run(there(), paths=[path(0, 1, wrongs=wrongs)], interval_s=0.05, **RUN)
    report = report_of(truth)
    fit = ClockFit.of(report.clock)
    (counts,) = report.streams
    # Behind the last frame none came that would have shown it to be missing.
    assert [(event.first, event.frames, event.filled) for event in counts.losses] == [
        (500, 100, 0),
        (20, 3, 0),
        (0, 1, 0),
        (10, 1, 0),
        (1000, 1, 0),
        (1002, 1, 0),
    ]
    assert counts.missing == len(dropped)
    assert (counts.losses_left_out.events, counts.losses_left_out.frames) == (0, 0)
    for event in counts.losses:
        behind = event.first + event.frames
        assert fit.unix_ns(event.before_tsc) >= due_ns(report, behind)
        assert event.seen_tsc > event.before_tsc
        if event.first == 0:
            assert event.after_tsc is None
            continue
        assert event.after_tsc is not None
        assert due_ns(report, event.first - 1) <= fit.unix_ns(event.after_tsc)
        assert event.after_tsc <= event.before_tsc


def test_a_gap_filled_in_part_says_how_far(bed: TruthBed) -> None:
    """Of 500 to 550, frame 550 is late and comes behind frame 650; 700 comes behind 800."""
    wrongs = [
        {"do": "drop", "frames": list(range(500, 550))},
        {"do": "reorder", "frames": [550, 700], "by": 100},
    ]
    truth = bed.run(there(), paths=[path(0, 1, wrongs=wrongs)], interval_s=0.01, **RUN)
    (counts,) = report_of(truth).streams
    assert [(event.first, event.frames, event.filled) for event in counts.losses] == [(500, 51, 1)]


def test_more_loss_events_than_a_trial_lists_are_counted(bed: TruthBed) -> None:
    wrongs = [{"do": "drop", "every": 10}]
    truth = bed.run(there(), paths=[path(0, 1, wrongs=wrongs)], **RUN)
    (counts,) = report_of(truth).streams
    # 9, 19, …, 2989: the last, 2999, leaves no gap.
    assert len(counts.losses) == 256
    assert all(event.first % 10 == 9 and event.frames == 1 for event in counts.losses)
    assert (counts.losses_left_out.events, counts.losses_left_out.frames) == (43, 43)


@pytest.mark.slow
def test_clock_readings_span_the_trial_and_are_thinned(bed: TruthBed) -> None:
    truth = bed.run(there(), paths=[path(0, 1)], interval_s=0.01, duration_s=1.0)
    report = report_of(truth)
    fit = ClockFit.of(report.clock)
    engine_hz, _ = bed.tsc_rates_hz()
    # 1 at the begin, 100 intervals and the drain's, 1 at the end.
    assert 32 <= len(report.clock) <= 64
    assert fit.tsc_hz == pytest.approx(engine_hz, rel=1e-4)
    first, last = report.clock[0], report.clock[-1]
    assert first.tsc < last.tsc
    assert (last.raw_ns - first.raw_ns) / 1e9 > 1.5
    assert abs(report.begin_unix_ns - first.unix_ns) < 60e9


def test_losses_are_not_distinguished_where_a_stream_comes_in_on_two_queues(
    engine: EngineSession,
) -> None:
    """Each queue sees every second frame only; none is lost."""
    workers = [{"cpu": CPUS[0], "tx": [[0, 0], [0, 1]], "rx": [[0, 0], [0, 1]]}]
    memory = {"huge": False, "megabytes": 256}
    engine.ask(open_request("net_ring0", workers=workers, memory=memory))
    reply = engine.ask(trial_request(stream(0, 10_000), worst=0))
    (counts,) = reply["streams"]
    assert (counts["losses"], counts["worst"]) == ([], [])
    engine.finish()
