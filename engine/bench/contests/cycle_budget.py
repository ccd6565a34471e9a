"""Where the polling loop's time goes, by its own account."""

from __future__ import annotations

from bench_bed import BenchBed
from contest import Contest
from our_engine import our_engine, run

from plimsoll.generator.interface import Cycles

_NO_PEER = "none: testpmd does not say"
_LOOPBACK = (("net_ring0",), ((0, 0),))
_NULL = (("net_null0,no-rx=1",), ((0, 0),))


def budget_contest(bed: BenchBed) -> Contest:
    """TSC ticks a frame of each step at full speed, on a loopback and into nothing."""

    def ours() -> tuple[float, ...]:
        build, send, poll, measure = _budget(bed, *_LOOPBACK)
        build_alone, send_alone, _, _ = _budget(bed, *_NULL)
        return build, send, poll, measure, build_alone, send_alone

    return Contest(
        name="budget",
        works=(
            "TX build, net_ring loopback",
            "TX send, net_ring loopback",
            "RX poll, net_ring loopback",
            "RX measure, net_ring loopback",
            "TX build, net_null",
            "TX send, net_null",
        ),
        peer=_NO_PEER,
        unit="ticks/frame",
        ours=ours,
        theirs=None,
    )


def _budget(
    bed: BenchBed, devargs: tuple[str, ...], paths: tuple[tuple[int, int], ...]
) -> tuple[float, float, float, float]:
    with our_engine(bed, devargs, (bed.generator_cpu,)) as engine:
        (worker,) = run(engine, paths, bed.seconds).workers
    cycles = worker.cycles
    return _each(cycles.build), _each(cycles.send), _each(cycles.poll), _each(cycles.measure)


def _each(cycles: Cycles) -> float:
    """Zero where nothing was done: nothing comes from a null port."""
    return cycles.per_frame or 0.0
