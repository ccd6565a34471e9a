"""Maxima, minima and quantiles over time, against the samples themselves."""

import math
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest

from plimsoll.errors import InputError
from plimsoll.generator.histogram import Histogram
from plimsoll.record.files.record_error import RecordError
from plimsoll.record.metrics.over_time import quantile_of
from plimsoll.record.query import MetricQuery, QueryAnswer, ask, parse_breakouts, parse_filter
from plimsoll.record.recorder import recording
from plimsoll.record.run.run_directory import RunDirectory
from tests.unit.record.query.metric_runs import make_run, row, sending, write_rows
from tests.unit.record.relisting import relist
from tests.unit.record.trial_parts import BEGIN_NS, counts, interval, plan, record
from tests.worded.says import Says

ENGINE = "trafficgen-engine"
BEGIN_MS = BEGIN_NS // 10**6
# Round trips in ns of the probe (0:1) and of the load the other way (1:0), by interval. One
# slow interval with few samples weighs as much as the others in a mean of seconds' quantiles.
PROBE = ([20] * 90 + [30] * 10, [250] * 2, [21] * 100)
BACK = ([100] * 10, [110] * 10, [120] * 10)
# No whole seconds, so that times are rounded to ms.
ENDS_S = (0.0, 0.9996, 2.0003, 3.0001)


def of(samples: Sequence[int]) -> Histogram:
    """Values below 256 ns have a bucket each, so these are exact."""
    buckets = tuple((value, samples.count(value)) for value in sorted(set(samples)))
    return Histogram(len(samples), sum(samples), min(samples), max(samples), buckets)


def quantile_us(share: float, *lists: Sequence[int]) -> float:
    """The smallest sample that this share of them does not exceed."""
    samples = sorted(value for each in lists for value in each)
    return samples[math.ceil(share * len(samples)) - 1] / 1000


@pytest.fixture
def run(tmp_path: Path) -> RunDirectory:
    made = RunDirectory.create(tmp_path, "demo", {})
    with (
        recording(made) as recorder,
        recorder.trial(plan(), number=1, phase="search", refused_is_lost=False) as trial,
    ):
        for number, (probe, back) in enumerate(zip(PROBE, BACK, strict=True)):
            streams = (
                counts(0, sent=1000, received=1000),
                counts(1, sent=10, received=10, latency=of(probe), lateness=of(back)),
                counts(2, sent=1000, received=1000, latency=of(back)),
            )
            times = {"begin_s": ENDS_S[number], "end_s": ENDS_S[number + 1]}
            trial.interval(interval(streams, **times, gaps=of(probe)))
        trial.end(record())
    return made


def values(
    run: RunDirectory, kind: str, breakout: str = "", **more: object
) -> dict[object, object]:
    breakouts = parse_breakouts(breakout) if breakout else ()
    answer = ask(run, MetricQuery(ENGINE, kind, breakouts=breakouts, **more))
    return {row.names: row.values for row in answer.rows}


def test_a_quantile_is_that_of_all_samples_and_not_the_mean_of_seconds(run: RunDirectory) -> None:
    found = values(run, "p99-round-trip-usec", "stream")
    assert found == {
        # 202 samples: 200 of them at most 30 ns, 2 of 250 ns.
        ("probe/0-1",): (0.03,),
        ("load/1-0",): (0.12,),
    }
    # What the mean of the seconds' quantiles would have said.
    seconds = values(run, "p99-round-trip-usec", "stream", over_time="mean")
    assert seconds[("probe/0-1",)][0] == pytest.approx((0.03 + 0.25 + 0.021) / 3, rel=1e-3)


@pytest.mark.parametrize("name", ["p50", "p99", "p99.9", "p99.99"])
def test_series_are_merged_as_time_is(run: RunDirectory, name: str) -> None:
    share = {"p50": 0.5, "p99": 0.99, "p99.9": 0.999, "p99.99": 0.9999}[name]
    assert values(run, f"{name}-round-trip-usec") == {(): (quantile_us(share, *PROBE, *BACK),)}
    probe = values(run, f"{name}-round-trip-usec", "tx_port=0,rx_port=1")
    assert probe == {("0", "1"): (quantile_us(share, *PROBE),)}


def test_lateness_and_gaps_are_reported_by_their_own_histograms(run: RunDirectory) -> None:
    assert values(run, "p50-tx-lateness-usec") == {(): (0.11,)}
    assert values(run, "p99-gap-usec", "lcore") == {("5",): (quantile_us(0.99, *PROBE),)}


def test_windows_have_the_samples_of_their_own_intervals(run: RunDirectory) -> None:
    ends_ms = [BEGIN_MS + round(end * 1e3) for end in ENDS_S]
    by_window = [quantile_us(0.5, each) for each in PROBE]
    for place, (begin, end) in enumerate(pairwise(ends_ms)):
        found = values(run, "p50-round-trip-usec", "stream=probe/0-1", begin=begin, end=end)
        assert found == {("probe/0-1",): (by_window[place],)}
    # Borders at a third and two thirds: both cut the interval between them.
    cut = values(run, "p50-round-trip-usec", "stream=probe/0-1", resolution=3)
    (found,) = cut.values()
    assert found[0] in (quantile_us(0.5, PROBE[0]), quantile_us(0.5, *PROBE[:2]))
    assert found[2] == quantile_us(0.5, PROBE[2])


def test_a_filter_is_of_the_quantile(run: RunDirectory) -> None:
    found = values(run, "p99-round-trip-usec", "stream", filter=parse_filter("gt:0.1"))
    assert list(found) == [("load/1-0",)]


def test_a_greatest_value_is_the_greatest_and_a_least_the_least(run: RunDirectory) -> None:
    assert values(run, "max-round-trip-usec", "stream") == {
        ("load/1-0",): (0.12,),
        ("probe/0-1",): (0.25,),
    }
    assert values(run, "min-round-trip-usec") == {(): (0.02,)}
    assert values(run, "max-gap-usec") == {(): (0.25,)}
    assert values(run, "tx-lateness-usec") == {(): (0.12,)}
    crucible = ask(run, MetricQuery("trafficgen", "max-roundtrip-usec"))
    assert [each.whole for each in crucible.rows] == [0.25]


def test_how_a_value_came_about_is_said(run: RunDirectory) -> None:
    def said(kind: str, breakout: str = "", **more: object) -> tuple[set[str], bool]:
        breakouts = parse_breakouts(breakout) if breakout else ()
        answer: QueryAnswer = ask(run, MetricQuery(ENGINE, kind, breakouts=breakouts, **more))
        return set(map(answer.drawn, answer.rows)), all(map(answer.plain, answer.rows))

    assert said("p99-round-trip-usec") == ({"p99"}, False)
    assert said("max-round-trip-usec", "stream") == ({"max"}, False)
    assert said("min-round-trip-usec") == ({"min"}, False)
    assert said("mean-round-trip-usec") == ({"mean"}, True)
    assert said("stream-rx-pps") == ({"sum of means"}, True)
    assert said("stream-rx-pps", "stream") == ({"mean"}, True)
    assert said("stream-rx-pps", aggregation="max") == ({"max of means"}, False)
    assert said("stream-rx-pps", over_time="total") == ({"sum of totals"}, False)
    assert said("p99-round-trip-usec", over_time="max") == ({"max"}, False)
    assert said("p50-round-trip-usec", over_time="max") == ({"mean of maxima"}, False)


def test_what_is_counted_is_a_rate_also_where_series_contain_each_other(tmp_path: Path) -> None:
    """A cgroup's CPU time, of which the outer one has what the inner one has."""
    made = make_run(tmp_path, "demo")
    rows = [
        row("cgroup", "cpu-usage-usec-sec", {"cgroup": name}, value, begin, begin + 1000,
            count=round(value), aggregation="max")
        for name, first, second in (("/a", 100.0, 500.0), ("/a/b", 50.0, 450.0))
        for value, begin in ((first, 0), (second, 1000))
    ]  # fmt: skip
    hot = [
        row("thermal", "temperature-celsius", {}, value, begin, begin + 1000, aggregation="max")
        for value, begin in ((50.0, 0), (60.0, 1000))
    ]
    write_rows(made, "trial-0001", [sending(0, 2000), *rows, *hot])
    assert ask(made, MetricQuery("cgroup", "cpu-usage-usec-sec")).rows[0].whole == 300.0
    assert ask(made, MetricQuery("thermal", "temperature-celsius")).rows[0].whole == 60.0


def test_a_quantile_of_quantiles_is_refused_with_the_way_to_ask(
    run: RunDirectory, says: Says
) -> None:
    with pytest.raises(InputError) as caught:
        MetricQuery(ENGINE, "p99-round-trip-usec", aggregation="max")
    assert caught.value == says("p99-round-trip-usec", "--over-time")
    assert "--over-time max" in caught.value.remedy
    # Said so, it is the worst second of the worst series.
    found = values(run, "p99-round-trip-usec", aggregation="max", over_time="max")
    assert found == {(): (0.25,)}


def test_without_histograms_a_quantile_is_refused_with_the_way_to_ask(
    run: RunDirectory, says: Says
) -> None:
    query = MetricQuery(ENGINE, "p99-round-trip-usec")
    lines = run.histograms.read_text().splitlines(keepends=True)
    run.histograms.write_text("".join(line for line in lines if "load/1-0" not in line))
    relist(run, run.histograms)
    with pytest.raises(RecordError) as caught:
        ask(run, query)
    assert caught.value == says("load/1-0@1:0", "3")
    assert "--over-time max" in caught.value.remedy
    run.histograms.write_text("".join(lines).replace("HISTF", "H", 1))
    relist(run, run.histograms)
    with pytest.raises(RecordError, match="is damaged"):
        ask(run, query)
    assert values(run, "p99-round-trip-usec", over_time="max") == {(): (0.25,)}


def test_a_run_without_histograms_is_left_out_and_the_others_answer(
    run: RunDirectory, tmp_path: Path
) -> None:
    other = make_run(tmp_path, "other")
    names = {"stream": "s", "direction": "0:1", "tx_port": "0", "rx_port": "1"}
    quantile = row(ENGINE, "p99-round-trip-usec", names, 9.0, 0, 1000, aggregation="max")
    write_rows(other, "trial-0001", [sending(0, 1000), quantile])
    answer = ask([run, other], MetricQuery(ENGINE, "p99-round-trip-usec"))
    assert [row.run for row in answer.rows] == [run.run_id]
    assert [failure.run for failure in answer.failures] == ["other"]


def test_quantiles_that_no_histogram_is_behind_are_refused(tmp_path: Path, says: Says) -> None:
    made = make_run(tmp_path, "demo")
    write_rows(made, "trial-0001", [sending(0, 1000), row("s", "p99-t", {}, 1.0, 0, 1000)])
    with pytest.raises(InputError) as caught:
        ask(made, MetricQuery("s", "p99-t"))
    assert caught.value == says("p99-t", "--over-time")
    assert "--over-time max" in caught.value.remedy


def test_minutes_of_a_long_trial_are_merged_whole_and_never_cut(tmp_path: Path, says: Says) -> None:
    made = RunDirectory.create(tmp_path, "long", {})
    with (
        recording(made) as recorder,
        recorder.trial(plan(), number=1, phase="search", refused_is_lost=False) as trial,
    ):
        for number in range(690):
            # In the last minute every tenth sample is slow.
            slow = [250] if number >= 660 else [20]
            streams = (counts(1, sent=10, received=10, latency=of([20] * 9 + slow)),)
            trial.interval(interval(streams, begin_s=float(number), end_s=number + 1.0))
        trial.end(record())
    kind = "p99-round-trip-usec"
    # 30 of 6,900 samples: less than one in a hundred.
    assert values(made, kind) == {(): (0.02,)}
    assert values(made, "p99.9-round-trip-usec") == {(): (0.25,)}
    begin = BEGIN_MS + 660_000
    assert values(made, kind, begin=begin, end=begin + 30_000) == {(): (0.25,)}
    for question in (
        {"begin": begin + 10_000, "end": begin + 30_000},
        {"begin": BEGIN_MS, "end": begin - 20_000},
        {"resolution": 69},
    ):
        with pytest.raises(InputError) as caught:
            values(made, kind, **question)
        assert caught.value == says("--over-time")
        assert "--over-time max" in caught.value.remedy
    # Of its first ten minutes every interval is there.
    assert values(made, kind, begin=BEGIN_MS + 10_000, end=BEGIN_MS + 20_000) == {(): (0.02,)}


def test_only_quantiles_are_quantiles() -> None:
    assert quantile_of("p99.9-gap-usec") == 0.999
    assert [quantile_of(kind) for kind in ("packets-sec", "p-t", "max-t", "p99", "p999-t")] == [
        None
    ] * 5
