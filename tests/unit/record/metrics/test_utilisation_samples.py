"""Shares of links and of loops, from counts and ticks made by hand."""

from dataclasses import replace

import pytest

from plimsoll.generator.engine.settings import EngineSettings
from plimsoll.generator.interface import (
    CycleBudget,
    Cycles,
    GeneratorFacts,
    Interval,
    PortInfo,
    WorkerCounts,
)
from plimsoll.record.metrics.interval_samples import (
    UNKNOWN_CAPACITY,
    TesterCapacity,
    utilisation_samples,
)
from plimsoll.record.samples.metric_type import MetricSample
from tests.unit.record.trial_parts import NONE, PLANS, PORT, counts, interval

TSC_HZ = 2_000_000_000.0
PORTS = (PORT, replace(PORT, port=1))
BOTH = TesterCapacity({0: 1e6, 1: 2e6}, TSC_HZ, frozenset({5}), frozenset({5}))


def loop(cpu: int, *ticks: int) -> WorkerCounts:
    """A loop that was sampled building, sending, polling and measuring for so many ticks."""
    cycles = CycleBudget(*(Cycles(each, 1) for each in ticks))
    return WorkerCounts(cpu, 10, 1, 0, 0, 0, NONE, cycles)


def found(of: Interval, capacity: TesterCapacity) -> dict[tuple[str, str], float]:
    """By type and the one name that the series has."""
    samples = list(utilisation_samples(PLANS, of, capacity))
    assert all(is_a_share(sample) for sample in samples)
    return {(each.metric.type, *each.names.values()): each.value for each in samples}


def is_a_share(sample: MetricSample) -> bool:
    metric = sample.metric
    described = (metric.source, metric.unit, metric.aggregation, metric.counted, metric.carried)
    return described == ("trafficgen-engine", "%", "mean", False, False)


def test_a_link_is_used_by_all_streams_on_it_preamble_and_gap_included() -> None:
    # Port 0 sends 64 B load and 128 B probes, and receives 64 B load, in half a second.
    of = interval(
        (
            counts(0, sent=100, received=90),
            counts(1, sent=10, received=10),
            counts(2, sent=50, received=50),
        ),
        end_s=0.5,
        ports=PORTS,
    )
    shares = found(of, BOTH)
    assert shares["tx-port-util", "0"] == pytest.approx(100 * 8 * (100 * 84 + 10 * 148) / 5e5)
    assert shares["rx-port-util", "1"] == pytest.approx(100 * 8 * (90 * 84 + 10 * 148) / 1e6)
    assert shares["tx-port-util", "1"] == pytest.approx(100 * 8 * 50 * 84 / 1e6)
    assert shares["rx-port-util", "0"] == pytest.approx(100 * 8 * 50 * 84 / 5e5)


def test_the_ports_of_the_seed_article() -> None:
    # Its table: 13,360,184.86 pps of 64 B take 35.92 % of a 25 Gbit/s link, which carries
    # 8,978,044,225 bit/s then, in both directions.
    of = interval(
        (counts(0, sent=1_336_018_486, received=1_336_018_486),), end_s=100.0, ports=PORTS
    )
    shares = found(of, TesterCapacity({0: 25e9, 1: 25e9}))
    assert shares["tx-port-util", "0"] == pytest.approx(35.92, abs=0.01)
    assert shares["rx-port-util", "1"] == pytest.approx(35.92, abs=0.01)
    assert shares["rx-port-util", "0"] == 0.0


def test_a_loop_is_busy_for_sixteen_times_what_was_sampled() -> None:
    # Of 2e9 ticks in the second: 16 * (10e6 + 15e6) are 20 %, 16 * (5e6 + 2.5e6) are 6 %.
    of = replace(
        interval((), ports=()), workers=(loop(5, 10**7, 15 * 10**6, 5 * 10**6, 25 * 10**5),)
    )
    assert found(of, BOTH) == {("tx-cpu-util", "5"): 20.0, ("rx-cpu-util", "5"): 6.0}
    half = replace(of, end_s=0.5)
    assert found(half, BOTH) == {("tx-cpu-util", "5"): 40.0, ("rx-cpu-util", "5"): 12.0}


def test_an_idle_loop_is_at_zero_and_a_saturated_one_not_above_a_hundred() -> None:
    idle = replace(interval((), ports=()), workers=(loop(5, 0, 0, 0, 0),))
    assert found(idle, BOTH) == {("tx-cpu-util", "5"): 0.0, ("rx-cpu-util", "5"): 0.0}
    # A sixteenth of 2e9 is 125e6; of the turns that were sampled, a few more were long.
    busy = replace(idle, workers=(loop(5, 25 * 10**6, 100 * 10**6 + 1, 0, 0),))
    assert found(busy, BOTH) == {("tx-cpu-util", "5"): 100.0, ("rx-cpu-util", "5"): 0.0}


def test_a_loop_that_only_receives_has_no_share_of_sending() -> None:
    capacity = TesterCapacity({}, TSC_HZ, frozenset({5}), frozenset({6}))
    workers = (loop(5, 10**6, 0, 0, 0), loop(6, 0, 0, 10**6, 0))
    shares = found(replace(interval((), ports=()), workers=workers), capacity)
    assert shares == {("tx-cpu-util", "5"): 0.8, ("rx-cpu-util", "6"): 0.8}


def test_of_what_is_not_known_there_is_no_share() -> None:
    of = interval((counts(0, sent=100, received=100),), ports=PORTS)
    assert found(of, UNKNOWN_CAPACITY) == {}
    assert {kind for kind, _ in found(of, TesterCapacity({1: 1e9}))} == {
        "tx-port-util",
        "rx-port-util",
    }
    assert {port for _, port in found(of, TesterCapacity({1: 1e9}))} == {"1"}


def port(number: int, mbps: int | None) -> PortInfo:
    return PortInfo(
        port=number,
        devargs="0000:87:00.0",
        driver="net_i40e",
        mac="02:00:00:00:00:01",
        link_up=True,
        link_mbps=mbps,
        numa_node=0,
        rx_queues=1,
        tx_queues=1,
        rss=True,
        rx_stamps=False,
        tx_stamps=False,
        latency_clock="tsc",
    )


@pytest.mark.parametrize(
    ("speeds", "line_rate_bps", "known"),
    [
        ((25_000, 25_000), None, {0: 25e9, 1: 25e9}),
        # A memif port states no speed, and has none.
        ((None, None), None, {}),
        ((None, None), 1e10, {0: 1e10, 1: 1e10}),
        # The link is what is used, whatever the lab calls 100 %.
        ((25_000, None), 1e10, {0: 25e9, 1: 1e10}),
        ((0, 25_000), None, {1: 25e9}),
    ],
)
def test_a_link_is_as_fast_as_its_port_says_or_else_the_lab(
    speeds: tuple[int | None, ...], line_rate_bps: float | None, known: dict[int, float]
) -> None:
    facts = GeneratorFacts("engine", "0", pid=1, tsc_hz=TSC_HZ)
    ports = [port(number, mbps) for number, mbps in enumerate(speeds)]
    capacity = TesterCapacity.of(facts, ports, line_rate_bps)
    assert capacity.link_bps == known
    assert capacity.tsc_hz == TSC_HZ


def test_loops_are_distinguished_by_the_queues_they_have() -> None:
    layout = EngineSettings(cpus=(1, 2, 3, 4)).layout(2)
    facts = GeneratorFacts("engine", "0", pid=1, tsc_hz=TSC_HZ, workers=layout)
    capacity = TesterCapacity.of(facts, (), None)
    assert (capacity.sending, capacity.receiving) == ({1, 2}, {3, 4})
