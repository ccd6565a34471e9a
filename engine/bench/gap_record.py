"""When frames arrived at the other end of a memif port, as gap_meter.c recorded it."""

from __future__ import annotations

import json
import time
from array import array
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from bench_bed import BenchBed

from plimsoll.dut.ports.memif_port import memif_devargs
from plimsoll.errors import MachineError
from plimsoll.host.processes.child import Child

WARMUP_S = 0.5
_RING_SIZE = 1024
# 64 MB of record; more than any paced measurement brings.
_MAX_FRAMES = 4_000_000
_END_PATIENCE_S = 10.0
_POLL_S = 0.05
_SIGNATURE_BITS = 48


@dataclass(frozen=True)
class GapRecord:
    """Frames in the order of arrival; times are ticks of the TSC, which runs at `tsc_hz`.

    `stamps` are the 48-bit times in the frames' signatures, nonsense where the sender was
    not our engine.
    """

    tsc_hz: float
    arrivals: array[int]
    stamps: array[int]

    @property
    def rate_pps(self) -> float:
        """The mean rate of arrival."""
        return (len(self.arrivals) - 1) / (self.arrivals[-1] - self.arrivals[0]) * self.tsc_hz

    def gaps_ns(self) -> list[float]:
        """From each arrival to the next."""
        return [(after - before) / self.tsc_hz * 1e9 for before, after in pairwise(self.arrivals)]

    def stamp_gaps_ns(self) -> list[float]:
        """From each frame's signature's time to the next one's."""
        wrap = 1 << _SIGNATURE_BITS
        return [
            (after - before) % wrap / self.tsc_hz * 1e9 for before, after in pairwise(self.stamps)
        ]


class GapMeter:
    """A running meter; `devargs` are those of its client."""

    def __init__(self, child: Child, devargs: str, record: Path) -> None:
        """Use `gap_meter` instead."""
        self._child = child
        self._record = record
        self.devargs = devargs

    def wait(self, timeout_s: float) -> None:
        """Return when it has measured, or `timeout_s` is over: then `record` says what is wrong."""
        deadline = time.monotonic() + timeout_s
        while not self._has_measured() and time.monotonic() < deadline:
            time.sleep(_POLL_S)

    def _has_measured(self) -> bool:
        tail = self._child.log_tail(1)
        return bool(tail) and tail[-1].startswith("{")

    def record(self) -> GapRecord:
        """What it recorded. Raises MachineError when it did not come to the end."""
        tail = self._child.log_tail()
        if not self._has_measured():
            said = "".join(f"\n    {line}" for line in tail)
            raise MachineError(
                f"the gap meter measured nothing; its log ends with:{said}",
                where="pacing",
                remedy="fix what its log names, and start again",
            )
        result = json.loads(tail[-1])
        numbers = array("Q", self._record.read_bytes())
        if result["frames"] < 2:
            raise MachineError("too few frames came", where="pacing", remedy="start again")
        return GapRecord(result["tsc_hz"], numbers[::2], numbers[1::2])


@contextmanager
def gap_meter(bed: BenchBed, program: Path) -> Iterator[GapMeter]:
    """A meter on the bed's other CPU. Raises MachineError when the program is missing."""
    if not program.exists():
        raise MachineError(f"{program} is missing", where="pacing", remedy="run make bench")
    socket = bed.ledger.directory / "gaps.sock"
    record = bed.ledger.directory / "gaps.bin"
    log = bed.ledger.directory / "gaps.log"
    log.unlink(missing_ok=True)
    child = Child.start(
        (str(program.absolute()), *_arguments(bed, socket), "--", *_measure(bed, record)),
        log=log,
        environment=bed.ledger.environment,
    )
    try:
        bed.ledger.note_process(child.name, child.identity)
        yield GapMeter(child, memif_devargs("client", 0, socket, _RING_SIZE), record)
    finally:
        child.end(_END_PATIENCE_S)
        record.unlink(missing_ok=True)
        # The memif driver leaves its socket behind, and takes no place that is occupied.
        socket.unlink(missing_ok=True)


def _arguments(bed: BenchBed, socket: Path) -> tuple[str, ...]:
    memory = ("--in-memory",) if bed.dut_memory.huge else ("--no-huge", "--no-shconf")
    server = memif_devargs("server", 0, socket, _RING_SIZE)
    return (
        *("--lcores", f"0@{bed.other_cpu}", "--no-pci", "--no-telemetry"),
        *("--file-prefix", "gaps", "-m", str(bed.dut_memory.megabytes), *memory),
        *("--vdev", server),
    )


def _measure(bed: BenchBed, record: Path) -> tuple[str, ...]:
    return (str(record), str(WARMUP_S), str(bed.seconds), str(_MAX_FRAMES))
