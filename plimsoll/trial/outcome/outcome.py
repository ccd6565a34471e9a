"""What a trial left behind to be judged."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from plimsoll.attribution.explanation.latency_parts import LatencyParts
from plimsoll.dut.lab import DrainedBy, DutPortCounters
from plimsoll.dut.sight import NOTHING_SEEN, DutObservation
from plimsoll.generator.interface import StreamCounts, TrialPlan, TrialReport
from plimsoll.record.trials.clock_fit import ClockStep
from plimsoll.record.trials.latency_record import LatencyRecord
from plimsoll.record.trials.trial_record import TrialRecord
from plimsoll.traffic.plan import StreamPlan
from plimsoll.traffic.streams.compile import Paths
from plimsoll.trial.outcome.background_streams import NO_BACKGROUND, BackgroundStreams
from plimsoll.trial.outcome.due_frames import due_frames, sends_nothing
from plimsoll.trial.outcome.host_metrics import HostMetrics
from plimsoll.trial.outcome.own_time import SelfOverhead
from plimsoll.trial.outcome.quantiles import QuantileName, known_quantiles
from plimsoll.trial.outcome.repetition import ForwardedFrames, Repetition
from plimsoll.trial.outcome.series import TrialSeries


@dataclass(frozen=True, slots=True)
class Baseline:
    """By a stream's name, its latency at `load_pps` per direction, in ns by quantile.

    A quantile is missing where there were too few samples for it.
    """

    load_pps: float
    latency_ns: Mapping[str, Mapping[QuantileName, int]]

    @classmethod
    def of(cls, record: TrialRecord) -> Self:
        """The baseline that a recorded trial is."""
        return cls(
            load_pps=record.load_pps,
            latency_ns={each.name: known_quantiles(each.latency) for each in record.streams},
        )


@dataclass(frozen=True)
class Outcome:
    """A trial's plan and report, and what it is compared with.

    `drained_by` decides whose fault a full send queue is; `queue_frames` is what the
    tester's queues hold. The DUT's own
    counters were read before the first frame and after the drain; both are None
    where the DUT has none. `baseline` is the latency at the lowest load, None where no
    criterion needs it; `earlier` are the valid trials of the same phase and load before
    this one, which criteria of repeatability compare it with. `comes_again` says that this
    load will be tested again before it counts as carried: by another repetition, or by a
    validation. `host` has the metrics of the hosts while frames were sent, None where no
    host was observed; `own` is what Plimsoll's own processes took of the polled CPUs, None
    where nothing is polled. `longest` has the trial's longest latencies in the parts of tester
    and DUT, as far as they are known when it is judged.
    """

    plan: TrialPlan
    report: TrialReport
    series: TrialSeries
    drained_by: DrainedBy
    queue_frames: int
    paths: Paths
    dut_before: tuple[DutPortCounters, ...] | None = None
    dut_after: tuple[DutPortCounters, ...] | None = None
    # A moment after `dut_after`, where the DUT counts more frames out of it than came back.
    dut_later: tuple[DutPortCounters, ...] | None = None
    # What else the DUT saw of this trial alone.
    dut_sight: DutObservation = NOTHING_SEEN
    # Links that the tester's own ports do not tell of, by a name for people.
    links_lost: tuple[str, ...] = ()
    baseline: Baseline | None = None
    earlier: tuple[Repetition, ...] = ()
    comes_again: bool = False
    # Sent and counted as well, and in neither the plan nor the report.
    background: BackgroundStreams = NO_BACKGROUND
    host: HostMetrics | None = None
    own: SelfOverhead | None = None
    longest: tuple[LatencyParts, ...] = ()
    # Of the wall clock, which the trial's times do not follow.
    clock_steps: tuple[ClockStep, ...] = ()

    @property
    def begin_s(self) -> float:
        """When what is judged began, in s from the trial's start: not 0 in a soak's windows."""
        return self.series.begin_s[0] if len(self.series) else 0.0

    @property
    def judged(self) -> tuple[StreamPlan, ...]:
        """The streams whose frames the DUT is to forward; all but those it is to filter."""
        return tuple(plan for plan in self.plan.streams if not plan.filtered)

    @property
    def sending(self) -> tuple[StreamPlan, ...]:
        """Those of the judged whose schedules have them send while frames were sent at all."""
        return tuple(plan for plan in self.judged if not self.sends_nothing(plan))

    def due(self, plan: StreamPlan) -> float | None:
        """Frames of a stream that were due while frames were sent; as due_frames() has it."""
        return due_frames(plan, self.report.sending_s, begin_s=self.begin_s)

    def sends_nothing(self, plan: StreamPlan) -> bool:
        """Whether the stream's schedule leaves out all the time that frames were sent."""
        return sends_nothing(plan, self.report.sending_s, begin_s=self.begin_s)

    def counts(self, stream: int) -> StreamCounts:
        """The totals of one stream."""
        return next(counts for counts in self.report.streams if counts.stream == stream)

    def offered(self, stream: int) -> int:
        """Frames that the DUT was offered: sent, and those it left no room for."""
        counts = self.counts(stream)
        return counts.sent + (counts.refused if self.drained_by == "dut" else 0)

    def lost(self, stream: int) -> int:
        """Frames offered that did not come back on their port; negative is impossible."""
        return self.offered(stream) - self.returned(stream)

    def returned(self, stream: int) -> int:
        """Frames that came back on their port, each counted once."""
        counts = self.counts(stream)
        return counts.received - counts.duplicate

    def unexcused_losses(self) -> dict[int, int]:
        """By judged stream, the frames lost that no stall of the tester explains."""
        lost = {plan.stream: self.lost(plan.stream) for plan in self.judged}
        return self.series.unexcused_of(lost)

    def repetition(self) -> Repetition:
        """What later trials of the same load are compared with."""
        streams: defaultdict[str, list[int]] = defaultdict(list)
        for plan in self.judged:
            streams[f"{plan.tx_port}-{plan.rx_port}"].append(plan.stream)
        return Repetition(
            forwarding={
                direction: ForwardedFrames(
                    offered=sum(self.offered(stream) for stream in members),
                    returned=sum(self.returned(stream) for stream in members),
                    sending_s=self.report.sending_s,
                )
                for direction, members in streams.items()
            },
            latency_ns={
                plan.name: known_quantiles(LatencyRecord.of(self.counts(plan.stream).latency))
                for plan in self.plan.streams
            },
        )
