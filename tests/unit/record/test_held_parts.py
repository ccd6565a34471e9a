"""Exports of a running run: what grows becomes Parquet while it is read."""

import errno
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from plimsoll.export.parquet_parts import metric_batches, parquet_parts, periods_to_export
from plimsoll.record.files.record_error import RecordError
from plimsoll.record.metrics.interval_samples import interval_samples
from plimsoll.record.metrics.metric_log import MetricLog
from plimsoll.record.metrics.metrics import MetricsWriter
from plimsoll.record.run.run_directory import RunDirectory
from tests.unit.record.trial_parts import BEGIN_NS, PLANS, second

S = 10**9
PERIOD = "trial-0001"
STATEMENT = "SELECT type, begin_ms, count FROM rows"
Copy = Callable[[Path, Path], Path]


@pytest.fixture
def run(tmp_path: Path) -> RunDirectory:
    return RunDirectory.create(tmp_path, "demo", {})


def growing(run: RunDirectory, seconds: int) -> MetricsWriter:
    """A period that has this many seconds, each with 2010 frames received."""
    writer, log = MetricsWriter(run, PERIOD), MetricLog(PERIOD, BEGIN_NS)
    for number in range(seconds):
        begin_ns = BEGIN_NS + number * S
        samples = interval_samples(PLANS, second(number), refused_is_lost=False)
        writer.append(log.samples(samples, begin_ns, begin_ns + S))
    return writer


def frames(batches: list[list[tuple[str, int, int | None]]]) -> int:
    return sum(count or 0 for rows in batches for kind, _, count in rows if kind == "rx-pps")


def test_a_part_that_becomes_parquet_before_it_is_opened_is_listed_again(
    run: RunDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy: Copy = shutil.copyfile
    with growing(run, seconds=3) as writer:

        def too_late(source: Path, target: Path) -> Path:
            writer.finish()
            return copy(source, target)

        monkeypatch.setattr(shutil, "copyfile", too_late)
        batches = list(metric_batches(run, STATEMENT, period=PERIOD))
    assert frames(batches) == 3 * 2010


def test_as_parquet_it_is_then_the_records_own(
    run: RunDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy: Copy = shutil.copyfile
    with growing(run, seconds=3) as writer:
        periods = periods_to_export(run)

        def too_late(source: Path, target: Path) -> Path:
            writer.finish()
            return copy(source, target)

        monkeypatch.setattr(shutil, "copyfile", too_late)
        with parquet_parts(run, periods) as parts:
            assert parts == (run.metrics / f"{PERIOD}.parquet",)


def test_a_part_that_becomes_parquet_while_it_is_read_is_read_once(run: RunDirectory) -> None:
    with growing(run, seconds=400) as writer:
        batches = metric_batches(run, STATEMENT, period=PERIOD)
        first = next(batches)
        writer.finish()
        rest = list(batches)
    # Otherwise all of it was in memory before the part had gone.
    assert rest
    assert frames([first, *rest]) == 400 * 2010


def test_no_room_for_a_copy_is_reported_with_its_remedy(
    run: RunDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(source: Path, target: Path) -> Path:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(shutil, "copyfile", full)
    with (
        growing(run, seconds=1),
        pytest.raises(RecordError, match="cannot be copied: No space left") as caught,
    ):
        list(metric_batches(run, STATEMENT, period=PERIOD))
    assert caught.value.where == str(run.metrics / f"{PERIOD}.jsonl")
    assert "TMPDIR" in caught.value.remedy
