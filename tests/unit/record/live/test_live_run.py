"""A run looked at while it goes on."""

from pathlib import Path

import pytest

from plimsoll.record.live.live_run import LiveInterval, LiveRun, LiveTrial
from plimsoll.record.metrics.metric_log import MetricLog
from plimsoll.record.metrics.metrics import MetricsWriter
from plimsoll.record.run.journal import TRIAL_STARTED, Journal
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.record.samples.metric_type import MetricType

S = 10**9
RATE = MetricType("trafficgen", "rx-pps", "throughput", "pps", "sum", counted=True)
P99 = MetricType("trafficgen-engine", "p99-round-trip-usec", "count", "us", "max")
IRQS = MetricType(
    "procstat", "interrupts-sec", "throughput", "1/s", "sum", counted=True, carried=True
)
LEVEL = MetricType("sar-mem", "Memory-Used-Percent", "count", "%", "mean", carried=True)


@pytest.fixture
def run(tmp_path: Path) -> RunDirectory:
    return RunDirectory.create(tmp_path, "live", {})


def values(live: LiveRun) -> dict[tuple[str, str], float]:
    """By type and the one name that tells series apart."""
    return {(v.type, v.names.get("of", "")): v.value for v in live.look().values}


def test_a_rate_is_that_of_the_last_interval(run: RunDirectory) -> None:
    live, log = LiveRun(run), MetricLog("trial-0001", 0)
    with MetricsWriter(run, "trial-0001") as writer:
        series = log.series(RATE, {"of": "a"}, 0)
        writer.append(log.tick("trafficgen", 0, S, [series], [500]))
        assert values(live) == {("rx-pps", "a"): 500.0}
        writer.append(log.tick("trafficgen", S, 3 * S, [series], [600]))
        assert values(live) == {("rx-pps", "a"): 300.0}


def test_what_was_not_measured_in_the_last_interval_is_absent(run: RunDirectory) -> None:
    live, log = LiveRun(run), MetricLog("trial-0001", 0)
    with MetricsWriter(run, "trial-0001") as writer:
        series = log.series(P99, {}, 0)
        writer.append(log.tick("trafficgen-engine", 0, S, [series], [12.5]))
        assert values(live) == {("p99-round-trip-usec", ""): 12.5}
        writer.append(log.tick("trafficgen-engine", S, 2 * S, [], []))
        assert values(live) == {}


def test_a_counter_that_stands_still_is_zero_and_a_level_stays(run: RunDirectory) -> None:
    live, log = LiveRun(run), MetricLog("trial-0001", 0, {"hostname": "node-1"})
    with MetricsWriter(run, "trial-0001", "node-1") as writer:
        irqs, level = log.series(IRQS, {}, 0, "host"), log.series(LEVEL, {}, 0, "host")
        writer.append(log.tick("host", 0, S, [irqs, level], [7, 40.0]))
        writer.append(log.tick("host", S, 2 * S, [], []))
        found = live.look().values
    assert {v.type: v.value for v in found} == {"interrupts-sec": 0.0, "Memory-Used-Percent": 40.0}
    assert {v.names["hostname"] for v in found} == {"node-1"}


def test_values_are_gone_when_the_trial_has_ended(run: RunDirectory) -> None:
    live, log = LiveRun(run), MetricLog("trial-0001", 0)
    with MetricsWriter(run, "trial-0001") as writer:
        writer.append(log.tick("trafficgen", 0, S, [log.series(RATE, {}, 0)], [5]))
        assert values(live) != {}
        writer.finish()
    assert values(live) == {}


def test_totals_go_on_over_trials_and_lose_nothing_at_their_ends(run: RunDirectory) -> None:
    live, totals = LiveRun(run), []
    for period in ("trial-0001", "trial-0002"):
        log = MetricLog(period, 0)
        with MetricsWriter(run, period) as writer:
            series = log.series(RATE, {"of": "a"}, 0)
            writer.append(log.tick("trafficgen", 0, S, [series], [500]))
            totals.append(live.look().totals)
            writer.append(log.tick("trafficgen", S, 2 * S, [series], [30]))
            writer.finish()
        totals.append(live.look().totals)
    key = ("trafficgen", "rx-pps", (("of", "a"),))
    assert [each[key] for each in totals] == [500, 530, 1030, 1060]


def test_a_line_that_is_being_written_is_read_when_it_is_whole(run: RunDirectory) -> None:
    live, log = LiveRun(run), MetricLog("trial-0001", 0)
    lines = log.tick("trafficgen", 0, S, [log.series(RATE, {}, 0)], [5])
    run.metrics.mkdir()
    file = run.metrics / "trial-0001.jsonl"
    text = "".join(f"{line}\n" for line in lines)
    file.write_text(text[:-20])
    assert values(live) == {}
    file.write_text(text)
    assert values(live) == {("rx-pps", ""): 5.0}


def test_a_line_that_is_nonsense_is_left_out(run: RunDirectory) -> None:
    live, log = LiveRun(run), MetricLog("trial-0001", 0)
    with MetricsWriter(run, "trial-0001") as writer:
        writer.append(log.tick("trafficgen", 0, S, [log.series(RATE, {}, 0)], [5]))
        writer.append(["[" * 20_000, "{"])
        assert values(live) == {("rx-pps", ""): 5.0}


def test_the_trial_that_goes_on_is_reported(run: RunDirectory) -> None:
    live = LiveRun(run)
    assert live.look().trial is None
    with Journal(run.journal) as journal:
        begun = journal.append(TRIAL_STARTED, number=3, phase="search", load_pps=2e6, planned_s=5)
        assert live.look().trial == LiveTrial(3, "search", 2e6, begun.at_unix_ns, 5.0)
        assert live.look().begun_unix_ns == begun.at_unix_ns


def test_a_listener_is_given_each_interval_once(run: RunDirectory) -> None:
    heard: list[LiveInterval] = []
    live, log = LiveRun(run, heard.append), MetricLog("trial-0001", 0)
    with MetricsWriter(run, "trial-0001") as writer:
        rate, p99 = log.series(RATE, {}, 0), log.series(P99, {}, 0)
        writer.append(log.tick("trafficgen", 0, S, [rate], [500]))
        writer.append(log.tick("trafficgen-engine", 0, S, [p99], [12.5]))
        live.look()
        live.look()
        writer.append(log.tick("trafficgen", S, 3 * S, [rate], [600]))
        live.look()
    found = [(i.period, i.begin_ns, i.end_ns, [(v.type, v.value) for v in i.values]) for i in heard]
    assert found == [
        ("trial-0001", 0, S, [("rx-pps", 500.0)]),
        ("trial-0001", 0, S, [("p99-round-trip-usec", 12.5)]),
        ("trial-0001", S, 3 * S, [("rx-pps", 300.0)]),
    ]
