"""A guest like a container: dpdk-testpmd in a process of its own, on two virtio-user ports.

It listens on both sockets, and the switch connects to them as vhost-user's client.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from plimsoll.dut.ethdev_counters import ethdev_counters
from plimsoll.dut.guest.guest import GuestCounts, GuestHangs, GuestPlace
from plimsoll.dut.lab import DutProcess, LabDied
from plimsoll.dut.needs import NeededProgram
from plimsoll.dut.telemetry import Telemetry, TelemetryError
from plimsoll.errors import MachineError
from plimsoll.host.ledger.eal_arguments import eal_arguments
from plimsoll.host.ledger.hugepages import MemoryPlan
from plimsoll.host.ledger.ledger import Ledger
from plimsoll.host.processes.child import Child, Lifetime
from plimsoll.host.processes.comes_true import comes_true
from plimsoll.host.processes.privileges import IPC_LOCK, needed_to_make

TESTPMD = NeededProgram("dpdk-testpmd", "dpdk-dev (Debian 12, Ubuntu) or dpdk (Fedora, RHEL)")
Forwarding = Literal["io", "mac", "macswap"]
# For DPDK itself, the mbufs and virtio's rings.
MEGABYTES = 96
_MBUFS = 8192
# The switch looks for a listener once a second.
_READY_TIMEOUT_S = 60.0
_END_PATIENCE_S = 5.0


class TestpmdGuest:
    """One dpdk-testpmd that forwards between its ports on one CPU."""

    __test__ = False

    def __init__(
        self,
        place: GuestPlace,
        ledger: Ledger,
        memory: MemoryPlan,
        lifetime: Lifetime,
        *,
        forwarding: Forwarding,
        ring_size: int,
    ) -> None:
        self.name: str = place.name
        self._place = place
        self._forwarding: Forwarding = forwarding
        self._ring_size = ring_size
        self._ledger = ledger
        self._memory = memory
        self._lifetime: Lifetime = lifetime
        self._child: Child | None = None
        self._facts: dict[str, object] = {}

    @property
    def note(self) -> None:
        """Nothing: it forwards as fast as testpmd does anywhere."""

    def start(self) -> None:
        """Start it; it waits until the switch has connected to both ports."""
        argv = (TESTPMD.find(), *self._eal_arguments(), "--", *self._forwarding_arguments())
        child = self._child = Child.start(
            argv,
            log=self._ledger.directory / f"{self.name}.log",
            environment=self._ledger.environment,
            lifetime=self._lifetime,
            needed=needed_to_make(self._place.sockets[0]) | {IPC_LOCK},
        )
        child.name = f"{self.name} (dpdk-testpmd)"
        self._ledger.note_process(self.name, child.identity)
        self._facts = {"by": "dpdk-testpmd on virtio-user", "argv": list(argv), "pid": child.pid}

    def wait_ready(self) -> None:
        """Return once its ports are started."""
        if not comes_true(self._ports_started, _READY_TIMEOUT_S, check=self.check):
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
                    for port in (0, 1)
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
        """End it, and remove its sockets."""
        if self._child is None:
            return
        self._child.end(_END_PATIENCE_S)
        self._child = None
        for socket in self._place.sockets:
            socket.unlink(missing_ok=True)

    @property
    def _socket(self) -> Path:
        return self._ledger.directory / "dpdk" / self.name / "dpdk_telemetry.v2"

    def _eal_arguments(self) -> tuple[str, ...]:
        vdevs = (("--vdev", self._vdev(port)) for port in (0, 1))
        return (
            *eal_arguments(self.name, (self._place.cpu,), self._memory, MEGABYTES),
            # The peer maps what virtio-user tells of by file, and takes eight of them.
            *(("--single-file-segments",) if self._memory.huge else ()),
            "--no-pci",
            *(word for vdev in vdevs for word in vdev),
        )

    def _vdev(self, port: int) -> str:
        path = self._place.sockets[port]
        return f"net_virtio_user{port},path={path},server=1,queues=1,queue_size={self._ring_size}"

    def _forwarding_arguments(self) -> tuple[str, ...]:
        return (
            f"--forward-mode={self._forwarding}",
            "--nb-cores=1",
            f"--total-num-mbufs={_MBUFS}",
        )

    def _ports_started(self) -> bool:
        try:
            with Telemetry(self._socket) as telemetry:
                self._facts["version"] = telemetry.version
                infos = [telemetry.query(f"/ethdev/info,{port}") for port in (0, 1)]
        except TelemetryError:
            # Neither the socket nor the ports are there at first.
            return False
        return all(info.get("dev_started") == 1 for info in infos)
