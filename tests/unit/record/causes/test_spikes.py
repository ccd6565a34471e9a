from pathlib import Path

import duckdb
import pytest

from plimsoll.generator.histogram import Histogram
from plimsoll.generator.interface import Interval, Stall
from plimsoll.record.causes.spikes import SpikeLog, interval_spikes, read_spikes
from plimsoll.record.run.run_directory import RunDirectory
from tests.unit.record.trial_parts import BEGIN_NS, FOUR, PLANS, counts, interval

BEGIN_MS = BEGIN_NS / 1e6
SLOW = Histogram(
    count=1, sum_ns=8_000_000, min_ns=8_000_000, max_ns=8_000_000, buckets=((2036, 1),)
)


@pytest.fixture
def run(tmp_path: Path) -> RunDirectory:
    return RunDirectory.create(tmp_path, "demo", {})


def test_a_stall_has_its_own_time_and_length() -> None:
    stalled = interval((), begin_s=1.0, end_s=2.0, stalls=(Stall(1.5, 2**63 + 1, 4_000_000),))
    (spike,) = interval_spikes(7, PLANS, stalled)
    assert (spike.kind, spike.trial, spike.cpu, spike.stream) == ("stall", 7, 5, None)
    assert spike.end_ms == pytest.approx(BEGIN_MS + 1500)
    assert spike.begin_ms == pytest.approx(BEGIN_MS + 1496)
    assert (spike.length_ns, spike.tsc) == (4_000_000, 2**63 + 1)
    assert spike.attribution == "tester stall"


def test_a_frame_that_the_dut_held_is_not_the_testers_for_a_short_stall() -> None:
    """8 ms of which a stall of 30 us can have been part: 7.97 ms are the DUT's for certain."""
    less = Histogram(1, 7_970_000, 7_970_000, 7_970_000, ((2034, 1),))
    worst = interval((counts(1, latency=FOUR, across=SLOW, less_stalls=less),))
    (spike,) = interval_spikes(7, PLANS, worst)
    assert (spike.length_ns, spike.attribution) == (7_970_000, "unattributed")


def test_the_worst_latency_is_attributed_by_what_a_stall_can_have_taken_of_it() -> None:
    worst = interval((counts(1, latency=FOUR, across=SLOW),), begin_s=1.0, end_s=2.0)
    clean, touched = interval_spikes(7, PLANS, worst)
    assert (clean.length_ns, clean.attribution) == (250, "unattributed")
    assert (touched.length_ns, touched.attribution) == (8_000_000, "tester stall")
    assert (clean.stream, clean.begin_ms, clean.end_ms) == (
        "probe/0-1",
        pytest.approx(BEGIN_MS + 1000),
        pytest.approx(BEGIN_MS + 2000),
    )


def test_spikes_gather_in_one_parquet_file_over_trials(run: RunDirectory) -> None:
    with SpikeLog(run) as log:
        for trial in (1, 2):
            log.append(trial, PLANS, interval((counts(1, latency=FOUR),)))
            log.convert()
    assert [spike.trial for spike in read_spikes(run)] == [1, 2]
    with duckdb.connect() as connection:
        found = connection.execute(
            "SELECT trial, length_ns FROM read_parquet(?) ORDER BY trial", [str(run.spikes)]
        ).fetchall()
    assert found == [(1, 250), (2, 250)]
    assert not run.spikes.with_suffix(".jsonl").exists()


def test_a_time_stamp_counter_keeps_all_its_bits(run: RunDirectory) -> None:
    stall = Stall(0.5, 2**64 - 1, 30_000)
    with SpikeLog(run) as log:
        log.append(1, PLANS, interval((), stalls=(stall,)))
        assert [spike.tsc for spike in read_spikes(run)] == [2**64 - 1]
        log.convert()
    assert [spike.tsc for spike in read_spikes(run)] == [2**64 - 1]


def test_spikes_of_a_killed_run_are_read_and_kept(run: RunDirectory) -> None:
    log = SpikeLog(run)
    log.append(1, PLANS, interval((counts(1, latency=FOUR),)))
    log.close()
    assert len(read_spikes(run)) == 1
    with SpikeLog(run) as resumed:
        resumed.append(2, PLANS, interval((counts(1, latency=FOUR),)))
        resumed.convert()
    assert [spike.trial for spike in read_spikes(run)] == [1, 2]


def test_a_run_without_spikes_has_none(run: RunDirectory) -> None:
    assert read_spikes(run) == []


def stalled(second: int, length_ns: int) -> Interval:
    return interval(
        (), begin_s=second, end_s=second + 1.0, stalls=(Stall(second + 0.5, second, length_ns),)
    )


def test_beyond_ten_minutes_the_ten_longest_of_a_minute_are_kept(run: RunDirectory) -> None:
    with SpikeLog(run) as log:
        for number in range(720):
            log.append(1, PLANS, stalled(number, 1000 + number % 60))
        log.settle()
        assert log.left_out == {"stall, tester stall": 100}
        log.convert()
    lengths = [spike.length_ns for spike in read_spikes(run)]
    assert len(lengths) == 600 + 2 * 10
    # The stalls of each minute are 1000 to 1059 ns long.
    assert sorted(lengths[600:]) == sorted(2 * list(range(1050, 1060)))


def test_each_kind_and_cause_has_its_own_ten(run: RunDirectory) -> None:
    both = (counts(1, latency=FOUR, across=SLOW),)
    with SpikeLog(run) as log:
        for number in range(600, 660):
            log.append(1, PLANS, interval(both, begin_s=number, end_s=number + 1.0))
        log.convert()
    causes = [spike.attribution for spike in read_spikes(run)]
    assert causes.count("unattributed") == 10
    assert causes.count("tester stall") == 10


def test_a_kill_in_the_middle_of_a_minute_keeps_all_of_it_once(run: RunDirectory) -> None:
    log = SpikeLog(run)
    for number in range(600, 630):
        log.append(1, PLANS, stalled(number, 1000 + number))
    log.close()
    assert len(read_spikes(run)) == 30
    with SpikeLog(run) as resumed:
        resumed.convert()
    assert len(read_spikes(run)) == 30
