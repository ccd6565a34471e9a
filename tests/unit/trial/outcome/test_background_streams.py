"""Streams in the background of a trial's own are sent, and leave no trace in what is judged."""

from collections.abc import Callable
from dataclasses import replace

from plimsoll.dut.lab import DutPortCounters, LabPorts
from plimsoll.dut.wired import PassiveLab
from plimsoll.generator.interface import Interval, PortInfo, TrialPlan, TrialReport
from plimsoll.traffic.plan import StreamPlan
from plimsoll.trial.judging.dut_agreement import dut_agreement
from plimsoll.trial.outcome.background_streams import BackgroundStreams
from plimsoll.trial.outcome.outcome import Outcome
from plimsoll.trial.running.trial import run_trial
from tests.unit.trial.trial_builder import (
    DURATION_S,
    LOAD_BACK,
    LOAD_OUT,
    PLAN,
    PROBE,
    PROBE_PPS,
    RATE_PPS,
    interval,
    outcome,
    stream_counts,
)

PORTS = LabPorts(("a", "b"), 1024, 1024, ((0, 1), (1, 0)), "wire", None)
TAUGHT = StreamPlan(3, "load-teaching/1-0", "load", 1, 0, (bytes(60),), 10.0)
# Of 100 teaching frames the DUT swallows 70 and floods 5 to where they came from.
TAUGHT_COUNTS = stream_counts(3, 100, 75, misdirected=5)


class CountingLab(PassiveLab):
    """Its DUT counts what the tester sends and gets, the teaching frames included."""

    def __init__(self) -> None:
        super().__init__("external", PORTS)
        self._read = 0

    def counters(self) -> tuple[DutPortCounters, ...]:
        self._read += 1
        if self._read == 1:
            return (DutPortCounters(0, 0, 0, 0, 0, 0, 0), DutPortCounters(1, 0, 0, 0, 0, 0, 0))
        load, probes = DURATION_S * RATE_PPS, DURATION_S * PROBE_PPS
        return (
            DutPortCounters(0, load + probes, load + 25, 0, 0, 0, 0),
            DutPortCounters(1, load + 100, load + probes + 5, 0, 0, 0, 0),
        )


class Teaching:
    """A generator that reports the fourth stream with the three of the plan."""

    sent: TrialPlan | None = None

    @property
    def ports(self) -> tuple[PortInfo, ...]:
        return ()

    def trial(self, plan: TrialPlan, watch: Callable[[Interval], bool]) -> TrialReport:
        self.sent = plan
        for second in range(DURATION_S):
            seen = interval(second)
            watch(replace(seen, streams=(*seen.streams, stream_counts(3, 10, 8))))
        report = outcome().report
        return replace(report, streams=(*report.streams, TAUGHT_COUNTS))

    def close(self) -> None:
        pass


def _run() -> tuple[Teaching, Outcome, list[Interval]]:
    generator, seen = Teaching(), []

    def watch(interval: Interval) -> bool:
        seen.append(interval)
        return False

    found = run_trial(
        generator,
        CountingLab(),
        PORTS,
        PLAN,
        watch=watch,
        background=BackgroundStreams((TAUGHT,)),
    )
    return generator, found, seen


def test_they_are_sent() -> None:
    generator, _, _ = _run()
    assert generator.sent is not None
    assert generator.sent.streams == (*PLAN.streams, TAUGHT)


def test_no_judge_sees_them() -> None:
    _, found, seen = _run()
    own = [LOAD_OUT, LOAD_BACK, PROBE]
    assert found.plan == PLAN
    assert [counts.stream for counts in found.report.streams] == own
    assert list(found.series.streams) == own
    assert {tuple(each.stream for each in one.streams) for one in seen} == {tuple(own)}
    assert sum(found.unexcused_losses().values()) == 0


def test_the_dut_is_held_to_have_counted_them() -> None:
    """With frames misdirected the sums over all ports are compared."""
    _, found, _ = _run()
    assert found.background.counts == (TAUGHT_COUNTS,)
    assert [finding.outcome for finding in dut_agreement(found)] == ["ok", "ok"]
    without = replace(found, background=BackgroundStreams())
    assert "invalid" in {finding.outcome for finding in dut_agreement(without)}
