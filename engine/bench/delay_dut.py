"""The delay DUT (engine/tests/delay_dut): holds each frame for a time that it states."""

from __future__ import annotations

import contextlib
import json
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import compress
from pathlib import Path
from typing import Any

from bench_bed import BenchBed

from plimsoll.dut.ports.memif_port import memif_devargs
from plimsoll.errors import MachineError
from plimsoll.host.cpus import format_cpu_list
from plimsoll.host.processes.affinity import housekeeping_cpus, raise_priority
from plimsoll.host.processes.child import with_parent_death_signal
from plimsoll.host.processes.identity import identify

_PORTS = (0, 1)
_RING_SIZE = 1024


# A DUT that was away for longer does not know when the frames came that then waited.
_LATE_NS = 1000
_END_PATIENCE_S = 10.0


@dataclass(frozen=True, slots=True)
class Holds:
    """For how long frames were held (ns, ascending), by the DUT's own clock readings.

    `way_ns` are the times from our send stamp to the DUT's receive stamp, ascending too.
    Frames that came while the DUT was away were `withheld`, not sent on; of `discounted`
    ones it cannot say when they left. Neither is among `ns`.
    """

    ns: tuple[float, ...]
    way_ns: tuple[float, ...]
    withheld: int
    discounted: int

    def quantile_ns(self, quantile: float) -> float:
        """The smallest hold that `quantile` of all do not exceed."""
        return _quantile(self.ns, quantile)

    def way_quantile_ns(self, quantile: float) -> float:
        """The same of the ways that frames had come, from their send stamp to the DUT's."""
        return _quantile(self.way_ns, quantile)


def _quantile(ascending: Sequence[float], quantile: float) -> float:
    return ascending[max(1, -int(-quantile * len(ascending) // 1)) - 1]


class DelayDut:
    """A running DUT; its client's devargs are in `devargs`."""

    def __init__(self, process: subprocess.Popen[bytes], devargs: Sequence[str]) -> None:
        """Use `delay_dut` instead."""
        self._process = process
        self.devargs = tuple(devargs)

    def hold(self, least_ns: int, most_ns: int) -> None:
        """From now on hold each frame from port 0 to 1 for a random time between the two."""
        path = {
            "from": _PORTS[0],
            "to": _PORTS[1],
            "hold_ns": [least_ns, most_ns],
            "keep_order": False,
            "withhold_late_ns": _LATE_NS,
        }
        self._ask({"behave": {"paths": [path]}})

    def holds(self) -> Holds:
        """What it did since."""
        report = self._ask({"report": True})
        (path,) = report["paths"]
        sent = report["sent"]
        if not sent["hold"] or report["unrecorded"]:
            raise MachineError(
                f"it recorded {len(sent['hold'])} frames and left out {report['unrecorded']}",
                where="delay-dut",
                remedy="measure for a shorter time",
            )
        ns_per_tick = 1e9 / report["tsc_hz"]
        # Each is known but for the time from one poll to the next, and that of sending it.
        known = [uncertainty * ns_per_tick <= 2 * _LATE_NS for uncertainty in sent["uncertainty"]]
        holds, ways = (
            tuple(sorted(ticks * ns_per_tick for ticks in compress(sent[column], known)))
            for column in ("hold", "way")
        )
        return Holds(holds, ways, path["withheld"], known.count(False))

    def end(self) -> None:
        """Close its input, at which it ends; kill it when it does not."""
        assert self._process.stdin is not None  # noqa: S101 - both are pipes
        assert self._process.stdout is not None  # noqa: S101
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()
        try:
            self._process.wait(_END_PATIENCE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()

    def _ask(self, request: Mapping[str, Any]) -> dict[str, Any]:
        assert self._process.stdin is not None  # noqa: S101 - both are pipes
        assert self._process.stdout is not None  # noqa: S101
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(json.dumps(request).encode() + b"\n")
            self._process.stdin.flush()
        line = self._process.stdout.readline()
        answer = json.loads(line) if line else {"error": "it ended"}
        if "error" in answer:
            raise MachineError(
                f"the delay DUT failed: {answer['error']}",
                where="delay-dut",
                remedy="see its messages above",
            )
        return dict(answer)


@contextmanager
def delay_dut(bed: BenchBed, program: Path) -> Iterator[DelayDut]:
    """A DUT that forwards on the bed's other CPU, from memif port 0 to port 1.

    Raises MachineError when the program is missing.
    """
    if not program.exists():
        raise MachineError(f"{program} is missing", where="accuracy", remedy="run make bench")
    socket = bed.ledger.directory / "delay.sock"
    process = subprocess.Popen(  # noqa: S603 - an argument vector, no shell
        with_parent_death_signal((str(program.absolute()), *_arguments(bed, socket))),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=dict(bed.ledger.environment),
        start_new_session=True,
    )
    raise_priority(process.pid)
    dut = DelayDut(process, [_memif("client", port, socket) for port in _PORTS])
    try:
        bed.ledger.note_process(program.name, identify(process.pid))
        yield dut
    finally:
        dut.end()
        socket.unlink(missing_ok=True)


def _memif(role: Any, port: int, socket: Path) -> str:
    return memif_devargs(role, port, socket, _RING_SIZE)


def _arguments(bed: BenchBed, socket: Path) -> tuple[str, ...]:
    cpus = format_cpu_list(housekeeping_cpus((bed.other_cpu,)))
    memory = ("--in-memory",) if bed.dut_memory.huge else ("--no-huge", "--no-shconf")
    vdevs = (("--vdev", _memif("server", port, socket)) for port in _PORTS)
    return (
        *("--lcores", f"0@({cpus}),1@{bed.other_cpu}", "--no-pci", "--no-telemetry"),
        *("--file-prefix", "delay-dut", "-m", str(bed.dut_memory.megabytes), *memory),
        *("--log-level", "warning"),
        *(word for vdev in vdevs for word in vdev),
    )
