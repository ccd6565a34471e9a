"""Sending and receiving: a port whose frames come straight back, ours measured one by one."""

from __future__ import annotations

from bench_bed import BenchBed
from contest import Contest
from our_engine import WARMUP_S, mpps, our_engine
from peer_testpmd import peer_testpmd
from reading import mpps_over

_DEVARGS = ("net_ring0",)
_PATHS = ((0, 0),)


def ring_contest(bed: BenchBed) -> Contest:
    """Frames that came back, each received and, by us, checked, ordered and timed."""
    cpus = (bed.generator_cpu,)

    def ours() -> tuple[float, ...]:
        with our_engine(bed, _DEVARGS, cpus) as engine:
            return (mpps(engine, _PATHS, bed.seconds, lambda stream: stream.received),)

    def theirs() -> tuple[float, ...]:
        with peer_testpmd(bed, "flowgen", _DEVARGS, cpus, ("--port-topology=loop",)) as peer:
            mpps_over(WARMUP_S, lambda: peer.count("ipackets"))
            return (mpps_over(bed.seconds, lambda: peer.count("ipackets")),)

    return Contest(
        name="ring",
        works=("TX + RX, every frame measured, net_ring loopback",),
        peer="testpmd flowgen, measures nothing",
        unit="Mpps",
        ours=ours,
        theirs=theirs,
    )
