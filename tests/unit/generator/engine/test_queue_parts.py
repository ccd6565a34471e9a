"""A stream over several transmit queues: what the engine gets, and what its caller sees."""

from dataclasses import replace

from plimsoll.generator.engine.queue_parts import QueueParts
from plimsoll.generator.histogram import Histogram
from plimsoll.generator.interface import (
    DelayedEnds,
    FlowCounts,
    Interval,
    LossesLeftOut,
    LossEvent,
    LossLimit,
    StreamCounts,
    TrialPlan,
    WorstLatency,
)
from plimsoll.traffic.plan import CapturedGaps, FieldWriter, Pacing, StreamPlan

DST_IP = FieldWriter(30, 4, count=1000, fixes=(24, 40))
RANDOM = FieldWriter(34, 2, count=100, kind="random", seed=40)
LOAD = StreamPlan(
    0,
    "load/0-1",
    "load",
    0,
    1,
    (bytes(60),),
    900.0,
    pacing=Pacing(kind="poisson", seed=7),
    fields=(DST_IP, RANDOM),
)
REVERSE = replace(LOAD, stream=1, name="load/1-0", tx_port=1, rx_port=0)
PROBE = replace(LOAD, stream=2, name="probe/0-1", role="latency", rate_pps=10.0, pacing=Pacing())


def counts(stream: int, sent: int, latency: Histogram) -> StreamCounts:
    return StreamCounts(
        stream=stream,
        sent=sent,
        refused=1,
        skipped=2,
        no_buffer=3,
        timed_out=0,
        received=sent - 5,
        missing=5,
        out_of_order=4,
        duplicate=0,
        corrupt=0,
        misdirected=6,
        latency=latency,
        latency_across_stalls=Histogram(),
        lateness=Histogram(),
    )


def test_one_queue_changes_nothing() -> None:
    assert QueueParts.of([LOAD, REVERSE, PROBE], [1, 1]).streams == (LOAD, REVERSE, PROBE)


def test_a_load_stream_has_a_part_on_each_queue_and_a_probe_stays_whole() -> None:
    parts = QueueParts.of([LOAD, REVERSE, PROBE], [3, 1]).streams
    assert [(part.stream, part.tx_queue, part.rate_pps) for part in parts] == [
        (0, 0, 300.0),
        (3, 1, 300.0),
        (4, 2, 300.0),
        (1, 0, 900.0),
        (2, 0, 10.0),
    ]
    assert all(part.tx_port == 0 for part in parts[:3])


def test_a_captured_stream_stays_whole_as_its_gaps_do() -> None:
    captured = replace(LOAD, pacing=Pacing("captured", gaps=CapturedGaps((1, 2))))
    assert QueueParts.of([captured], [4, 1]).streams == (captured,)


def test_parts_begin_at_different_flows_and_seeds() -> None:
    parts = QueueParts.of([LOAD], [4, 1]).streams
    assert [part.fields[0].first for part in parts] == [0, 250, 500, 750]
    assert [part.fields[1].seed for part in parts] == [40, 41, 42, 43]
    assert [part.pacing.seed for part in parts] == [7, 8, 9, 10]


def test_a_number_of_frames_is_shared_out_to_the_frame() -> None:
    parts = QueueParts.of([replace(LOAD, frame_count=11)], [3, 1]).streams
    assert [part.frame_count for part in parts] == [4, 4, 3]
    assert len(QueueParts.of([replace(LOAD, frame_count=2)], [3, 1]).streams) == 2


def test_the_caller_sees_whole_streams() -> None:
    parts = QueueParts.of([LOAD, PROBE], [2, 1])
    one = Histogram(2, 300, 100, 200, ((100, 1), (200, 1)))
    other = Histogram(1, 50, 50, 50, ((50, 1),))
    measured = Interval(
        index=0,
        phase="send",
        begin_s=0.0,
        end_s=1.0,
        end_unix_ns=1,
        streams=(counts(0, 100, one), counts(3, 50, other), counts(2, 10, one)),
        ports=(),
        workers=(),
    )
    load, probe = parts.interval(measured).streams
    assert (load.stream, load.sent, load.received, load.missing) == (0, 150, 140, 10)
    assert (load.refused, load.skipped, load.no_buffer, load.out_of_order) == (2, 4, 6, 8)
    assert load.misdirected == 12
    assert load.latency == Histogram(3, 350, 50, 200, ((50, 1), (100, 1), (200, 1)))
    assert probe == counts(2, 10, one)


def test_delayed_frames_of_all_parts_add_up_by_both_ends() -> None:
    parts = QueueParts.of([LOAD], [3, 1])
    numbers = [part.stream for part in parts.streams]
    ends = (
        DelayedEnds(((0, 200, 32), (5, 200, 1)), 7),
        None,  # it had no delayed frame
        DelayedEnds(((5, 200, 2), (5, 210, 4)), 1),
    )
    measured = Interval(
        index=0,
        phase="drain",
        begin_s=0.0,
        end_s=1.0,
        end_unix_ns=1,
        streams=tuple(
            replace(counts(number, 9, Histogram()), delayed_ends=each)
            for number, each in zip(numbers, ends, strict=True)
        ),
        ports=(),
        workers=(),
    )
    (whole,) = parts.interval(measured).streams
    assert whole.delayed_ends == DelayedEnds(((0, 200, 32), (5, 200, 3), (5, 210, 4)), 8)


def test_worst_latencies_and_losses_of_all_parts_are_listed() -> None:
    parts = QueueParts.of([LOAD], [2, 1])
    slow, slower = WorstLatency(9, 1, 100, 400, False), WorstLatency(4, 2, 100, 900, True)
    small, large = LossEvent(3, 1, 0, 5, 6, 7), LossEvent(8, 20, 1, None, 6, 7)
    one = replace(
        counts(0, 100, Histogram()),
        worst=(slow,),
        spikes_left_out=4,
        losses=(small,),
        losses_left_out=LossesLeftOut(1, 2),
    )
    other = replace(
        counts(parts.streams[1].stream, 100, Histogram()),
        worst=(slower,),
        spikes_left_out=5,
        losses=(large,),
        losses_left_out=LossesLeftOut(10, 20),
    )
    (whole,) = parts.interval(Interval(0, "send", 0, 1, 1, (one, other), (), ())).streams
    assert whole.worst == (slower, slow)
    assert whole.spikes_left_out == 9
    assert whole.losses == (large, small)
    assert whole.losses_left_out == LossesLeftOut(11, 22)


def test_a_loss_limit_holds_for_all_parts_of_its_streams() -> None:
    limits = (LossLimit(9, (0, 2), refused=True), LossLimit(4, (1,)))
    plan = TrialPlan(1, (LOAD, REVERSE, PROBE), duration_s=1, drain_s=0, loss_limits=limits)
    # The forward load has parts 0, 3 and 4.
    parts = QueueParts.of(plan.streams, [3, 1])
    assert parts.plan(plan).streams == parts.streams
    assert [sorted(each.streams) for each in parts.plan(plan).loss_limits] == [[0, 2, 3, 4], [1]]
    assert [each.frames for each in parts.plan(plan).loss_limits] == [9, 4]


def test_the_parts_of_a_stream_have_one_window_of_flows() -> None:
    """It moves on by as much with half of the frames, and each begins elsewhere in it."""
    churned = replace(DST_IP, churn=0.25, cycle=65534)
    parts = QueueParts.of([replace(LOAD, fields=(churned,))], [2, 1]).streams
    fields = [part.fields[0] for part in parts]
    assert [(field.churn, field.first) for field in fields] == [(0.5, 0), (0.5, 500)]


def test_parts_of_a_field_that_waits_for_another_begin_elsewhere_in_its_whole_cycle() -> None:
    # Three frames share each of four values: the second half begins after six frames.
    waiting = FieldWriter(34, 2, count=4, every=3)
    parts = QueueParts.of([replace(LOAD, fields=(waiting,))], [2, 1])
    assert [part.fields[0].first for part in parts.streams] == [0, 6]


def test_parts_count_the_same_flows_from_elsewhere_and_add_up() -> None:
    counted = replace(LOAD, fields=(replace(DST_IP, count=10),), counted_flows=10)
    parts = QueueParts.of([counted], [2, 1])
    # A part's first flow is the value that its first frame has.
    assert [part.first_flow for part in parts.streams] == [0, 5]
    assert [part.fields[0].first for part in parts.streams] == [0, 5]
    one = FlowCounts((3, 2), (3, 1), (0, 0), (3, 0), (30, 0), (5, None), (20, None))
    other = FlowCounts((1, 1), (1, 1), (1, 0), (1, 1), (4, 7), (4, 7), (4, 7))
    first, second = (each.stream for each in parts.streams)
    whole = parts.interval(
        Interval(
            0,
            "send",
            0.0,
            1.0,
            1,
            (
                replace(counts(first, 10, Histogram()), flows=one),
                replace(counts(second, 10, Histogram()), flows=other),
            ),
            (),
            (),
        )
    )
    added = FlowCounts((4, 3), (4, 2), (1, 0), (4, 1), (34, 7), (4, 7), (20, 7))
    assert whole.streams[0].flows == added
