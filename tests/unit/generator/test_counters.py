"""A counter that is declared once is added up and recorded wherever counters are."""

from dataclasses import dataclass, field, replace

import pytest

from plimsoll.generator.engine.queue_parts import QueueParts
from plimsoll.generator.histogram import Histogram
from plimsoll.generator.interface import METRIC, Interval, PortCounts, StreamCounts
from plimsoll.record.metrics.engine_samples import engine_samples
from plimsoll.record.trials.stream_record import StreamRecord
from plimsoll.record.trials.tester_record import PortRecord
from plimsoll.traffic.plan import StreamPlan
from plimsoll.trial.judging.window_sums import WindowSums
from tests.worded.says import Says

LOAD = StreamPlan(0, "load/0-1", "load", 0, 1, (bytes(60),), 900.0)
# What is no counter of frames in the record: losses are judged, and `spikes.parquet` has spikes.
UNRECORDED = {"missing", "spikes_left_out"}


@dataclass(frozen=True, slots=True)
class MoreCounts(StreamCounts):
    """As a new engine would count: one counter and one histogram more."""

    mirrored: int = field(default=0, metadata={METRIC: "mirrored-pps"})
    waits: Histogram = field(default_factory=Histogram)


@dataclass(frozen=True, slots=True)
class MorePortCounts(PortCounts):
    """The same of a port."""

    rx_paused: int = field(default=0, metadata={METRIC: "rx-paused-pps"})


@dataclass(frozen=True, slots=True)
class UnknownCounts(StreamCounts):
    """What nobody has said how to add up."""

    notes: tuple[str, ...] = ()


class MoreRecord(StreamRecord):
    """As its record would be."""

    mirrored: int | None = None


def nanoseconds(value: int) -> Histogram:
    return Histogram(1, value, value, value, ((value, 1),))


def counts(stream: int, mirrored: int) -> MoreCounts:
    return MoreCounts(
        stream=stream,
        sent=100,
        refused=0,
        skipped=0,
        no_buffer=0,
        timed_out=0,
        received=100,
        missing=0,
        out_of_order=0,
        duplicate=0,
        corrupt=0,
        misdirected=0,
        latency=Histogram(),
        latency_across_stalls=Histogram(),
        lateness=Histogram(),
        mirrored=mirrored,
        waits=nanoseconds(mirrored),
    )


def port(rx_paused: int) -> MorePortCounts:
    return MorePortCounts(0, 0, {}, 0, 0, 0, 0, 7, True, rx_paused=rx_paused)


def interval(*streams: StreamCounts, paused: int = 0) -> Interval:
    return Interval(0, "send", 0.0, 1.0, 10**9, streams, (port(paused),), ())


def test_parts_of_a_stream_are_added_up() -> None:
    parts = QueueParts.of([LOAD], [2])
    one, other = counts(0, 3), counts(parts.streams[1].stream, 4)
    (whole,) = parts.interval(interval(one, other)).streams
    assert isinstance(whole, MoreCounts)
    assert (whole.sent, whole.mirrored) == (200, 7)
    assert whole.waits == Histogram(2, 7, 3, 4, ((3, 1), (4, 1)))


def test_intervals_of_a_window_are_added_up() -> None:
    sums = WindowSums()
    sums.add(interval(counts(0, 3), paused=20))
    sums.add(interval(counts(0, 4), paused=22))
    report = sums.report()
    (stream,), (its_port,) = report.streams, report.ports
    assert isinstance(stream, MoreCounts)
    assert isinstance(its_port, MorePortCounts)
    assert (stream.mirrored, stream.waits.count) == (7, 2)
    assert (its_port.rx_paused, its_port.buffers_in_use) == (42, 7)


def test_it_is_a_metric_and_in_the_record() -> None:
    samples = {
        sample.metric.type: sample.value
        for sample in engine_samples([LOAD], interval(counts(0, 5), paused=6))
    }
    assert (samples["mirrored-pps"], samples["rx-paused-pps"]) == (5, 6)
    assert MoreRecord.of(LOAD, counts(0, 5), lost=0).mirrored == 5


def test_each_counter_there_is_is_in_the_record() -> None:
    of_stream = {name for name, kind in StreamCounts.__annotations__.items() if kind == "int"}
    assert of_stream - set(StreamRecord.model_fields) == UNRECORDED
    of_port = {name for name, kind in PortCounts.__annotations__.items() if kind == "int"}
    assert of_port <= set(PortRecord.model_fields)


def test_what_adds_up_in_no_known_way_is_not_dropped(says: Says) -> None:
    whole = counts(0, 1)
    values = {name: getattr(whole, name) for name in StreamCounts.__slots__}
    one = UnknownCounts(**values, notes=("a",))
    parts = QueueParts.of([LOAD], [2])
    other = replace(one, stream=parts.streams[1].stream)
    with pytest.raises(TypeError) as caught:
        parts.interval(interval(one, other))
    assert caught.value == says("UnknownCounts.notes")
