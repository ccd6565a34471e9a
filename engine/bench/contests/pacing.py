"""How evenly frames leave: the gaps between them, as a receiver on memif sees them.

Next to each figure of the gaps as received stands the same one of the times that the engine
wrote into the frames when it handed them over: what differs between the two was added on
the way, by memif and by the meter.
"""

from __future__ import annotations

from pathlib import Path

from bench_bed import BenchBed
from contest import Contest, Values
from gap_figures import distance_from_exponential, gaps_between_bursts, percent_within
from gap_record import WARMUP_S, GapRecord, gap_meter
from peer_testpmd import peer_testpmd
from probes import LOAD, quiet_engine, run, stream

from plimsoll.traffic.plan import Pacing

# By the authors of "MoonGen: A Scriptable High-Speed Packet Generator", on NICs of theirs.
QUOTED = """\
Published elsewhere, not measured here: gaps within ±64/±128/±256/±512 ns of ideal
  500 kpps: MoonGen's rate control 49.9/74.9/99.8/99.8 %, Pktgen-DPDK 37.7/72.3/92/94.5 %, \
the kernel's (zsend) 3.9/5.4/6.4/13.8 %
  1 Mpps: MoonGen's rate control 50.5/52/97/100 %, Pktgen-DPDK 36.7/58/70.6/95.9 %"""

_LOADS_PPS = (500e3, 1e6)
_BURST_FRAMES = 32
_WITHIN_NS = (64, 128, 256, 512)
_PATH = (0, 0)
_METER_PATIENCE_S = 30.0
_BY_STAMPS = "by our own stamps,"
_NO_PEER = "none: testpmd has no such pacing"


def pacing_contests(bed: BenchBed, program: Path) -> tuple[Contest, ...]:
    """Constant gaps at two rates, bursts, and random gaps."""
    return (
        *(_constant(bed, program, load_pps) for load_pps in _LOADS_PPS),
        _bursts(bed, program, 1e6),
        _poisson(bed, program, 500e3),
    )


def _constant(bed: BenchBed, program: Path, load_pps: float) -> Contest:
    ideal_ns = 1e9 / load_pps

    def ours() -> Values:
        record, handing_ns = _our_gaps(bed, program, load_pps, Pacing())
        return (
            *percent_within(record.gaps_ns(), ideal_ns, _WITHIN_NS),
            *percent_within(record.stamp_gaps_ns(), ideal_ns, _WITHIN_NS),
            handing_ns,
            record.rate_pps / 1e6,
        )

    def theirs() -> Values:
        record = _their_gaps(bed, program)
        shares = percent_within(record.gaps_ns(), 1e9 / record.rate_pps, _WITHIN_NS)
        # It writes no times into its frames, and does not say what sending one takes.
        return (*shares, *(len(_WITHIN_NS) * (None,)), None, record.rate_pps / 1e6)

    at = f"at {load_pps / 1e3:.0f} kpps"
    shares = 2 * len(_WITHIN_NS) * ("%",)
    return Contest(
        name=f"pacing-{load_pps / 1e3:.0f}k",
        works=(
            *(f"gaps within ±{within} ns of ideal {at}" for within in _WITHIN_NS),
            *(f"{_BY_STAMPS} gaps within ±{within} ns of ideal {at}" for within in _WITHIN_NS),
            f"handing a frame to memif {at}",
            f"rate of frames that were meant to come {at}",
        ),
        peer="testpmd txonly --burst=1, which does not pace: around the mean gap of its own rate",
        unit=(*shares, "ns", "Mpps"),
        ours=ours,
        theirs=theirs,
        comparable=False,
    )


def _bursts(bed: BenchBed, program: Path, load_pps: float) -> Contest:
    ideal_ns = _BURST_FRAMES * 1e9 / load_pps

    def ours() -> Values:
        pacing = Pacing("burst", burst_frames=_BURST_FRAMES)
        record, _ = _our_gaps(bed, program, load_pps, pacing)
        return tuple(
            share
            for gaps in (record.gaps_ns(), record.stamp_gaps_ns())
            for share in percent_within(gaps_between_bursts(gaps, ideal_ns), ideal_ns, _WITHIN_NS)
        )

    what = f"bursts of {_BURST_FRAMES} at {load_pps / 1e3:.0f} kpps"
    return Contest(
        name=f"pacing-burst-{load_pps / 1e3:.0f}k",
        works=tuple(
            f"{by}{what}: gaps between them within ±{within} ns of ideal"
            for by in ("", f"{_BY_STAMPS} ")
            for within in _WITHIN_NS
        ),
        peer=_NO_PEER,
        unit="%",
        ours=ours,
        theirs=None,
    )


def _poisson(bed: BenchBed, program: Path, load_pps: float) -> Contest:
    def ours() -> Values:
        record, _ = _our_gaps(bed, program, load_pps, Pacing("poisson", seed=1))
        return tuple(
            100 * distance_from_exponential(gaps, 1e9 / load_pps)
            for gaps in (record.gaps_ns(), record.stamp_gaps_ns())
        )

    what = f"Poisson at {load_pps / 1e3:.0f} kpps: Kolmogorov-Smirnov distance of its gaps from"
    return Contest(
        name=f"pacing-poisson-{load_pps / 1e3:.0f}k",
        works=(f"{what} the exponential", f"{_BY_STAMPS} {what} the exponential"),
        peer=_NO_PEER,
        unit="%",
        ours=ours,
        theirs=None,
    )


def _our_gaps(
    bed: BenchBed, program: Path, load_pps: float, pacing: Pacing
) -> tuple[GapRecord, float | None]:
    """What the meter recorded of ours, and how long handing a frame to memif took (ns)."""
    with gap_meter(bed, program) as meter, quiet_engine(bed, (meter.devargs,)) as engine:
        # The meter has measured enough before the sending ends.
        seconds = bed.seconds + 2 * WARMUP_S
        report = run(engine, (stream(LOAD, "load", load_pps, _PATH, pacing),), seconds)
        record = meter.record()
    (worker,) = report.workers
    ticks = worker.cycles.send.per_frame
    return record, None if ticks is None else ticks / record.tsc_hz * 1e9


def _their_gaps(bed: BenchBed, program: Path) -> GapRecord:
    """What the meter recorded of testpmd, which sends a frame at a time, as fast as it can."""
    cpus = (bed.generator_cpu,)
    with gap_meter(bed, program) as meter:
        with peer_testpmd(bed, "txonly", (meter.devargs,), cpus, ("--burst=1",)):
            meter.wait(_METER_PATIENCE_S)
        return meter.record()
