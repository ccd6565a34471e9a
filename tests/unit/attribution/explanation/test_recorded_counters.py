"""Counters that moved, from rows as this host's observers record them."""

from pathlib import Path

from plimsoll.attribution.explanation.counters import CounterMove, counter_moves
from plimsoll.generator.interface import ClockReading
from plimsoll.record.metrics.metric_log import MetricLog
from plimsoll.record.metrics.metrics import MetricsWriter
from plimsoll.record.run.run_directory import RunDirectory, trial_period
from plimsoll.record.samples.metric_type import MetricSample, MetricType
from plimsoll.record.trials.clock_fit import ClockFit

SECOND_NS = 1_000_000_000
BEGIN_NS = 1_795_000_000 * SECOND_NS
# 2 ticks a nanosecond, and tick 1,000 at BEGIN_NS.
FIT = ClockFit.of(
    [
        ClockReading(tsc=1_000, raw_ns=0, unix_ns=BEGIN_NS, width_ns=0),
        ClockReading(
            tsc=1_000 + 20 * SECOND_NS,
            raw_ns=10 * SECOND_NS,
            unix_ns=BEGIN_NS + 10 * SECOND_NS,
            width_ns=0,
        ),
    ]
)
BUSY = MetricType("mpstat", "Busy-CPU", "count", "CPUs", "sum")
SMIS = MetricType("smi", "smis-sec", "count", "", "sum")


def record(folder: Path, hostname: str, *samples: MetricSample) -> RunDirectory:
    run = RunDirectory.create(folder, "counters", {})
    log = MetricLog(trial_period(3), 0, {"hostname": hostname})
    with MetricsWriter(run, trial_period(3), hostname) as writer:
        writer.append(log.samples(samples, BEGIN_NS, BEGIN_NS + SECOND_NS))
        writer.finish()
    return run


def test_moves_are_reported_by_cpu_with_their_times_as_ticks(tmp_path: Path) -> None:
    run = record(
        tmp_path,
        "lab",
        MetricSample(BUSY, {"num": "1", "type": "steal"}, 0.07),
        MetricSample(BUSY, {"num": "0", "type": "steal"}, 0.0),
        MetricSample(BUSY, {"num": "1", "type": "usr"}, 0.9),
        MetricSample(SMIS, {}, 2.0),
    )
    steal, smis = counter_moves(run, trial_period(3), "lab", FIT)
    begin, end = 1_000, 1_000 + 2 * SECOND_NS
    # 7 % of a second, in steps of 10 ms.
    assert steal == CounterMove(
        "hypervisor-steal", "steal of CPU 1", 1, begin, end, 70_000_000, 10_000_000
    )
    assert smis == CounterMove("hardware", "SMIs", None, begin, end, events=2)


def test_other_hosts_say_nothing_of_this_ones_cpus(tmp_path: Path) -> None:
    run = record(tmp_path, "dut", MetricSample(BUSY, {"num": "1", "type": "steal"}, 0.5))
    assert counter_moves(run, trial_period(3), "lab", FIT) == []
