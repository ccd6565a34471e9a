"""The lab `external`: a DUT that somebody else runs, reached through ports that exist."""

from __future__ import annotations

from typing import ClassVar, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from plimsoll.dut.lab import Lab, LabModel, LabPorts, Paths, unsound
from plimsoll.dut.passive import PassiveLab
from plimsoll.host.child import Lifetime
from plimsoll.host.hugepages import MemoryPlan
from plimsoll.host.ledger import Ledger
from plimsoll.traffic.units import Rate, RateField


class ExternalPort(BaseModel):
    """One port of the tester: a PCI address or a vdev with its arguments."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    devargs: str = Field(min_length=1, max_length=1024)


class ExternalSettings(LabModel):
    """Ports that lead to a DUT which Plimsoll neither starts nor stops.

    Without `paths` each two neighbouring ports send to each other. `line_rate` is that
    of one port, such as "25Gbps". `queue_frames` is what a port's queue holds where that
    is not its descriptors (memif). `drained_by` is "dut" where the DUT itself empties the
    queue that the tester fills (memif, vhost), "wire" where a NIC does.
    """

    summary: ClassVar[str] = "an existing DUT behind NICs or vdevs, which Plimsoll does not manage"

    kind: Literal["external"] = "external"
    ports: tuple[ExternalPort, ...] = Field(min_length=1, max_length=16)
    paths: Paths | None = Field(default=None, min_length=1)
    descriptors: int = Field(default=1024, ge=32, le=32768)
    queue_frames: int | None = Field(default=None, ge=32, le=65536)
    line_rate: RateField | None = None
    drained_by: Literal["dut", "wire"] = "wire"

    @field_validator("line_rate")
    @classmethod
    def _check_line_rate(cls, line_rate: Rate | None) -> Rate | None:
        if line_rate is not None and line_rate.unit != "l1_bps":
            raise unsound(
                f"{line_rate} is not a line rate", "write it in bits a second, for example 25Gbps"
            )
        return line_rate

    @model_validator(mode="after")
    def _check_paths(self) -> Self:
        count = len(self.ports)
        if self.paths is None and count % 2:
            raise unsound(
                f"{count} ports do not make pairs",
                "give `paths` as (tx_port, rx_port), or an even number of ports",
            )
        for port in {port for path in self.paths or () for port in path}:
            if not 0 <= port < count:
                raise unsound(
                    f"`paths` names port {port}, which is not in `ports`",
                    f"use the ports 0 to {count - 1}",
                )
        return self

    def make(self, ledger: Ledger, memory: MemoryPlan, lifetime: Lifetime) -> Lab:
        """A lab that needs neither ledger nor memory."""
        ports = LabPorts(
            devargs=tuple(port.devargs for port in self.ports),
            descriptors=self.descriptors,
            queue_frames=self.queue_frames or self.descriptors,
            paths=self.paths or _neighbours(len(self.ports)),
            drained_by=self.drained_by,
            line_rate_bps=self.line_rate.value if self.line_rate else None,
        )
        return PassiveLab(self.kind, ports)


def _neighbours(ports: int) -> Paths:
    return tuple((port, port ^ 1) for port in range(ports))
