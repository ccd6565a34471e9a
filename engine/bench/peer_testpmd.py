"""The peer: dpdk-testpmd as a generator."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from bench_bed import BenchBed

from plimsoll.dut.lab import LabDied
from plimsoll.errors import MachineError
from plimsoll.host.cpus import format_cpu_list
from plimsoll.host.dpdk_telemetry import Telemetry, TelemetryError
from plimsoll.host.processes.affinity import housekeeping_cpus, pinned_off
from plimsoll.host.processes.child import Child

Mode = Literal["flowgen", "txonly"]
Counter = Literal["ipackets", "opackets"]

_PREFIX = "peer"
_START_TIMEOUT_S = 30.0
_END_PATIENCE_S = 5.0
_POLL_S = 0.02
_MBUFS = 16384
# As many as we send at once; no slower here than testpmd's own default of 32.
_BURST = 64

# Both send 60 bytes and the FCS that a wire would add: flowgen takes the FCS off its
# length by itself, txonly does not.
_MODE_ARGUMENTS: dict[Mode, tuple[str, ...]] = {
    "flowgen": ("--forward-mode=flowgen", "--flowgen-flows=1024"),
    "txonly": ("--forward-mode=txonly", "--txonly-multi-flow", "--txpkts=60"),
}


class Peer:
    """A running testpmd and its counters."""

    def __init__(self, child: Child, telemetry_path: Path, port_count: int) -> None:
        """Use `peer_testpmd` instead."""
        self._child = child
        self._telemetry_path = telemetry_path
        self._port_count = port_count

    @property
    def pid(self) -> int:
        """Of the process."""
        return self._child.pid

    def count(self, counter: Counter) -> int:
        """The counter's sum over all ports. Raises LabDied, TelemetryError."""
        try:
            with Telemetry(self._telemetry_path) as telemetry:
                answers = [
                    telemetry.query(f"/ethdev/stats,{port}") for port in range(self._port_count)
                ]
        except TelemetryError:
            self._check()
            raise
        return sum(_checked(answer.get(counter), counter) for answer in answers)

    def wait_until_sending(self) -> None:
        """Return once every port has started. Raises LabDied, MachineError."""
        deadline = time.monotonic() + _START_TIMEOUT_S
        while not self._sends():
            self._check()
            if time.monotonic() > deadline:
                raise MachineError(
                    f"{self._child.name} sent nothing within {_START_TIMEOUT_S:g} s",
                    where="peer",
                    remedy="start again on a less busy machine",
                )
            time.sleep(_POLL_S)

    def _sends(self) -> bool:
        # Neither its socket nor its ports are there at first.
        with contextlib.suppress(TelemetryError):
            return self.count("opackets") > 0
        return False

    def _check(self) -> None:
        if (status := self._child.exit_status()) is not None:
            raise LabDied(self._child, status)


@contextmanager
def peer_testpmd(
    bed: BenchBed,
    mode: Mode,
    devargs: Sequence[str],
    cpus: tuple[int, ...],
    arguments: Sequence[str] = (),
) -> Iterator[Peer]:
    """A testpmd that sends already, this process off its CPUs. Raises LabDied, MachineError."""
    child = Child.start(
        (
            "dpdk-testpmd",
            *_eal_arguments(bed, devargs, cpus),
            "--",
            *_MODE_ARGUMENTS[mode],
            f"--nb-cores={len(cpus)}",
            f"--total-num-mbufs={_MBUFS}",
            f"--burst={_BURST}",
            *arguments,
        ),
        log=bed.ledger.directory / "peer.log",
        environment=bed.ledger.environment,
    )
    try:
        bed.ledger.note_process(child.name, child.identity)
        socket = bed.ledger.directory / "dpdk" / _PREFIX / "dpdk_telemetry.v2"
        peer = Peer(child, socket, len(devargs))
        with pinned_off(cpus):
            peer.wait_until_sending()
            yield peer
    finally:
        child.end(_END_PATIENCE_S)


def _eal_arguments(bed: BenchBed, devargs: Sequence[str], cpus: tuple[int, ...]) -> tuple[str, ...]:
    workers = "".join(f",{number}@{cpu}" for number, cpu in enumerate(cpus, start=1))
    plan = bed.generator_memory
    memory = ("--in-memory",) if plan.huge else ("--no-huge", "--no-shconf")
    vdevs = (("--vdev", device) for device in devargs)
    return (
        # The main thread only sleeps.
        *("--lcores", f"0@({format_cpu_list(housekeeping_cpus(cpus))}){workers}"),
        *("--no-pci", "--file-prefix", _PREFIX, "-m", str(plan.megabytes), *memory),
        *(word for vdev in vdevs for word in vdev),
    )


def _checked(value: object, counter: Counter) -> int:
    if not isinstance(value, int):
        raise TelemetryError(
            f"{counter} is {value!r}, not a count",
            where="peer",
            remedy="check the version of dpdk-testpmd",
        )
    return value
