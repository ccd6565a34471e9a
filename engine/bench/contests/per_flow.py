"""What it costs to count every received frame by its flow."""

from __future__ import annotations

from bench_bed import BenchBed
from contest import Contest
from our_engine import FLOWS, load_stream, our_engine, run

_DEVARGS = ("net_ring0",)
_PATHS = ((0, 0),)
# 0: not counted by flow.
_COUNTED = (0, 1024, 65536)


def per_flow_contest(bed: BenchBed) -> Contest:
    """Frames that came back a second on one CPU, and the ticks that measuring one takes."""

    def ours() -> tuple[float, ...]:
        return tuple(value for flows in _COUNTED for value in _measure(bed, flows))

    return Contest(
        name="per-flow",
        works=tuple(
            f"{what}, {f'{flows} flows counted' if flows else 'no flows counted'}"
            for flows in _COUNTED
            for what in ("TX + RX, net_ring loopback", "RX measure")
        ),
        peer="none: testpmd measures nothing",
        unit=("Mpps", "ticks/frame") * len(_COUNTED),
        ours=ours,
        theirs=None,
    )


def _measure(bed: BenchBed, flows: int) -> tuple[float, float]:
    with our_engine(bed, _DEVARGS, (bed.generator_cpu,)) as engine:
        load = load_stream(flows=flows or FLOWS, per_flow=flows > 0)
        report = run(engine, _PATHS, bed.seconds, load=load)
    (worker,) = report.workers
    received = sum(stream.received for stream in report.streams)
    return received / report.sending_s / 1e6, worker.cycles.measure.per_frame or 0.0
