"""How evenly frames leave: the gaps between them, as a receiver on memif sees them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench_bed import BenchBed
from contest import Contest
from our_engine import WARMUP_S, our_engine, run

from plimsoll.dut.memif import memif_devargs
from plimsoll.errors import MachineError
from plimsoll.host.child import Child

LOADS_PPS = (500e3, 1e6)
_WITHIN_NS = (64, 128, 256, 512)
_RING_SIZE = 1024
_PATHS = ((0, 0),)
_END_PATIENCE_S = 10.0


def pacing_contests(bed: BenchBed, gap_meter: Path) -> tuple[Contest, ...]:
    """One contest a load; testpmd has no part in them."""
    return tuple(_contest(bed, gap_meter, load_pps) for load_pps in LOADS_PPS)


def _contest(bed: BenchBed, gap_meter: Path, load_pps: float) -> Contest:
    cpus = (bed.generator_cpu,)

    def ours() -> tuple[float, ...]:
        socket = bed.ledger.directory / "gaps.sock"
        client = memif_devargs("client", 0, socket, _RING_SIZE)
        with _meter(bed, gap_meter, socket, load_pps) as meter:
            with our_engine(bed, (client,), cpus) as engine:
                # The meter has measured enough before the sending ends.
                run(engine, _PATHS, bed.seconds + WARMUP_S, load_pps=load_pps)
            return _shares(meter)

    return Contest(
        name=f"pacing-{load_pps / 1e3:.0f}k",
        works=tuple(
            f"gaps within ±{within} ns of ideal at {load_pps / 1e3:.0f} kpps"
            for within in _WITHIN_NS
        ),
        peer="none: testpmd paces only on NICs with rate limits",
        unit="%",
        ours=ours,
        theirs=None,
    )


@contextmanager
def _meter(bed: BenchBed, program: Path, socket: Path, load_pps: float) -> Iterator[Child]:
    """The gap meter, its output in a log of its own."""
    if not program.exists():
        raise MachineError(f"{program} is missing", where="pacing", remedy="run make bench")
    memory = ("--in-memory",) if bed.dut_memory.huge else ("--no-huge", "--no-shconf")
    server = memif_devargs("server", 0, socket, _RING_SIZE)
    child = Child.start(
        (
            str(program.absolute()),
            *("--lcores", f"0@{bed.other_cpu}", "--no-pci", "--no-telemetry"),
            *("--file-prefix", "gaps", "-m", str(bed.dut_memory.megabytes), *memory),
            *("--vdev", server, "--"),
            *(str(1e9 / load_pps), str(WARMUP_S), str(bed.seconds)),
        ),
        log=_fresh(bed.ledger.directory / "gaps.log"),
        environment=bed.ledger.environment,
    )
    try:
        bed.ledger.note_process(child.name, child.identity)
        yield child
    finally:
        child.end(_END_PATIENCE_S)
        # The memif driver leaves its socket behind, and takes no place that is occupied.
        socket.unlink(missing_ok=True)


def _fresh(log: Path) -> Path:
    log.unlink(missing_ok=True)
    return log


def _shares(meter: Child) -> tuple[float, ...]:
    """Percent of all gaps, in the order of _WITHIN_NS."""
    tail = meter.log_tail()
    if not tail or not tail[-1].startswith("{"):
        said = "".join(f"\n    {line}" for line in tail)
        raise MachineError(
            f"the gap meter measured nothing; its log ends with:{said}",
            where="pacing",
            remedy="mend what its log names, and start again",
        )
    result = json.loads(tail[-1])
    return tuple(100 * result["within_ns"][str(ns)] / result["gaps"] for ns in _WITHIN_NS)
