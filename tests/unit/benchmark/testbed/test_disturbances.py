"""What is collected of a trial for its causes, without a trace and without polling loops."""

from dataclasses import replace

import pytest

from plimsoll.attribution.explanation.counters import CounterMove, WallClock
from plimsoll.attribution.incidents.loops import PollingLoop
from plimsoll.attribution.ranking.trace_gaps import unwatched_sentences
from plimsoll.benchmark.testbed.disturbances import NO_DISTURBANCES, Disturbances, clock_fit
from plimsoll.benchmark.testbed.event_budget import NO_HOST_NAMED
from plimsoll.generator.interface import (
    ClockReading,
    LossEvent,
    RefusalEvent,
    Stall,
    WorstLatency,
)
from plimsoll.observe.kernel_trace.trace_program import TraceUnavailable
from tests.unit.trial.trial_builder import (
    LOAD_OUT,
    PLAN,
    interval,
    outcome,
    stream_counts,
    worker_counts,
)

HZ = 2e9
# Ticks.
MS = 2_000_000
UNTRACED = TraceUnavailable("tracefs is not mounted", "mount -t tracefs none /sys/kernel/tracing")
LOOPS = (PollingLoop("tester", "plimsoll-engine", 0, 11), PollingLoop("dut", "testpmd", 1, 22))
BED = Disturbances(UNTRACED, LOOPS, tsc_hz=HZ)
CLOCK = (
    ClockReading(tsc=0, raw_ns=0, unix_ns=5_000, width_ns=10),
    ClockReading(tsc=10_000 * MS, raw_ns=10_000_000_000, unix_ns=10_000_005_000, width_ns=10),
)


def no_counters(host: str | None, clock: WallClock) -> tuple[CounterMove, ...]:
    return ()


def of_stream(**lists: object) -> object:
    return replace(stream_counts(LOAD_OUT, 100), **lists)  # type: ignore[arg-type]


def found(*, refused_is_lost: bool = True, **lists: object):  # type: ignore[no-untyped-def]
    disturbed = BED.of_trial(PLAN, refused_is_lost=refused_is_lost)
    disturbed.interval(replace(interval(0), streams=(of_stream(**lists),), workers=()))  # type: ignore[arg-type]
    ended = outcome()
    ended = replace(ended, report=replace(ended.report, clock=CLOCK))
    causes = disturbed.explained(7, ended, no_counters)
    assert causes is not None
    return causes.record


def test_losses_and_latencies_of_the_intervals_are_explained_without_a_trace_too() -> None:
    record = found(
        losses=(LossEvent(5, 40, 0, 100 * MS, 102 * MS, 103 * MS),),
        worst=(WorstLatency(9, 1, 200 * MS, 204 * MS, False),),
    )
    assert record.trial == 7
    assert record.trace.clock is None
    assert record.trace.unavailable == "tracefs is not mounted"
    incidents = [(each.kind, each.frames, each.length_ns) for each in record.incidents]
    assert incidents == [("loss", 40, 2_000_000), ("latency", 1, 4_000_000)]
    assert {cause.confidence for each in record.incidents for cause in each.causes} == {
        "unexplained"
    }


@pytest.mark.parametrize(("refused_is_lost", "events"), [(True, 1), (False, 0)])
def test_a_full_queue_is_a_loss_where_the_dut_was_to_empty_it(
    refused_is_lost: bool, events: int
) -> None:
    refusals = (RefusalEvent(100 * MS, 101 * MS, 12),)
    record = found(refused_is_lost=refused_is_lost, refusals=refusals)
    assert [each.refused for each in record.incidents] == [True] * events


def test_frames_under_way_at_the_same_time_are_one_spike() -> None:
    worst = (
        WorstLatency(9, 1, 200 * MS, 204 * MS, False),
        WorstLatency(10, 3, 201 * MS, 204 * MS, False),
        WorstLatency(50, 1, 300 * MS, 301 * MS, False),
    )
    spikes = found(worst=worst).incidents
    assert [(each.frames, each.length_ns) for each in spikes] == [(4, 4_000_000), (1, 1_000_000)]


def test_stalls_of_the_testers_loop_are_among_them() -> None:
    disturbed = BED.of_trial(PLAN, refused_is_lost=True)
    stalled = replace(worker_counts(), longest=(Stall(0.1, 300 * MS, 4_000_000),))
    disturbed.interval(replace(interval(0), workers=(stalled,)))
    causes = disturbed.explained(1, outcome(), no_counters)
    assert causes is not None
    (stall,) = causes.record.incidents
    assert (stall.kind, stall.begin_tsc, stall.end_tsc) == ("stall", 296 * MS, 300 * MS)


def test_where_nothing_polls_there_is_nothing_to_explain() -> None:
    disturbed = NO_DISTURBANCES.of_trial(PLAN, refused_is_lost=True)
    disturbed.interval(interval(0))
    assert disturbed.explained(1, outcome(), no_counters) is None
    assert NO_DISTURBANCES.notes == ()


def test_that_nothing_is_traced_is_said_with_the_remedy() -> None:
    (note,) = BED.notes
    assert UNTRACED.reason in note
    assert UNTRACED.remedy in note


def test_that_no_host_of_a_dut_elsewhere_is_named_is_said_and_recorded() -> None:
    bed = BED.with_hosts((), elsewhere=True)
    assert NO_HOST_NAMED.reason in bed.notes[0]
    assert NO_HOST_NAMED.remedy in bed.notes[0]
    assert BED.with_hosts((), elsewhere=False).unwatched == ()
    disturbed = bed.of_trial(PLAN, refused_is_lost=True)
    causes = disturbed.explained(1, outcome(), no_counters)
    assert causes is not None
    assert causes.record.trace.unwatched == (NO_HOST_NAMED,)
    (said,) = unwatched_sentences([causes.record])
    assert said in bed.notes


def test_clocks_read_once_are_not_tied_together() -> None:
    assert clock_fit(CLOCK[:1]) is None
    fit = clock_fit(CLOCK)
    assert fit is not None
    assert fit.tsc_hz == pytest.approx(HZ)
