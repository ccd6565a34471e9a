from pathlib import Path

import duckdb
import pytest

from plimsoll.generator.histogram import Histogram
from plimsoll.generator.interface import Stall
from plimsoll.record.run_directory import RunDirectory
from plimsoll.record.spikes import SpikeLog, interval_spikes, read_spikes
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


def test_the_worst_latency_is_attributed_by_whether_a_stall_touched_its_frame() -> None:
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
