"""A guest like a container: dpdk-testpmd in a process of its own.

Its ports are virtio-user's, or the interfaces of a network namespace (guest_ports.py).
"""

from __future__ import annotations

from pathlib import Path

from plimsoll.dut.guest.guest import GuestCounts, GuestForwarding, GuestHangs, GuestPlace
from plimsoll.dut.guest.guest_ports import PORTS, GuestPorts
from plimsoll.dut.lab import DutProcess, LabDied
from plimsoll.dut.needs import NeededProgram
from plimsoll.dut.sight import ethdev_counters
from plimsoll.errors import MachineError
from plimsoll.host.dpdk_telemetry import Telemetry, TelemetryError
from plimsoll.host.ledger.hugepages import MemoryPlan, eal_arguments
from plimsoll.host.ledger.ledger import Ledger
from plimsoll.host.processes.child import Child, Lifetime, wait_until
from plimsoll.host.processes.privileges import IPC_LOCK

TESTPMD = NeededProgram("dpdk-testpmd", "dpdk-dev (Debian 12, Ubuntu) or dpdk (Fedora, RHEL)")
# For DPDK itself, mbufs of a page each, and virtio's rings.
_MEGABYTES = 96
_MBUFS = 8192
_PAGE_BYTES = 4096
# What surrounds an mbuf in its pool.
_MBUF_OVERHEAD = 320
# The switch looks for a listener once a second.
_READY_TIMEOUT_S = 60.0
_END_PATIENCE_S = 5.0


def megabytes(mbuf_bytes: int) -> int:
    """The packet memory of one, in MB. Without hugepages no mbuf may cross a page."""
    pages = -(-(mbuf_bytes + _MBUF_OVERHEAD) // _PAGE_BYTES)
    return _MEGABYTES + _MBUFS * (pages - 1) * _PAGE_BYTES // 2**20


class TestpmdGuest:
    """One dpdk-testpmd that forwards between its ports on one CPU."""

    __test__ = False

    def __init__(
        self,
        place: GuestPlace,
        ports: GuestPorts,
        ledger: Ledger,
        memory: MemoryPlan,
        lifetime: Lifetime,
        *,
        forwarding: GuestForwarding,
    ) -> None:
        self.name: str = place.name
        self._place = place
        self._ports = ports
        self._forwarding: GuestForwarding = forwarding
        self._ledger = ledger
        self._memory = memory
        self._lifetime: Lifetime = lifetime
        self._child: Child | None = None
        self._facts: dict[str, object] = {}

    @property
    def note(self) -> None:
        """Nothing: it forwards as fast as testpmd does anywhere."""

    def start(self) -> None:
        """Start it; with virtio-user it waits until the switch has connected to both ports."""
        argv = (TESTPMD.find(), *self._eal_arguments(), "--", *self._forwarding_arguments())
        child = self._child = Child.start(
            argv,
            log=self._ledger.directory / f"{self.name}.log",
            environment=self._ledger.environment,
            lifetime=self._lifetime,
            needed=self._ports.needed | {IPC_LOCK},
            namespace=self._ports.namespace,
        )
        child.name = f"{self.name} (dpdk-testpmd)"
        self._ledger.note_process(self.name, child.identity)
        by = f"dpdk-testpmd on {self._ports.by}"
        self._facts = {"by": by, "argv": list(argv), "pid": child.pid}

    def wait_ready(self) -> None:
        """Return once its ports are started."""
        if not wait_until(self._ports_started, _READY_TIMEOUT_S, check=self.check):
            raise MachineError(
                f"{self.name} did not start its ports within {_READY_TIMEOUT_S:g} s",
                where="lab.guest",
                remedy="see its log and the switch's in the lab's directory",
            )

    def check(self) -> None:
        """Raise LabDied if it has ended."""
        if self._child is not None and (status := self._child.exit_status()) is not None:
            raise LabDied(self._child, status)

    def counts(self) -> tuple[GuestCounts, GuestCounts]:
        """Of both ports since they were started."""
        try:
            with Telemetry(self._socket) as telemetry:
                counted = [
                    ethdev_counters(port, telemetry.query(f"/ethdev/stats,{port}"))
                    for port in PORTS
                ]
        except TelemetryError as error:
            # A dying process closes its sockets a moment before it can be waited for.
            if self._child is not None:
                self._child.wait(timeout_s=1)
            self.check()
            raise GuestHangs(self.name, error.message) from error
        first, second = (GuestCounts(each.rx_frames, each.tx_frames) for each in counted)
        return first, second

    def processes(self) -> tuple[DutProcess, ...]:
        """The one testpmd."""
        return (DutProcess(self.name, self._child.pid, self._socket),) if self._child else ()

    def facts(self) -> dict[str, object]:
        """How it was started."""
        return {**self._facts, "cpu": self._place.cpu}

    def stop(self) -> None:
        """End it, and remove what it leaves of its ports."""
        if self._child is None:
            return
        self._child.end(_END_PATIENCE_S)
        self._child = None
        self._ports.remove()

    @property
    def _socket(self) -> Path:
        return self._ledger.directory / "dpdk" / self.name / "dpdk_telemetry.v2"

    def _eal_arguments(self) -> tuple[str, ...]:
        vdevs = (("--vdev", self._ports.devargs(port)) for port in PORTS)
        memory = megabytes(self._ports.mbuf_bytes)
        return (
            *eal_arguments(self.name, (self._place.cpu,), self._memory, memory),
            # The peer maps what virtio-user tells of by file, and takes eight of them.
            *(("--single-file-segments",) if self._memory.huge else ()),
            "--no-pci",
            *(word for vdev in vdevs for word in vdev),
        )

    def _forwarding_arguments(self) -> tuple[str, ...]:
        return (
            f"--forward-mode={self._forwarding}",
            "--nb-cores=1",
            f"--total-num-mbufs={_MBUFS}",
            f"--mbuf-size={self._ports.mbuf_bytes}",
        )

    def _ports_started(self) -> bool:
        try:
            with Telemetry(self._socket) as telemetry:
                self._facts["version"] = telemetry.version
                infos = [telemetry.query(f"/ethdev/info,{port}") for port in PORTS]
        except TelemetryError:
            # Neither the socket nor the ports are there at first.
            return False
        return all(info.get("dev_started") == 1 for info in infos)
