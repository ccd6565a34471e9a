"""The lab `external`: a DUT that is run elsewhere, reached through existing ports."""

from __future__ import annotations

from typing import ClassVar, Literal, Self

from pydantic import Field, field_validator, model_validator

from plimsoll.dut.lab import Lab, LabModel, LabPorts, LineRate
from plimsoll.dut.ports.tester_ports import (
    LineRateField,
    TesterPortSettings,
    check_each_once,
    check_tester_ports,
    open_tester_ports,
)
from plimsoll.dut.wired import NetdevLab, PassiveLab
from plimsoll.host.ledger.hugepages import MemoryPlan
from plimsoll.host.ledger.ledger import Ledger
from plimsoll.host.processes.child import Lifetime
from plimsoll.text.mistakes import mistake
from plimsoll.traffic.streams.compile import Paths

_PLACE = "lab.ports"


class ExternalSettings(LabModel):
    """Ports that lead to a DUT which Plimsoll neither starts nor stops.

    Without `paths` each two neighbouring ports send to each other. `line_rate` is that
    of one port, such as "25Gbps". `queue_frames` is what a port's queue holds where that
    is not its descriptors (memif). `drained_by` is "dut" where the DUT itself empties the
    queue that the tester fills (memif, vhost), "wire" where a NIC does. `frame_size`,
    with FCS, is the longest that a netdev must carry; a run raises it to its profile's.
    """

    summary: ClassVar[str] = "an existing DUT behind NICs or vdevs, which Plimsoll does not manage"
    runs_elsewhere: ClassVar[bool] = True

    kind: Literal["external"] = "external"
    ports: tuple[TesterPortSettings, ...] = Field(min_length=1, max_length=16)
    paths: Paths | None = Field(default=None, min_length=1)
    descriptors: int = Field(default=1024, ge=32, le=32768)
    queue_frames: int | None = Field(default=None, ge=32, le=65536)
    line_rate: LineRateField | None = None
    drained_by: Literal["dut", "wire"] = "wire"
    frame_size: int = Field(default=1518, ge=64, le=9216)

    @field_validator("ports")
    @classmethod
    def _check_each_once(
        cls, ports: tuple[TesterPortSettings, ...]
    ) -> tuple[TesterPortSettings, ...]:
        check_each_once(ports, _PLACE)
        return ports

    @model_validator(mode="after")
    def _check_paths(self) -> Self:
        count = len(self.ports)
        if self.paths is None and count % 2:
            raise mistake(
                f"{count} ports do not make pairs",
                "give `paths` as (tx_port, rx_port), or an even number of ports",
            )
        for port in {port for path in self.paths or () for port in path}:
            if not 0 <= port < count:
                raise mistake(
                    f"`paths` names port {port}, which is not in `ports`",
                    f"use the ports 0 to {count - 1}",
                )
        return self

    def for_frames(self, frame_size: int) -> ExternalSettings:
        """The same lab with ports for frames up to `frame_size`."""
        return self.model_copy(update={"frame_size": max(self.frame_size, frame_size)})

    @property
    def port_count(self) -> int:
        """As many as are listed."""
        return len(self.ports)

    @property
    def directions(self) -> Paths:
        """The paths given, or those between neighbours."""
        return self.paths or _neighbours(len(self.ports))

    def check_machine(self) -> LineRate:
        """Whether the interfaces and cards will do and the sockets of vdevs can be."""
        speed_bps = check_tester_ports(self.ports, _PLACE)
        if self.line_rate is not None:
            return LineRate(self.line_rate.value)
        cards = self.drained_by == "wire" and all(port.on_pci for port in self.ports)
        return LineRate(speed_bps, settled=not cards)

    def make(self, ledger: Ledger, memory: MemoryPlan, lifetime: Lifetime) -> Lab:
        """A lab that needs neither ledger nor memory."""
        opened = open_tester_ports(self.ports, _PLACE, self.frame_size)
        ports = LabPorts(
            devargs=opened.devargs,
            descriptors=self.descriptors,
            queue_frames=self.queue_frames
            or min(self.descriptors, opened.queue_frames or self.descriptors),
            paths=self.directions,
            drained_by=self.drained_by,
            line_rate_bps=self.line_rate.value if self.line_rate else opened.speed_bps,
            notes=opened.notes,
        )
        if not opened.netdevs:
            return PassiveLab(self.kind, ports)
        return NetdevLab(self.kind, ports, opened.netdevs, _PLACE)


def _neighbours(ports: int) -> Paths:
    return tuple((port, port ^ 1) for port in range(ports))


LAB = ExternalSettings
