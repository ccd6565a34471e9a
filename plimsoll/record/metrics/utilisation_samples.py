"""How much of the tester is taken up: its links, and the time of its polling loops."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from plimsoll.generator.interface import Cycles, Interval, WorkerCounts
from plimsoll.record.metrics.tester_capacity import TesterCapacity
from plimsoll.record.samples.metric_sample import MetricSample
from plimsoll.record.samples.metric_type import MetricType
from plimsoll.text.wire import l1_bits
from plimsoll.traffic.plan import StreamPlan

# One turn of a polling loop in so many is metered (engine/src/dataplane/time/cycle_meter.h).
_METERED_TURNS = 16


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
