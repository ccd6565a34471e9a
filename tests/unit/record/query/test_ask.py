from pathlib import Path

import duckdb
import pytest

from plimsoll.errors import InputError
from plimsoll.record.files.record_error import RecordError
from plimsoll.record.metrics.metric_log import MetricLog
from plimsoll.record.metrics.metrics import MetricsWriter
from plimsoll.record.query import (
    MetricQuery,
    Moment,
    QueryAnswer,
    ask,
    parse_breakouts,
    parse_filter,
)
from plimsoll.record.run.journal import Journal
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.record.samples.metric_type import MetricSample, MetricType
from tests.unit.record.query.metric_runs import make_run, row, sending, write_rows
from tests.worded.says import Says

SECOND = 1000
BUSY = ("mpstat", "Busy-CPU")


def busy(num: str, kind: str, value: float, *span_ms: int):
    return row(*BUSY, {"hostname": "dut", "num": num, "type": kind}, value, *span_ms)


@pytest.fixture
def run(tmp_path: Path) -> RunDirectory:
    """Sends from second 10 to 20; the host was watched from 0 to 30."""
    made = make_run(tmp_path, "demo", {"validation": {"trial": 1}})
    write_rows(made, "trial-0001", [sending(10 * SECOND, 20 * SECOND)])
    rows = [
        busy("2", "usr", 0.0, 0, 10 * SECOND),
        busy("2", "usr", 0.8, 10 * SECOND, 20 * SECOND),
        busy("2", "usr", 0.0, 20 * SECOND, 30 * SECOND),
        busy("2", "sys", 0.1, 0, 30 * SECOND),
        busy("10", "usr", 0.4, 0, 15 * SECOND),
    ]
    write_rows(made, "trial-0001@dut", rows)
    return made


def cells(answer: QueryAnswer) -> dict[tuple[str | None, ...], list[float | None]]:
    return {
        r.names: [v if v is None else pytest.approx(v, abs=1e-12) for v in r.values]
        for r in answer.rows
    }


def test_without_breakouts_it_is_one_series_over_the_time_in_which_frames_were_sent(
    run: RunDirectory,
) -> None:
    answer = ask(run, MetricQuery(*BUSY))
    assert cells(answer) == {(): [0.8 + 0.1 + 0.4]}
    (found,) = answer.ranges.values()
    assert (found.begin_ms, found.end_ms) == (10_000, 20_000)
    assert (answer.unit, answer.metric_class, answer.aggregation) == ("1/s", "throughput", "sum")


def test_a_gap_is_neither_zero_nor_carried_on(run: RunDirectory) -> None:
    answer = ask(run, MetricQuery(*BUSY, resolution=2, breakouts=parse_breakouts("num,type")))
    assert cells(answer) == {
        ("2", "sys"): [0.1, 0.1],
        ("2", "usr"): [0.8, 0.8],
        ("10", "usr"): [0.4, None],
    }
    # In order of the numbers in them.
    assert [r.names[0] for r in answer.rows] == ["2", "2", "10"]


def test_begin_and_end_may_reach_beyond_the_measurement(run: RunDirectory) -> None:
    query = MetricQuery(
        *BUSY, begin=0, end=Moment(10_000, "begin"), breakouts=parse_breakouts("type=usr")
    )
    # CPU 2: 10 s at 0 and 10 s at 0.8; CPU 10: 0.4 in the 15 s in which it was there.
    assert cells(ask(run, query)) == {("usr",): [0.4 + 0.4]}


@pytest.mark.parametrize(
    ("breakouts", "expected"),
    [
        ("num", {("2",): [0.9], ("10",): [0.4]}),
        ("num=2", {("2",): [0.9]}),
        ("type=usr+sys,num=2", {("sys", "2"): [0.1], ("usr", "2"): [0.8]}),
        ("num=r/1.*/", {("10",): [0.4]}),
        # It has to match all of a value: 1 does not match 10.
        ("num=r/1|2/", {("2",): [0.9]}),
        ("num=R/[0-9]+/", {("[0-9]+",): [1.3]}),
        ("num=R/[0-9]+/,type", {("[0-9]+", "sys"): [0.1], ("[0-9]+", "usr"): [1.2]}),
    ],
)
def test_breakouts_split_and_select(
    run: RunDirectory, breakouts: str, expected: dict[tuple[str, ...], list[float]]
) -> None:
    answer = ask(run, MetricQuery(*BUSY, breakouts=parse_breakouts(breakouts)))
    assert cells(answer) == expected
    assert answer.columns == tuple(breakouts.split(","))


def test_what_is_left_to_break_out_by_is_reported_for_the_rows_shown(run: RunDirectory) -> None:
    assert ask(run, MetricQuery(*BUSY)).remaining == {"hostname": 1, "num": 2, "type": 2}
    query = MetricQuery(*BUSY, breakouts=parse_breakouts("num"), filter=parse_filter("lt:0.5"))
    assert ask(run, query).remaining == {"hostname": 1, "type": 1}


def test_a_filter_looks_at_the_whole_range_and_not_at_windows(run: RunDirectory) -> None:
    query = MetricQuery(
        *BUSY,
        begin=0,
        end=30_000,
        resolution=3,
        breakouts=parse_breakouts("num,type"),
        filter=parse_filter("ge:0.25"),
    )
    # CPU 2 was at 0.8 for a third of the time.
    assert cells(ask(run, query)) == {
        ("2", "usr"): [0.0, 0.8, 0.0],
        ("10", "usr"): [0.4, 0.4, None],
    }


def test_a_filter_that_nothing_passes_leaves_no_row_and_says_what_there_is(
    run: RunDirectory,
    says: Says,
) -> None:
    query = MetricQuery(*BUSY, breakouts=parse_breakouts("num"), filter=parse_filter("gt:5"))
    answer = ask(run, query)
    assert answer.rows == ()
    assert answer.notes == (says("2", "gt:5", "0.4", "0.9"),)


def test_a_zero_is_a_value(run: RunDirectory) -> None:
    query = MetricQuery(*BUSY, begin=0, end=5000, breakouts=parse_breakouts("num=2,type=usr"))
    assert cells(ask(run, query)) == {("2", "usr"): [0.0]}


def test_series_without_a_name_are_a_row_of_their_own(tmp_path: Path) -> None:
    run = make_run(tmp_path, "run")
    rows = [row("s", "t", {"irq": "7", "cpu": "0"}, 3.0), row("s", "t", {"cpu": "0"}, 4.0)]
    write_rows(run, "trial-0001", [sending(), *rows])
    answer = ask(run, MetricQuery("s", "t", breakouts=parse_breakouts("irq")))
    assert cells(answer) == {("7",): [3.0], (None,): [4.0]}


def test_the_same_names_in_another_order_and_file_are_the_same_series(tmp_path: Path) -> None:
    run = make_run(tmp_path, "run")
    early, late = (0, 1000), (1000, 2000)
    write_rows(run, "trial-0001", [row("s", "t", {"a": "1", "b": "2"}, 3.0, *early)])
    later = [row("s", "t", {"b": "2", "a": "1"}, 5.0, *late)]
    write_rows(run, "trial-0001-002", later, foreign=True)
    # Two series would come to 3 + 5.
    assert cells(ask(run, MetricQuery("s", "t"))) == {(): [4.0]}


HOSTILE = ["'; DROP TABLE parts; --", '"', "a,b", "\x1b[31m", "{}", "ü", "?", "a\nb", "\\", "%s"]


@pytest.mark.parametrize("text", HOSTILE)
def test_names_and_values_are_never_sql(tmp_path: Path, text: str) -> None:
    run = make_run(tmp_path, "run")
    rows = [row(text, text, {text: text, "n": n}, 1.0) for n in "12"]
    write_rows(run, "trial-0001", [sending(), *rows])
    escaped = "".join(f"\\{c}" if c in "\\,+=" else c for c in text)
    breakouts = parse_breakouts(f"{escaped}={escaped}")
    assert cells(ask(run, MetricQuery(text, text, breakouts=breakouts))) == {(text,): [2.0]}


def test_parquet_of_others_answers_too(tmp_path: Path) -> None:
    run = make_run(tmp_path, "run")
    rows = [row("s", "t", {"n": n, "quote": '"'}, 2.0) for n in "12"]
    write_rows(run, "trial-0001", [sending(), *rows], foreign=True)
    answer = ask(run, MetricQuery("s", "t", breakouts=parse_breakouts("n")))
    assert cells(answer) == {("1",): [2.0], ("2",): [2.0]}


def test_without_a_generator_the_time_is_that_of_all_rows(tmp_path: Path) -> None:
    run = make_run(tmp_path, "run")
    rows = [busy("1", "usr", 0.5, 3000, 4000), row("a", "b", {}, 1.0, 1000, 9000)]
    write_rows(run, "trial-0001@dut", rows)
    (found,) = ask(run, MetricQuery(*BUSY)).ranges.values()
    assert (found.begin_ms, found.end_ms) == (1000, 9000)


def test_the_drain_is_no_part_of_the_measurement(tmp_path: Path) -> None:
    run = make_run(tmp_path, "run")
    names = {"tx_port": "0", "rx_port": "1"}
    rx = [row("trafficgen", "rx-pps", names, 50.0, 1000, 2000)]
    rx += [row("trafficgen", "rx-pps", names, 0.0, 2000, 2250)]
    tx = [row("trafficgen", "tx-pps", names, 50.0, 1000, 2000)]
    tx += [row("trafficgen", "tx-pps", names, 0.0, 2000, 2250)]
    write_rows(run, "trial-0001", rx + tx)
    assert cells(ask(run, MetricQuery("trafficgen", "rx-pps"))) == {(): [50.0]}


def test_our_own_generator_answers_for_trex_and_says_so(tmp_path: Path) -> None:
    ours, theirs = make_run(tmp_path, "ours"), make_run(tmp_path, "theirs")
    for run, source in ((ours, "trafficgen-engine"), (theirs, "trafficgen-trex-profiler")):
        util = row(source, "rx-port-util", {"rx_port": "0"}, 35.92, aggregation="mean")
        write_rows(run, "trial-0001", [sending(), util])
    query = MetricQuery("trafficgen-trex-profiler", "rx-port-util")
    answer = ask(ours, query)
    assert [r.source for r in answer.rows] == ["trafficgen-engine"]
    assert "answered from trafficgen-engine" in answer.notes[0]
    both = ask([ours, theirs], query)
    assert [(r.run, r.source) for r in both.rows] == [
        ("ours", "trafficgen-engine"),
        ("theirs", "trafficgen-trex-profiler"),
    ]
    assert ask(theirs, query).notes == ()


def test_runs_have_their_own_times_and_rows(tmp_path: Path) -> None:
    runs = []
    for number in (1, 2, 3):
        run = make_run(tmp_path, f"run-{number}")
        span = (1000 * number, 1000 * number + 500)
        rows = [sending(*span)]
        if number != 2:
            rows.append(row("s", "t", {"n": "1"}, float(number), *span))
        write_rows(run, "trial-0001", rows)
        runs.append(run)
    answer = ask(runs, MetricQuery("s", "t", resolution=2))
    assert [(r.run, r.values) for r in answer.rows] == [
        ("run-1", (1.0, 1.0)),
        ("run-3", (3.0, 3.0)),
    ]
    assert answer.silent == ("run-2",)
    assert answer.windows is None
    assert [w.end_ms for w in answer.windows_of("run-3")] == [3250, 3500]


def test_runs_of_the_same_name_are_distinguished_by_their_paths(tmp_path: Path) -> None:
    runs = [make_run(tmp_path / folder, "same") for folder in "ab"]
    for run in runs:
        write_rows(run, "trial-0001", [sending()])
    answer = ask(runs, MetricQuery("trafficgen", "tx-pps"))
    assert [r.run for r in answer.rows] == [str(run.path) for run in runs]


@pytest.mark.parametrize("count", [1, 2, 5])
def test_a_damaged_run_is_reported_and_the_others_are_answered(tmp_path: Path, count: int) -> None:
    good = [make_run(tmp_path, f"good-{n}") for n in range(count)]
    for run in good:
        write_rows(run, "trial-0001", [sending(), row("s", "t", {}, 1.0)])
    bad = make_run(tmp_path, "bad")
    # Whole at its ends, so that it is only found when its middle is read.
    path = write_rows(bad, "trial-0001", [sending(), *(row("s", "t", {}, v) for v in range(99))])
    content = bytearray(path.read_bytes())
    content[4 : len(content) // 3] = bytes(len(content) // 3 - 4)
    path.write_bytes(content)
    answer = ask([good[0], bad, *good[1:]], MetricQuery("s", "t"))
    assert [r.run for r in answer.rows] == [run.run_id for run in good]
    (failure,) = answer.failures
    assert failure.run == "bad"
    assert "trial-0001.parquet" in failure.error.where
    assert failure.error.remedy
    assert answer.silent == ()


def test_when_no_run_can_be_read_that_is_the_error(tmp_path: Path, says: Says) -> None:
    run = make_run(tmp_path, "bad")
    (run.metrics / "trial-0001.parquet").write_text("no parquet")
    with pytest.raises(RecordError) as caught:
        ask(run, MetricQuery("s", "t"))
    assert caught.value == says()


def test_a_matrix_has_metrics_in_its_runs(tmp_path: Path, says: Says) -> None:
    matrix = make_run(tmp_path, "sizes")
    part = matrix.path / "iteration-0001" / "sample-1"
    part.mkdir(parents=True)
    (part / "journal.jsonl").touch()
    error = refusal(matrix, MetricQuery(*BUSY))
    assert error == says("sizes", "--run")
    assert f"--run '{matrix.path}/iteration-*/sample-*'" in error.remedy


def test_what_no_sound_run_has_is_reported_with_the_damaged_ones_that_may_have_it(
    tmp_path: Path,
    says: Says,
) -> None:
    good, bad = make_run(tmp_path, "good"), make_run(tmp_path, "bad")
    write_rows(good, "trial-0001", [sending()])
    (bad.metrics / "trial-0001.parquet").write_text("no parquet")
    with pytest.raises(InputError) as caught:
        ask([good, bad], MetricQuery("mpstat", "Busy-CPU"))
    assert caught.value == says("1")
    assert str(bad.metrics / "trial-0001.parquet") in caught.value.remedy


def test_of_the_files_of_a_run_the_damaged_one_is_named_and_no_sql(tmp_path: Path) -> None:
    run = make_run(tmp_path, "run")
    for name in ("a", "b", "c", "d"):
        write_rows(run, f"trial-0001@{name}", [sending()])
    damaged = run.metrics / "trial-0001@d.parquet"
    damaged.write_text("no parquet")
    with pytest.raises(RecordError) as caught:
        ask(run, MetricQuery("trafficgen", "tx-pps"))
    assert caught.value.where == str(damaged)
    assert "SELECT" not in caught.value.message
    assert "\n" not in caught.value.message


def test_files_of_another_form_are_not_called_damaged(tmp_path: Path, says: Says) -> None:
    run = make_run(tmp_path, "run")
    path = write_rows(run, "trial-0001", [sending()])
    older = path.with_name("older")
    with duckdb.connect() as connection:
        rows = connection.read_parquet(str(path))
        rows.select("* EXCLUDE (unit, aggregation)").write_parquet(str(older))
    older.replace(path)
    with pytest.raises(RecordError) as caught:
        ask(run, MetricQuery("trafficgen", "tx-pps"))
    assert caught.value == says()
    assert '"unit"' in caught.value.message
    assert "delete" not in caught.value.remedy


def test_a_wrong_type_of_the_source_of_trex_is_reported_as_a_type(tmp_path: Path) -> None:
    run = make_run(tmp_path, "run")
    write_rows(run, "trial-0001", [sending(), row("trafficgen-engine", "rx-port-util", {}, 1.0)])
    error = refusal(run, MetricQuery("trafficgen-trex-profiler", "rx-port-utl"))
    assert error.where == "--type rx-port-utl"
    assert "rx-port-util" in error.remedy


@pytest.mark.parametrize("period", ["measurement", "trial-0001"])
def test_a_run_whose_files_cannot_be_listed_is_not_taken_for_one_without(
    tmp_path: Path, period: str, says: Says
) -> None:
    good, bad = make_run(tmp_path, "good"), make_run(tmp_path, "bad")
    write_rows(good, "trial-0001", [sending()])
    # As a folder that may not be read, which is no obstacle to root.
    bad.metrics.rmdir()
    bad.metrics.write_text("")
    answer = ask([bad, good], MetricQuery("trafficgen", "tx-pps", period=period))
    assert [r.run for r in answer.rows] == ["good"]
    assert answer.silent == ()
    (failure,) = answer.failures
    assert (failure.run, failure.error.where) == ("bad", str(bad.metrics))
    with pytest.raises(RecordError) as caught:
        ask(bad, MetricQuery("trafficgen", "tx-pps", period=period))
    assert caught.value == says()


def test_only_the_files_of_the_period_are_opened(tmp_path: Path) -> None:
    run = make_run(tmp_path, "run", {"validation": {"trial": 2}})
    write_rows(run, "trial-0002", [sending(), row("s", "t", {}, 1.0)])
    (run.metrics / "trial-0001.parquet").write_text("no parquet")
    assert len(ask(run, MetricQuery("s", "t")).rows) == 1
    with pytest.raises(RecordError):
        ask(run, MetricQuery("s", "t", period="all"))


def test_periods_by_name_and_all_of_them(tmp_path: Path) -> None:
    run = make_run(tmp_path, "run", {"validation": {"trial": 2}})
    for number in (1, 2):
        span = (1000 * number, 1000 * number + 1000)
        rows = [sending(*span), row("s", "t", {}, float(number), *span)]
        write_rows(run, f"trial-000{number}", rows[:1])
        write_rows(run, f"trial-000{number}@dut-002", rows[1:])
    settings = {
        period: ask(run, MetricQuery("s", "t", period=period)).rows[0].whole
        for period in ("measurement", "trial-0001", "1", "2", "all")
    }
    assert settings == {"measurement": 2, "trial-0001": 1, "1": 1, "2": 2, "all": 1.5}


def test_the_trials_of_a_phase(tmp_path: Path, says: Says) -> None:
    """Trials 1 and 3 searched, 2 was cut short before anything was recorded, 4 validated."""
    run = make_run(tmp_path, "run")
    with Journal(run.journal) as journal:
        for number, phase in enumerate(("search", "search", "search", "validation"), start=1):
            journal.append("trial-started", number=number, phase=phase)
    for number in (1, 3, 4):
        span = (1000 * number, 1000 * number + 1000)
        rows = [sending(*span), row("s", "t", {}, float(number), *span)]
        write_rows(run, f"trial-000{number}", rows)
    settings = {
        period: ask(run, MetricQuery("s", "t", period=period)).rows[0].whole
        for period in ("search", "validation", "all")
    }
    assert settings == {"search": 2, "validation": 4, "all": pytest.approx((1 + 3 + 4) / 3)}
    assert refusal(run, MetricQuery("s", "t", period="soak")).message == says("soak")


def refusal(run: RunDirectory, query: MetricQuery) -> InputError:
    with pytest.raises(InputError) as caught:
        ask(run, query)
    return caught.value


@pytest.mark.parametrize(
    ("query", "where", "facts"),
    [
        (MetricQuery("mpstt", "Busy-CPU"), "--source mpstt", ("source",)),
        (MetricQuery("mpstat", "busy-cpu"), "--type busy-cpu", ("type",)),
        (
            MetricQuery(*BUSY, breakouts=parse_breakouts("cpu")),
            *("--breakout", ("cpu",)),
        ),
        (
            MetricQuery(*BUSY, breakouts=parse_breakouts("num=3")),
            *("--breakout", ("num", "2", "10")),
        ),
        (
            MetricQuery(*BUSY, breakouts=parse_breakouts("num=r/(/")),
            *("--breakout", ("num=r/(/", "RE2")),
        ),
        (
            MetricQuery(*BUSY, begin=60_000, end=70_000),
            "demo",
            ("1970-01-01", "00:01:00", "00:01:10", "00:00:00", "00:00:30"),
        ),
        (
            MetricQuery(*BUSY, begin=Moment(60_000, "begin")),
            *("--begin, --end", ("end", "begin")),
        ),
        (
            MetricQuery(*BUSY, period="9" * 5000),
            *("--period", ("trial-0001",)),
        ),
        (
            MetricQuery(*BUSY, period="trial-0009"),
            *("--period", ("trial-0009", "trial-0001")),
        ),
    ],
)
def test_what_there_is_instead(
    run: RunDirectory, query: MetricQuery, where: str, facts: tuple[str, ...], says: Says
) -> None:
    error = refusal(run, query)
    assert error.where == where
    assert error == says(*facts)


def test_a_value_that_no_series_has_is_reported_when_another_has(
    run: RunDirectory, says: Says
) -> None:
    answer = ask(run, MetricQuery(*BUSY, breakouts=parse_breakouts("num=2+3")))
    assert answer.notes == (says("num", "3"),)


def test_a_run_without_metrics_says_so(tmp_path: Path, says: Says) -> None:
    error = refusal(make_run(tmp_path, "empty"), MetricQuery("s", "t"))
    assert error.where == "empty"
    assert error == says("empty", "--period", "--run")


COUNTER = MetricType("s", "t", "throughput", "1/s", "sum", counted=True)


def test_a_trial_that_grows_is_answered_as_far_as_it_is(tmp_path: Path) -> None:
    run = make_run(tmp_path, "run")
    with Journal(run.journal) as journal:
        journal.append("trial-started", number=1, phase="search", load_pps=1.0)
    log = MetricLog("trial-0001", 0, {"hostname": "dut"}, part_values=4)
    with MetricsWriter(run, "trial-0001", "dut") as writer:
        for second in range(3):
            samples = [MetricSample(COUNTER, {"n": n}, 10 * second) for n in "ab"]
            writer.append(log.samples(samples, second * 10**9, (second + 1) * 10**9))
        # A part is Parquet by now, and another still JSON lines.
        assert {path.suffix for path in run.metrics.iterdir()} == {".parquet", ".jsonl"}
        query = MetricQuery("s", "t", resolution=3, breakouts=parse_breakouts("n"))
        expected = {("a",): [0.0, 10.0, 20.0], ("b",): [0.0, 10.0, 20.0]}
        assert cells(ask(run, query)) == expected
        other = make_run(tmp_path, "other")
        write_rows(other, "trial-0001", [row("s", "t", {"n": "a"}, 7.0, 0, 3000)])
        assert len(ask([other, run], query).rows) == 3
        writer.finish()
    assert cells(ask(run, query)) == expected
