"""Histogram logs: what comes out is read with the package's own reader."""

from pathlib import Path

import pytest
from hdrh.histogram import HdrHistogram
from hdrh.log import HistogramLogReader

from plimsoll.errors import InputError
from plimsoll.export.parquet_parts import periods_to_export
from plimsoll.export.text_forms import histogram_lines
from plimsoll.record.files.record_error import RecordError
from plimsoll.record.metrics.histogram_log import HistogramLog
from plimsoll.record.run.run_directory import RunDirectory
from tests.unit.export.exported_run import idle, write_metrics
from tests.unit.record.trial_parts import PLANS, second
from tests.worded.says import Says

PROBE = "probe/0-1@0:1"


@pytest.fixture
def logged(run: RunDirectory) -> RunDirectory:
    """Three seconds of four samples each: 100, 200, 200 and 250 ns."""
    with HistogramLog(run.histograms) as log:
        for number in range(3):
            log.append(PLANS, second(number))
    return run


def entries(lines: list[str]) -> list[tuple[str, int]]:
    """The tag and the number of samples of each entry."""
    found = []
    for line in lines:
        if line.startswith("Tag="):
            tag, *_, payload = line.removeprefix("Tag=").split(",")
            found.append((tag, HdrHistogram.decode(payload).get_total_count()))
    return found


def test_without_wishes_it_is_the_runs_own_file(logged: RunDirectory) -> None:
    lines = list(histogram_lines(logged))
    assert "\n".join(lines) + "\n" == logged.histograms.read_text()


def test_only_the_tags_requested(logged: RunDirectory) -> None:
    lines = list(histogram_lines(logged, tags=[PROBE]))
    assert entries(lines) == [(PROBE, 4)] * 3


def test_merged_there_is_one_entry_for_a_tag(logged: RunDirectory, tmp_path: Path) -> None:
    lines = list(histogram_lines(logged, tags=[PROBE], merge=True))
    assert entries(lines) == [(PROBE, 12)]
    begin, length, greatest = lines[-1].split(",")[1:4]
    # The first second's begin, three seconds, 250 ns.
    assert (begin, length, greatest) == ("1773480413.000", "3.000", "0.000250")
    path = tmp_path / "merged.hlog"
    path.write_text("\n".join(lines) + "\n")
    read = HistogramLogReader(str(path), HdrHistogram(1, 10**9, 3)).get_next_interval_histogram()
    assert read.get_total_count() == 12
    assert [read.get_value_at_percentile(p) for p in (25, 50, 75, 100)] == [100, 200, 200, 250]


def test_a_period_has_what_happened_in_it(logged: RunDirectory) -> None:
    write_metrics(logged, "trial-0003", [idle(1000, 3000, 1.0)], period="trial-0003")
    later = periods_to_export(logged, ["trial-0003"])
    assert entries(list(histogram_lines(logged, later, [PROBE]))) == [(PROBE, 4)] * 2
    merged = histogram_lines(logged, later, [PROBE], merge=True)
    assert entries(list(merged)) == [(PROBE, 8)]


def test_a_tag_that_is_not_there_is_reported_with_those_that_are(
    logged: RunDirectory, says: Says
) -> None:
    with pytest.raises(InputError) as raised:
        list(histogram_lines(logged, tags=["probe"]))
    assert raised.value == says("probe")
    assert PROBE in raised.value.remedy


def test_a_run_without_histograms_has_no_lines(run: RunDirectory) -> None:
    assert list(histogram_lines(run)) == []


@pytest.mark.parametrize("line", ["Tag=x,1,2", "Tag=x,1.0,1.0,1.0,HISTFAAAA"])
def test_a_damaged_line_is_reported(logged: RunDirectory, line: str) -> None:
    with logged.histograms.open("a") as file:
        file.write(line + "\n")
    with pytest.raises(RecordError, match="is damaged") as raised:
        list(histogram_lines(logged, merge=True))
    assert raised.value.where == str(logged.histograms)
