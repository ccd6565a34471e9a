import base64
import struct
import tracemalloc
import zlib
from pathlib import Path

import pytest
from hdrh.histogram import HdrHistogram
from hdrh.log import HistogramLogReader

from plimsoll.generator.histogram import Histogram
from plimsoll.record.files.record_error import RecordError
from plimsoll.record.metrics.histogram_log import (
    HistogramLog,
    gaps_tag,
    read_histogram_log,
    stream_tag,
)
from tests.unit.record.trial_parts import BEGIN_NS, FOUR, PLANS, counts, interval, second
from tests.worded.says import Says

BEGIN_S = BEGIN_NS / 1e9


def test_the_packages_own_reader_reads_the_log(tmp_path: Path) -> None:
    path = tmp_path / "histograms.hlog"
    with HistogramLog(path) as log:
        log.append(PLANS, second(0))
        log.append(PLANS, second(1))
    reader = HistogramLogReader(str(path), HdrHistogram(1, 2**37 - 1, 2))
    first, then = reader.get_next_interval_histogram(), reader.get_next_interval_histogram()
    assert reader.get_next_interval_histogram() is None
    assert first.get_tag() == "probe/0-1@0:1"
    assert first.get_total_count() == 4
    assert [first.get_count_at_value(value) for value in (100, 200, 250)] == [1, 2, 1]
    assert first.get_start_time_stamp() == pytest.approx(BEGIN_S * 1e3)
    assert then.get_start_time_stamp() == pytest.approx((BEGIN_S + 1) * 1e3)


def test_a_resumed_run_goes_on_in_the_same_file(tmp_path: Path) -> None:
    path = tmp_path / "histograms.hlog"
    for number in range(2):
        with HistogramLog(path) as log:
            log.append(PLANS, second(number))
    assert [logged.begin_s - BEGIN_S for logged in read_histogram_log(path)] == [0.0, 1.0]
    assert path.read_text().count("#[StartTime") == 1


def test_intervals_are_chosen_by_their_begin(tmp_path: Path) -> None:
    path = tmp_path / "histograms.hlog"
    with HistogramLog(path) as log:
        for number in range(4):
            log.append(PLANS, second(number))
    chosen = read_histogram_log(path, begin_s=BEGIN_S + 0.5, end_s=BEGIN_S + 3)
    assert [logged.begin_s - BEGIN_S for logged in chosen] == [1.0, 2.0]


def test_both_ends_of_samples_across_stalls_have_tags_of_their_own(tmp_path: Path) -> None:
    path = tmp_path / "histograms.hlog"
    low = Histogram(4, 40, 10, 10, ((10, 4),))
    with HistogramLog(path) as log:
        log.append(PLANS, interval((counts(1, latency=FOUR, across=FOUR, less_stalls=low),)))
    assert {logged.tag: logged.max_ns for logged in read_histogram_log(path)} == {
        "probe/0-1@0:1": FOUR.max_ns,
        "probe/0-1@0:1+across-stalls": FOUR.max_ns,
        "probe/0-1@0:1+less-stalls": 10,
    }


def test_lateness_and_gaps_have_tags_of_their_own(tmp_path: Path) -> None:
    path = tmp_path / "histograms.hlog"
    with HistogramLog(path) as log:
        log.append(PLANS, interval((counts(1, lateness=FOUR),), gaps=FOUR))
    logged = list(read_histogram_log(path))
    assert [each.tag for each in logged] == ["probe/0-1@0:1+lateness", "polling-gaps@cpu-5"]
    assert [each.histogram.get_total_count() for each in logged] == [4, 4]
    assert logged[1].tag == gaps_tag(5)


def test_a_torn_last_line_is_left_out_and_a_resumed_run_cuts_it_off(tmp_path: Path) -> None:
    path = tmp_path / "histograms.hlog"
    with HistogramLog(path) as log:
        log.append(PLANS, second(0))
        log.append(PLANS, second(1))
    path.write_bytes(path.read_bytes()[:-20])
    assert len(list(read_histogram_log(path))) == 1
    with HistogramLog(path) as log:
        log.append(PLANS, second(2))
    assert len(list(read_histogram_log(path))) == 2


def test_a_damaged_line_is_named(tmp_path: Path, says: Says) -> None:
    path = tmp_path / "histograms.hlog"
    path.write_text("#comment\nTag=a,1.0,1.0,1.0,HISTnonsense\n")
    with pytest.raises(RecordError) as caught:
        list(read_histogram_log(path))
    assert caught.value == says("2")


def test_a_line_that_unpacks_to_more_than_a_histogram_is_not_unpacked(
    tmp_path: Path, says: Says
) -> None:
    """100 KB would become 64 MiB."""
    packed = zlib.compress(bytes(64 << 20))
    payload = base64.b64encode(struct.pack(">II", 0x1C849314, len(packed)) + packed).decode()
    path = tmp_path / "histograms.hlog"
    path.write_text(f"Tag=a,1.0,1.0,1.0,{payload}\n")
    tracemalloc.start()
    try:
        with pytest.raises(RecordError) as caught:
            list(read_histogram_log(path))
        assert caught.value == says("1")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 2 << 20


def test_without_a_file_there_are_no_intervals(tmp_path: Path) -> None:
    assert list(read_histogram_log(tmp_path / "histograms.hlog")) == []


def test_tags_hold_no_commas_or_spaces_and_stay_apart() -> None:
    assert stream_tag("probe/0-1", 0, 1) == "probe/0-1@0:1"
    odd = {stream_tag(name, 0, 1) for name in ("a b", "a_b", "a,b", "a%20b", "ä")}
    assert len(odd) == 5
    assert not any("," in tag or " " in tag for tag in odd)


def test_beyond_ten_minutes_an_entry_is_of_a_minute_and_no_sample_is_lost(tmp_path: Path) -> None:
    path = tmp_path / "histograms.hlog"
    with HistogramLog(path) as log:
        for number in range(750):
            log.append(PLANS, second(number))
        log.settle()
    logged = list(read_histogram_log(path))
    lengths = [round(each.end_s - each.begin_s) for each in logged]
    assert lengths == [1] * 600 + [60, 60, 30]
    assert [round(each.begin_s - BEGIN_S) for each in logged[600:]] == [600, 660, 720]
    # Four samples a second: 100, 200, 200 and 250 ns.
    assert [each.histogram.get_total_count() for each in logged[600:]] == [240, 240, 120]
    assert logged[600].histogram.get_count_at_value(200) == 120
    assert sum(each.histogram.get_total_count() for each in logged) == 750 * 4


def test_what_a_kill_leaves_of_an_open_minute_is_there_second_by_second(tmp_path: Path) -> None:
    path = tmp_path / "histograms.hlog"
    with HistogramLog(path) as log:
        for number in range(600, 665):
            log.append(PLANS, second(number))
    # Closed without an end of the trial: a whole minute, and five seconds of the next.
    logged = list(read_histogram_log(path))
    assert [round(each.end_s - each.begin_s) for each in logged] == [60, 1, 1, 1, 1, 1]
    with HistogramLog(path) as log:
        log.append(PLANS, second(0))
    assert len(list(read_histogram_log(path))) == 7


def test_a_trial_that_follows_ends_the_open_minute(tmp_path: Path) -> None:
    path = tmp_path / "histograms.hlog"
    with HistogramLog(path) as log:
        for number in (600, 601, 0):
            log.append(PLANS, second(number))
    lengths = [round(each.end_s - each.begin_s) for each in read_histogram_log(path)]
    assert lengths == [2, 1]


@pytest.mark.parametrize(
    "line",
    [
        "Tag=a,1.2.3,1.000,1.000000,HIST",
        "Tag=a,1.000,.,1.000000,HIST",
        "Tag=a,1.000,1.000,,HIST",
        f"Tag=a,{'9' * 400}.000,1.000,1.000000,HIST",
        "Tag=a,1.000,1.000",
        # A flipped bit of the first letter.
        "Uag=a,1.000,1.000,1.000000,HIST",
        "",
    ],
)
def test_a_line_whose_numbers_or_fields_are_damaged_is_named(
    tmp_path: Path, line: str, says: Says
) -> None:
    path = tmp_path / "histograms.hlog"
    path.write_text(f"#comment\n{line}\n")
    with pytest.raises(RecordError) as caught:
        list(read_histogram_log(path))
    assert caught.value == says("2")
    assert caught.value.where == str(path)


def test_a_histogram_of_other_buckets_is_no_entry_of_ours(tmp_path: Path, says: Says) -> None:
    path = tmp_path / "histograms.hlog"
    payload = HdrHistogram(1, 1000, 1).encode().decode("ascii")
    path.write_text(f"Tag=a,1.000,1.000,1.000000,{payload}\n")
    with pytest.raises(RecordError) as caught:
        list(read_histogram_log(path))
    assert caught.value == says("1")


def test_the_greatest_value_is_exact_and_not_that_of_its_bucket(tmp_path: Path) -> None:
    path = tmp_path / "histograms.hlog"
    greatest = Histogram(1, 1_000_003, 1_000_003, 1_000_003, ((1780, 1),))
    with HistogramLog(path) as log:
        log.append(PLANS, interval((counts(1, latency=greatest),)))
    (logged,) = read_histogram_log(path)
    assert logged.max_ns == 1_000_003
    assert logged.histogram.get_max_value() > 1_000_003


@pytest.mark.parametrize("name", ["histograms.hlog", "histograms.hlog.open"])
def test_bytes_that_are_no_text_are_damage(tmp_path: Path, name: str, says: Says) -> None:
    (tmp_path / name).write_bytes(b'{"follows_bytes": 0}\n\xff\xfe\n')
    with pytest.raises(RecordError) as caught:
        list(read_histogram_log(tmp_path / "histograms.hlog"))
    assert caught.value == says()
    assert caught.value.where == str(tmp_path / name)


def test_a_stretch_that_does_not_say_what_it_follows_is_damage(tmp_path: Path, says: Says) -> None:
    stretch = tmp_path / "histograms.hlog.open"
    for first in ("nonsense", "[]", '{"follows_bytes": "x"}', "[" * 100_000):
        stretch.write_text(f"{first}\n")
        with pytest.raises(RecordError) as caught:
            list(read_histogram_log(tmp_path / "histograms.hlog"))
        assert caught.value == says("1")


def test_a_log_that_cannot_be_read_is_said_with_the_remedy(tmp_path: Path, says: Says) -> None:
    (tmp_path / "histograms.hlog").mkdir()
    with pytest.raises(RecordError) as caught:
        list(read_histogram_log(tmp_path / "histograms.hlog"))
    assert caught.value == says("histograms.hlog")
