"""What is kept of each interval, by hand, and how much of it."""

from dataclasses import replace

from plimsoll.generator.histogram import Histogram
from plimsoll.trial.outcome.series import NO_SAMPLE, StreamSeries, TrialSeries
from tests.unit.trial.seconds import ONE_STREAM, second
from tests.unit.trial.trial_builder import LOAD_BACK, LOAD_OUT, interval, samples, series

MS = 1_000_000


def test_each_interval_has_an_entry_in_every_column() -> None:
    kept = series([interval(0, lost=30), interval(1), interval(2, drain=True)])
    assert len(kept) == 3
    assert list(kept.begin_s) == [0, 1, 2]
    assert list(kept.end_s) == [1, 2, 3]
    assert list(kept.sending) == [1, 1, 0]
    assert list(kept.streams[LOAD_OUT].lost) == [30, 0, 0]
    assert list(kept.streams[LOAD_OUT].received) == [99_970, 100_000, 100_000]
    assert list(kept.streams[LOAD_BACK].lost) == [0, 0, 0]


def test_what_stalls_explain_is_distinguished_interval_by_interval() -> None:
    """A stall of 2 ms overflows by 101 frames, here and in the next interval."""
    kept = series(
        [interval(0, lost=30), interval(1, lost=80, stalls_ns=[2 * MS]), interval(2, lost=80)]
    )
    assert list(kept.worst_stall_ns) == [0, 2 * MS, 0]
    assert list(kept.streams[LOAD_OUT].lost) == [30, 80, 80]
    assert list(kept.streams[LOAD_OUT].unexcused) == [30, 0, 80 - 21]
    assert kept.unexcused_of({LOAD_OUT: 190}) == {LOAD_OUT: 89}


def test_the_worst_stall_is_of_any_loop() -> None:
    first, second_loop = interval(0, stalls_ns=[3 * MS]), interval(0, stalls_ns=[7 * MS])
    both = replace(first, workers=(*first.workers, *second_loop.workers))
    assert list(series([both]).worst_stall_ns) == [7 * MS]


def test_frames_that_came_twice_count_once_and_frames_refused_by_the_dut_are_offered() -> None:
    column = series([second(0, duplicate=40, refused=25)], ONE_STREAM, "dut").streams[0]
    assert (column.sent[0], column.offered[0], column.received[0]) == (1000, 1025, 960)
    assert (column.lost[0], column.unexcused[0]) == (25, 25)
    on_a_wire = series([second(0, refused=25)], ONE_STREAM).streams[0]
    assert (on_a_wire.offered[0], on_a_wire.lost[0]) == (1000, 0)


def test_latency_is_that_which_no_stall_can_have_delayed() -> None:
    latency = samples(*range(1, 101))
    column = series(
        [second(0, latency=latency), second(1, latency_across_stalls=latency)], ONE_STREAM
    ).streams[0]
    assert list(column.p50_ns) == [50, NO_SAMPLE]
    assert list(column.p99_ns) == [99, NO_SAMPLE]
    assert list(column.max_ns) == [100, NO_SAMPLE]


def test_the_longest_latency_is_the_longest_that_is_the_duts_for_certain() -> None:
    """A tick of the tester does not hide that the DUT held a frame for 900 ns."""
    held = second(
        0,
        latency=samples(100),
        latency_across_stalls=samples(930, 2000),
        latency_less_stalls=samples(900, 20),
    )
    assert list(series([held], ONE_STREAM).streams[0].max_ns) == [900]


def test_eight_hours_at_one_second_take_a_few_megabytes() -> None:
    kept = TrialSeries(ONE_STREAM, "wire", 100)
    each = second(0, latency=Histogram())
    for _ in range(100):
        kept.add(each)
    columns = [kept.begin_s, kept.end_s, kept.sending, kept.worst_stall_ns]
    stream_columns = list(vars(kept.streams[0]).values())
    assert len(stream_columns) == len(StreamSeries.__dataclass_fields__)
    assert {len(column) for column in (*columns, *stream_columns)} == {100}
    a_second = sum(column.itemsize for column in columns)
    a_second += 4 * sum(column.itemsize for column in stream_columns)
    assert a_second * 8 * 3600 < 10e6
