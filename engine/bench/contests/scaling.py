"""What a core carries by size of frames, flows, ports and queues; and two cores.

Ports are loopbacks of `net_ring`, whose driver hands over pointers: a figure is the engine's own
work, sending and receiving, every frame measured. A card's driver comes on top.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from bench_bed import BenchBed
from contest import Contest
from our_engine import load_stream, our_engine, run

from plimsoll.traffic.frames.vary import MAX_FLOWS
from plimsoll.traffic.streams.stream import Stream

# By which the plan of cores is made (planning.py).
LONE_CORE = "TX + RX, 1 lcore"
_MIX = {64: 7, 594: 4, 1518: 1}
IMIX_BYTES = sum(size * weight for size, weight in _MIX.items()) / sum(_MIX.values())
_LARGEST = 1518


@dataclass(frozen=True)
class _Case:
    """Loopbacks on so many ports, sent and received by so many lcores."""

    what: str
    load: Stream
    ports: int = 1
    lcores: int = 1
    largest: int = 64


def scaling_contest(bed: BenchBed) -> Contest:
    """Million frames a second of all ports, and the TSC ticks of an lcore that each takes."""
    cases = list(_cases())

    def ours() -> tuple[float, ...]:
        return tuple(value for case in cases for value in _measure(bed, case))

    return Contest(
        name="scaling",
        works=tuple(f"{case.what}{unit}" for case in cases for unit in ("", ", an lcore's time")),
        peer="none: testpmd measures nothing",
        unit=("Mpps", "ticks/frame") * len(cases),
        ours=ours,
        theirs=None,
    )


def _cases() -> Iterator[_Case]:
    for size in (64, 128, 256, 512, 1024, _LARGEST):
        yield _Case(f"{LONE_CORE}, {size} bytes", load_stream(size), largest=size)
    mix = [{"size": size, "weight": weight} for size, weight in _MIX.items()]
    yield _Case(f"{LONE_CORE}, IMIX", load_stream(None, imix=mix), largest=_LARGEST)
    for flows in (1, 65536, MAX_FLOWS):
        yield _Case(
            f"TX + RX, {flows} flows, 1 lcore, 64 bytes", load_stream(flows=flows, prefix=7)
        )
    yield _Case("TX + RX, 4 ports, 1 lcore, 64 bytes", load_stream(), ports=4)
    yield _Case("TX + RX, 2 ports, 2 lcores, 64 bytes", load_stream(), ports=2, lcores=2)


def _measure(bed: BenchBed, case: _Case) -> tuple[float, float]:
    devargs = [f"net_ring{port}" for port in range(case.ports)]
    paths = tuple((port, port) for port in range(case.ports))
    cpus = (bed.generator_cpu, bed.other_cpu)[: case.lcores]
    with our_engine(bed, devargs, cpus, case.largest) as engine:
        report = run(engine, paths, bed.seconds, load=case.load)
        ticks_per_second = engine.facts.tsc_hz or 0.0
    pps = sum(stream.received for stream in report.streams) / report.sending_s
    return pps / 1e6, case.lcores * ticks_per_second / pps
