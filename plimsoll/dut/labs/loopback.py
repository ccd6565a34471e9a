"""The lab `loopback`: ports whose frames come straight back, to show the tester's own floor."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from plimsoll.dut.lab import Lab, LabModel, LabPorts
from plimsoll.dut.wired import PassiveLab
from plimsoll.host.ledger.hugepages import MemoryPlan
from plimsoll.host.ledger.ledger import Ledger
from plimsoll.host.processes.child import Lifetime
from plimsoll.traffic.streams.compile import Paths

# net_ring makes its rings this long and takes no other size.
_RING_SIZE = 1024


class LoopbackSettings(LabModel):
    """`ports` net_ring ports inside the tester, each its own return path."""

    summary: ClassVar[str] = "net_ring ports inside the tester, no DUT: the tester's own floor"
    cannot_reset: ClassVar[str | None] = "there is no DUT on a loopback"

    kind: Literal["loopback"] = "loopback"
    ports: int = Field(default=2, ge=1, le=16)

    @property
    def port_count(self) -> int:
        """As set."""
        return self.ports

    @property
    def directions(self) -> Paths:
        """From each port to itself."""
        return tuple((port, port) for port in range(self.ports))

    def make(self, ledger: Ledger, memory: MemoryPlan, lifetime: Lifetime) -> Lab:
        """A lab that needs neither ledger nor memory."""
        ports = LabPorts(
            devargs=tuple(f"net_ring{port}" for port in range(self.ports)),
            descriptors=_RING_SIZE,
            queue_frames=_RING_SIZE,
            paths=self.directions,
            drained_by="tester",
            line_rate_bps=None,
        )
        return PassiveLab(self.kind, ports)


LAB = LoopbackSettings
