"""What an interval of a trial yields of metrics.

Names, units and formulas are those of Crucible's trafficgen, so that its
queries and dashboards read our record.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

from plimsoll.generator.histogram import merge
from plimsoll.generator.interface import (
    Cycles,
    GeneratorFacts,
    Interval,
    PortInfo,
    StreamCounts,
    WorkerCounts,
)
from plimsoll.generator.latency_ends import least_longest_ns
from plimsoll.record.metrics.engine_samples import (
    direction_name,
    engine_samples,
    extremes_us,
    frames_type,
    time_type,
)
from plimsoll.record.samples.metric_type import MetricSample, MetricType
from plimsoll.record.trials.trial_record import TrialRecord
from plimsoll.search.text.wire import l1_bits, l2_bits
from plimsoll.traffic.plan import StreamPlan


@dataclass(frozen=True, slots=True)
class TesterCapacity:
    """What is known of it; of what is not, there is no utilisation.

    `link_bps` has the speed of each port's link, L1. `tsc_hz` is the rate of the ticks in
    which polling loops tell their time; `sending` and `receiving` are the CPUs of the loops
    that have queues to send on, and to receive from.
    """

    link_bps: Mapping[int, float] = field(default_factory=dict)
    tsc_hz: float | None = None
    sending: frozenset[int] = frozenset()
    receiving: frozenset[int] = frozenset()

    @classmethod
    def of(
        cls, generator: GeneratorFacts, ports: Iterable[PortInfo], line_rate_bps: float | None
    ) -> TesterCapacity:
        """Of a generator whose ports are open.

        `line_rate_bps`, as the lab states it, stands in where a port states no speed.
        """
        speeds = {
            port.port: line_rate_bps if port.link_mbps is None else port.link_mbps * 1e6
            for port in ports
        }
        return cls(
            link_bps={port: bps for port, bps in speeds.items() if bps},
            tsc_hz=generator.tsc_hz,
            sending=frozenset(worker.cpu for worker in generator.workers if worker.tx),
            receiving=frozenset(worker.cpu for worker in generator.workers if worker.rx),
        )


UNKNOWN_CAPACITY = TesterCapacity()


_SOURCE = "trafficgen"
_INTENDED = MetricType(_SOURCE, "intended-tx-pps", "throughput", "pps", "sum")
# One turn of a polling loop in so many is metered (engine/src/dataplane/time/cycle_meter.h).
_METERED_TURNS = 16
_TYPES: Mapping[str, MetricType] = {
    "bogo-ops/s": MetricType("noise", "bogo-ops-sec", "throughput", "bogo-ops/s", "sum"),
    "B/s": MetricType("noise", "bytes-sec", "throughput", "B/s", "sum"),
}
# Of several trials, or directions: whether all of them passed.
_RESULT = MetricType("trafficgen", "trial-result", "pass/fail", "", "min")
_VALUES = {"pass": 1.0, "fail": 0.0}


def interval_samples(
    plans: Sequence[StreamPlan],
    interval: Interval,
    *,
    refused_is_lost: bool,
    capacity: TesterCapacity = UNKNOWN_CAPACITY,
) -> list[MetricSample]:
    """The samples of one interval, under Crucible's names; none of one without length.

    A zero is a sample; what was not measured has none. With `refused_is_lost`,
    frames that the port's queue had no room for count as lost, because the DUT
    is what drains that queue. Of `capacity`, what is not known has no utilisation.
    """
    length_s = interval.end_s - interval.begin_s
    if length_s <= 0:
        return []
    return [
        *_path_samples(plans, interval, length_s, refused_is_lost),
        *engine_samples(plans, interval),
        *utilisation_samples(plans, interval, capacity),
    ]


def intended_samples(plans: Sequence[StreamPlan]) -> list[MetricSample]:
    """What each direction was to send; none of one with a stream that has no steady rate.

    RFC 2285's intended load, of which tx-pps is what came of it.
    """
    samples = []
    for path, names in path_names(plans).items():
        streams = [plan for plan in plans if (plan.tx_port, plan.rx_port) == path]
        rates = [plan.rate_pps if plan.schedule.always else None for plan in streams]
        known = [rate_pps for rate_pps in rates if rate_pps is not None]
        if len(known) == len(rates):
            samples.append(MetricSample(_INTENDED, names, math.fsum(known)))
    return samples


def path_names(plans: Sequence[StreamPlan]) -> Mapping[tuple[int, int], Mapping[str, str]]:
    """The names of each direction's series, by its ports (tx, rx)."""
    return {
        (tx_port, rx_port): {
            # Crucible names the pair once for both directions.
            "port_pair": direction_name(*sorted((tx_port, rx_port))),
            "tx_port": str(tx_port),
            "rx_port": str(rx_port),
        }
        for tx_port, rx_port in sorted({(plan.tx_port, plan.rx_port) for plan in plans})
    }


def _path_samples(
    plans: Sequence[StreamPlan], interval: Interval, length_s: float, refused_is_lost: bool
) -> Iterator[MetricSample]:
    counts = {count.stream: count for count in interval.streams}
    for path, names in path_names(plans).items():
        streams = [
            (plan, counts[plan.stream])
            for plan in plans
            if (plan.tx_port, plan.rx_port) == path and plan.stream in counts
        ]
        rates = _path_rates(streams, length_s, refused_is_lost)
        yield from (MetricSample(metric, names, value) for metric, value in rates)
        counted = [count for plan, count in streams if plan.role == "latency"]
        longest = [ns for ns in map(least_longest_ns, counted) if ns is not None]
        probes = merge(count.latency for count in counted)
        yield from (
            MetricSample(time_type(_SOURCE, kind, "roundtrip-usec"), names, value)
            for kind, value in extremes_us(probes, max(longest, default=None))
        )


def _path_rates(
    streams: Sequence[tuple[StreamPlan, StreamCounts]], length_s: float, refused_is_lost: bool
) -> Iterator[tuple[MetricType, float]]:
    lost = sum(c.missing + (c.refused if refused_is_lost else 0) for _, c in streams)
    yield frames_type(_SOURCE, "tx-pps"), sum(c.sent for _, c in streams)
    yield frames_type(_SOURCE, "rx-pps"), sum(c.received for _, c in streams)
    yield frames_type(_SOURCE, "lost-rx-pps"), lost
    # Once: of a capture it is a mean over thousands of frames.
    sized = [(plan.mean_frame_size, c) for plan, c in streams]
    for layer, bits in (("l1", l1_bits), ("l2", l2_bits)):
        tx = sum(c.sent * bits(size) for size, c in sized)
        rx = sum(c.received * bits(size) for size, c in sized)
        yield _bits_type(f"{layer}-tx-bps"), tx / length_s
        yield _bits_type(f"{layer}-rx-bps"), rx / length_s


@cache
def _bits_type(kind: str) -> MetricType:
    # Not counted: the mean size of mixed frames is not a whole number.
    return MetricType(_SOURCE, kind, "throughput", "bit/s", "sum")


# How much of the tester is taken up: its links, and the time of its polling loops.
def utilisation_samples(
    plans: Sequence[StreamPlan], interval: Interval, capacity: TesterCapacity
) -> Iterator[MetricSample]:
    """The samples of an interval that has a length, in %; none of what has no known capacity.

    A port's is the L1 bit rate of this trial's frames ÷ the speed of its link. A loop's is
    the share of its time that it spent on frames: building and handing them to the driver
    for tx, taking them from the driver, judging and freeing them for rx. Polling the driver
    in vain, or finding that nothing is due, is not work, so an idle loop is near 0 although
    its CPU is at 100 %; a saturated one is near 100 for both together, less what its looks
    at the clock and at the schedule take. It is measured in one turn of sixteen. A step in
    which the loop was away is left out: that time is in stall-usec.
    """
    length_s = interval.end_s - interval.begin_s
    yield from _port_samples(plans, interval, length_s, capacity)
    if capacity.tsc_hz is not None:
        ticks = capacity.tsc_hz * length_s
        for worker in interval.workers:
            yield from _worker_samples(worker, ticks, capacity)


def _port_samples(
    plans: Sequence[StreamPlan], interval: Interval, length_s: float, capacity: TesterCapacity
) -> Iterator[MetricSample]:
    counts = {each.stream: each for each in interval.streams}
    streams = [
        (plan, l1_bits(plan.mean_frame_size), counts[plan.stream])
        for plan in plans
        if plan.stream in counts and capacity.link_bps
    ]
    for port in (each.port for each in interval.ports if each.port in capacity.link_bps):
        bits = capacity.link_bps[port] * length_s
        sent = sum(c.sent * frame for plan, frame, c in streams if plan.tx_port == port)
        came = sum(c.received * frame for plan, frame, c in streams if plan.rx_port == port)
        yield MetricSample(_TX_PORT, {"tx_port": str(port)}, 100 * sent / bits)
        yield MetricSample(_RX_PORT, {"rx_port": str(port)}, 100 * came / bits)


def _worker_samples(
    worker: WorkerCounts, ticks: float, capacity: TesterCapacity
) -> Iterator[MetricSample]:
    names = {"lcore": str(worker.cpu)}
    cycles = worker.cycles
    if worker.cpu in capacity.sending:
        yield MetricSample(_TX_CPU, names, _share(ticks, cycles.build, cycles.send))
    if worker.cpu in capacity.receiving:
        yield MetricSample(_RX_CPU, names, _share(ticks, cycles.poll, cycles.measure))


def _share(of_ticks: float, *steps: Cycles) -> float:
    """In %. Sampling may find a little more than there is."""
    return min(100.0, 100 * _METERED_TURNS * sum(step.ticks for step in steps) / of_ticks)


def _type(kind: str) -> MetricType:
    return MetricType("trafficgen-engine", kind, "count", "%", "mean")


_TX_PORT, _RX_PORT = _type("tx-port-util"), _type("rx-port-util")
_TX_CPU, _RX_CPU = _type("tx-cpu-util"), _type("rx-cpu-util")


# What the experiment's neighbours did during a trial, as metrics.
def noise_samples(record: TrialRecord) -> list[MetricSample]:
    """The intensity of each neighbour that said what it did; names are its place and its name."""
    return [
        MetricSample(
            _TYPES[each.unit], {"neighbour": str(place), "name": each.name}, each.intensity
        )
        for place, each in enumerate(record.noise)
        if each.intensity is not None
    ]


# What was found of a whole trial, as metrics next to those of its intervals.
def verdict_samples(plans: Sequence[StreamPlan], record: TrialRecord) -> list[MetricSample]:
    """The trial's verdict, 1 for pass and 0 for fail, under the names of each direction.

    None of a trial that was invalid, or that was not judged: that is neither.
    """
    value = _VALUES.get(record.verdict)
    if value is None:
        return []
    return [MetricSample(_RESULT, names, value) for names in path_names(plans).values()]
