"""How true the engine's latencies are, against a DUT that knows how long it held each frame.

An error is the engine's figure less the DUT's. Nothing is subtracted: in it are the way
over memif there and back, both sides' copies, and the wait for the other's next poll.
Samples that a stall of either side touched are left out, and their share is stated.
"""

from __future__ import annotations

from pathlib import Path

from bench_bed import BenchBed
from contest import Contest, Values
from delay_dut import Holds, delay_dut
from probes import LOAD, PROBE, counts_of, quantile_ns, quiet_engine, run, stream, warm_up

from plimsoll.errors import MachineError
from plimsoll.generator.histogram import Histogram
from plimsoll.generator.interface import StreamCounts

_PATH = (0, 1)
_LOOP = (0, 0)
# Enough for 20 samples beyond the 99.9th percentile in 2 s; one or two are held at a time.
_HELD_PROBE_PPS = 10_000
_LOOP_PROBE_PPS = 1000
_LOOP_LOADS_PPS = (0, 1e6, 5e6)
# A thousand probes a second want more time to make a percentile.
_LOOP_TIMES_LONGER = 5
_HOLDS_NS = (
    ("fixed hold of 10 us", 10_000, 10_000),
    ("fixed hold of 100 us", 100_000, 100_000),
    # Narrow: a longer hold is touched by a stall more often, and left out more often.
    ("random hold of 10 to 20 us", 10_000, 20_000),
)
_SHARE = "%"


def accuracy_contests(bed: BenchBed, program: Path) -> tuple[Contest, ...]:
    """The engine against the truth, and by itself on a loopback. No peer has any part."""
    return (
        *(_held(bed, program, *hold) for hold in _HOLDS_NS),
        *(_loopback(bed, load_pps) for load_pps in _LOOP_LOADS_PPS),
    )


def _held(bed: BenchBed, program: Path, name: str, least_ns: int, most_ns: int) -> Contest:
    figures = (
        ("mean", "ns"),
        ("p50", "ns"),
        ("p99.9", "ns"),
        ("min", "ns"),
        ("max", "ns"),
    )

    def ours() -> Values:
        probes = (stream(PROBE, "latency", _HELD_PROBE_PPS, _PATH),)
        with delay_dut(bed, program) as dut, quiet_engine(bed, dut.devargs) as engine:
            dut.hold(least_ns, most_ns)
            warm_up(engine, probes)
            dut.hold(least_ns, most_ns)
            counts = counts_of(run(engine, probes, bed.seconds), PROBE)
            holds = dut.holds()
            # While it polls, a memif driver does not take its peer's end well.
            dut.end()
        errors = _errors_ns(_clean(counts), holds)
        return (*errors, holds.way_quantile_ns(0.5), _left_out(counts, holds))

    return Contest(
        name=f"truth-{least_ns // 1000}us" + ("-random" if least_ns < most_ns else ""),
        works=(
            *(f"{name}: error of the {figure}" for figure, _ in figures),
            f"{name}: of it, from our send stamp to the DUT's receive stamp, p50",
            f"{name}: probes left out, touched by a stall of ours or the DUT's",
        ),
        peer="the delay DUT's own clock readings",
        unit=(*(unit for _, unit in figures), "ns", _SHARE),
        ours=ours,
        theirs=None,
    )


def _loopback(bed: BenchBed, load_pps: float) -> Contest:
    background = f"{load_pps / 1e6:g} Mpps of load" if load_pps else "nothing else"

    def ours() -> Values:
        streams = [stream(PROBE, "latency", _LOOP_PROBE_PPS, _LOOP)]
        if load_pps:
            streams.append(stream(LOAD, "load", load_pps, _LOOP))
        with quiet_engine(bed, ("net_ring0",)) as engine:
            warm_up(engine, streams)
            report = run(engine, streams, bed.seconds * _LOOP_TIMES_LONGER)
        counts = counts_of(report, PROBE)
        clean = _clean(counts)
        figures = (quantile_ns(clean, 0.5), quantile_ns(clean, 0.999), float(clean.max_ns or 0))
        return (*figures, 100 * counts.latency_across_stalls.count / counts.received)

    name = f"quiet loopback, 1000 probes/s next to {background}"
    return Contest(
        name=f"loopback-{load_pps / 1e6:g}M",
        works=(
            f"{name}: p50",
            f"{name}: p99.9",
            f"{name}: max",
            f"{name}: probes left out, touched by a stall",
        ),
        peer="none: nothing holds the frame, so all of it is the tester's own",
        unit=("ns", "ns", "ns", _SHARE),
        ours=ours,
        theirs=None,
    )


def _clean(counts: StreamCounts) -> Histogram:
    """The latencies that no stall of the engine's touched."""
    if not counts.latency.count:
        raise MachineError(
            "no probe came back untouched by a stall",
            where="accuracy",
            remedy="measure on a less busy machine",
        )
    return counts.latency


def _errors_ns(measured: Histogram, holds: Holds) -> tuple[float, ...]:
    """Engine less DUT: mean, p50, p99.9, min, max. All but the quantiles are exact."""
    return (
        measured.sum_ns / measured.count - sum(holds.ns) / len(holds.ns),
        *(
            quantile_ns(measured, quantile) - holds.quantile_ns(quantile)
            for quantile in (0.5, 0.999)
        ),
        (measured.min_ns or 0) - holds.ns[0],
        (measured.max_ns or 0) - holds.ns[-1],
    )


def _left_out(counts: StreamCounts, holds: Holds) -> float:
    """Percent of the probes sent."""
    left_out = counts.latency_across_stalls.count + holds.withheld + holds.discounted
    return 100 * left_out / counts.sent
