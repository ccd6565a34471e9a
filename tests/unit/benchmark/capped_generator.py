"""A generator that carries a known rate and nothing above it.

A mock, on purpose: what is tested is the search and what is made of its trials, and a
real generator's rate is a different one every second.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field

from plimsoll.generator.histogram import Histogram
from plimsoll.generator.interface import (
    CycleBudget,
    Cycles,
    GeneratorFacts,
    Interval,
    PortInfo,
    StreamCounts,
    TrialPlan,
    TrialReport,
    WorkerCounts,
)
from plimsoll.traffic.plan import StreamPlan

# One in flight comes back after 2 µs.
IN_FLIGHT_PPS = 500_000
PROBE_NS, IN_FLIGHT_NS = 240, 200


@dataclass
class CappedGenerator:
    """Skips what a load stream has above `cap_pps`; in the trials `spoiled` a frame besides."""

    cap_pps: float
    spoiled: Collection[int] = ()
    plans: list[TrialPlan] = field(default_factory=list)

    @property
    def facts(self) -> GeneratorFacts:
        """It is no program."""
        return GeneratorFacts("capped", "0")

    @property
    def ports(self) -> tuple[PortInfo, ...]:
        """None are needed."""
        return ()

    def trial(self, plan: TrialPlan, watch: Callable[[Interval], bool]) -> TrialReport:
        """At once, and the same each time."""
        self.plans.append(plan)
        theft = 1 if len(self.plans) in self.spoiled else 0
        worker = WorkerCounts(
            3, 100, 10, 2, 90_000, 70_000, Histogram(), CycleBudget(*[Cycles(0, 0)] * 4)
        )
        return TrialReport(
            ended_by="duration",
            sending_s=plan.duration_s,
            begin_unix_ns=0,
            streams=tuple(self._counts(each, plan.duration_s, theft) for each in plan.streams),
            ports=(),
            workers=(worker,),
        )

    def close(self) -> None:
        """Nothing to end."""

    def _counts(self, stream: StreamPlan, duration_s: float, theft: int) -> StreamCounts:
        in_flight = stream.rate_pps is None
        due = round((stream.rate_pps or IN_FLIGHT_PPS) * duration_s)
        carried = due if in_flight else min(due, round(self.cap_pps * duration_s))
        sent = carried - (theft if stream.role == "load" else 0)
        value_ns = IN_FLIGHT_NS if in_flight else PROBE_NS
        return StreamCounts(
            stream=stream.stream,
            sent=sent,
            refused=0,
            skipped=due - sent,
            no_buffer=0,
            timed_out=0,
            received=sent,
            missing=0,
            out_of_order=0,
            duplicate=0,
            corrupt=0,
            misdirected=0,
            latency=Histogram(sent, sent * value_ns, value_ns, value_ns, ((value_ns, sent),)),
            latency_across_stalls=Histogram(),
            lateness=Histogram(),
        )
