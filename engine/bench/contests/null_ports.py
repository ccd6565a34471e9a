"""Sending alone: the port takes every frame and frees it at once."""

from __future__ import annotations

from bench_bed import BenchBed
from contest import Contest
from our_engine import WARMUP_S, mpps, our_engine
from peer_testpmd import Mode, peer_testpmd
from reading import mpps_over

_LOOP = "--port-topology=loop"


def null_contests(bed: BenchBed) -> tuple[Contest, ...]:
    """Against the peer that writes each frame, and the one that copies a template."""
    one, both = (bed.generator_cpu,), (bed.generator_cpu, bed.other_cpu)
    return (
        _contest(bed, "null-1", 1, one, "flowgen"),
        _contest(bed, "null-2", 2, one, "flowgen"),
        _contest(bed, "null-txonly", 1, one, "txonly"),
        _contest(bed, "null-2-lcores", 2, both, "flowgen"),
    )


def _contest(
    bed: BenchBed, name: str, port_count: int, cpus: tuple[int, ...], mode: Mode
) -> Contest:
    # By default a null port also "receives" as much as it is polled for.
    devargs = [f"net_null{port},no-rx=1" for port in range(port_count)]
    paths = tuple((port, port) for port in range(port_count))

    def ours() -> tuple[float, ...]:
        with our_engine(bed, devargs, cpus) as engine:
            return (mpps(engine, paths, bed.seconds, lambda stream: stream.sent),)

    def theirs() -> tuple[float, ...]:
        with peer_testpmd(bed, mode, devargs, cpus, (_LOOP,)) as peer:
            mpps_over(WARMUP_S, lambda: peer.count("opackets"))
            return (mpps_over(bed.seconds, lambda: peer.count("opackets")),)

    ports = f"{port_count} port{'s' if port_count > 1 else ''}"
    lcores = f"{len(cpus)} lcore{'s' if len(cpus) > 1 else ''}"
    flags = " --txonly-multi-flow" if mode == "txonly" else ", 1024 flows"
    return Contest(
        name=name,
        works=(f"TX only, net_null, {ports}, {lcores}",),
        peer=f"testpmd {mode}{flags}",
        unit="Mpps",
        ours=ours,
        theirs=theirs,
    )
