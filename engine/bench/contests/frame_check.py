"""What it costs to look at the checksums of every received frame."""

from __future__ import annotations

from bench_bed import BenchBed
from contest import Contest
from our_engine import load_stream, our_engine, run

from plimsoll.generator.interface import FrameCheck

_DEVARGS = ("net_ring0",)
_PATHS = ((0, 0),)
_SIZES = (64, 512, 1518)
_CHECKS: tuple[FrameCheck, ...] = ("signature", "checksums")
_WORKS = tuple((size, check) for size in _SIZES for check in _CHECKS)


def frame_check_contest(bed: BenchBed) -> Contest:
    """Frames that came back a second on one CPU, and the ticks that measuring one takes."""

    def ours() -> tuple[float, ...]:
        return tuple(value for size, check in _WORKS for value in _measure(bed, size, check))

    return Contest(
        name="frame-check",
        works=tuple(
            f"{what}, {size} bytes, by {check}"
            for size, check in _WORKS
            for what in ("TX + RX, net_ring loopback", "RX measure")
        ),
        peer="none: testpmd measures nothing",
        unit=("Mpps", "ticks/frame") * len(_WORKS),
        ours=ours,
        theirs=None,
    )


def _measure(bed: BenchBed, size: int, check: FrameCheck) -> tuple[float, float]:
    with our_engine(bed, _DEVARGS, (bed.generator_cpu,), size) as engine:
        report = run(engine, _PATHS, bed.seconds, load=load_stream(size), check=check)
    (worker,) = report.workers
    received = sum(stream.received for stream in report.streams)
    return received / report.sending_s / 1e6, worker.cycles.measure.per_frame or 0.0
