"""The lab `external`: a DUT that is run elsewhere, reached through existing ports."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import ClassVar, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from plimsoll.dut.lab import Lab, LabModel, LabPorts, LineRate
from plimsoll.dut.netdev_lab import NetdevLab
from plimsoll.dut.passive import PassiveLab
from plimsoll.dut.ports.card import check_card
from plimsoll.dut.ports.line_rate import LineRateField
from plimsoll.dut.ports.memif_port import check_socket_of
from plimsoll.dut.ports.netdev import (
    NetdevDriver,
    NetdevPort,
    netdev_facts,
    open_netdev,
    usable_netdev,
    wire_speed,
)
from plimsoll.host.ledger.hugepages import MemoryPlan
from plimsoll.host.ledger.ledger import Ledger
from plimsoll.host.processes.child import Lifetime
from plimsoll.text.mistakes import mistake
from plimsoll.traffic.streams.compile import Paths

# What DPDK takes for one; its domain may be left out.
_PCI_ADDRESS = re.compile(r"(?:([0-9a-f]{1,8}):)?([0-9a-f]{2}:[0-9a-f]{2}\.[0-7])", re.IGNORECASE)


class ExternalPort(BaseModel):
    """One port of the tester: a device of DPDK's, or an interface of the kernel's.

    `devargs` is a PCI address, or a vdev with its arguments. `netdev` names an interface,
    opened by AF_XDP if it can be and else by AF_PACKET, unless `driver` says which;
    `queues` is how many queue pairs it gets, at least as many as the generator polls.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    devargs: str | None = Field(default=None, min_length=1, max_length=1024)
    # What the kernel takes for a name (dev_valid_name), less what DPDK's devargs cannot hold.
    netdev: str | None = Field(default=None, pattern=r"^[^\s/:,=\[\]\"']{1,15}$")
    driver: NetdevDriver = "auto"
    queues: int = Field(default=1, ge=1, le=16)

    @model_validator(mode="after")
    def _check_one_way(self) -> Self:
        if (self.devargs is None) == (self.netdev is None):
            raise mistake("a port is either `devargs` or `netdev`", "give one of the two")
        if self.netdev is None and (self.driver, self.queues) != ("auto", 1):
            raise mistake(
                "`driver` and `queues` are for a `netdev`", "put them into `devargs` as its own"
            )
        return self

    @property
    def device(self) -> tuple[str, str]:
        """The field that says which device it is, and the device without its arguments."""
        if self.devargs is None:
            return "netdev", str(self.netdev)
        name = self.devargs.partition(",")[0]
        if (address := _PCI_ADDRESS.fullmatch(name)) is None:
            return "devargs", name
        return "devargs", f"{int(address[1] or '0', 16):04x}:{address[2]}".lower()

    @property
    def on_pci(self) -> bool:
        """Whether DPDK opens it as a card."""
        return bool(_PCI_ADDRESS.fullmatch(self.device[1]))


class ExternalSettings(LabModel):
    """Ports that lead to a DUT which Plimsoll neither starts nor stops.

    Without `paths` each two neighbouring ports send to each other. `line_rate` is that
    of one port, such as "25Gbps". `queue_frames` is what a port's queue holds where that
    is not its descriptors (memif). `drained_by` is "dut" where the DUT itself empties the
    queue that the tester fills (memif, vhost), "wire" where a NIC does. `frame_size`,
    with FCS, is the longest that a netdev must carry; a run raises it to its profile's.
    """

    summary: ClassVar[str] = "an existing DUT behind NICs or vdevs, which Plimsoll does not manage"

    kind: Literal["external"] = "external"
    ports: tuple[ExternalPort, ...] = Field(min_length=1, max_length=16)
    paths: Paths | None = Field(default=None, min_length=1)
    descriptors: int = Field(default=1024, ge=32, le=32768)
    queue_frames: int | None = Field(default=None, ge=32, le=65536)
    line_rate: LineRateField | None = None
    drained_by: Literal["dut", "wire"] = "wire"
    frame_size: int = Field(default=1518, ge=64, le=9216)

    @field_validator("ports")
    @classmethod
    def _check_each_once(cls, ports: tuple[ExternalPort, ...]) -> tuple[ExternalPort, ...]:
        first_of: dict[tuple[str, str], int] = {}
        for number, port in enumerate(ports):
            first = first_of.setdefault(port.device, number)
            if first != number:
                field, name = port.device
                problem = f"{name} is lab.ports[{first}].{field} already"
                raise mistake(problem, "give each port once", number, field)
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
        for number, port in enumerate(self.ports):
            field, device = port.device
            if port.on_pci:
                check_card(device, f"lab.ports[{number}].{field}")
            elif port.devargs is not None:
                check_socket_of(port.devargs, f"lab.ports[{number}].{field}")
        speeds = self._netdev_speeds()
        if self.line_rate is not None:
            return LineRate(self.line_rate.value)
        cards = self.drained_by == "wire" and all(port.on_pci for port in self.ports)
        return LineRate(self._slowest(speeds), settled=not cards)

    def _netdev_speeds(self) -> list[int | None]:
        """Of the interfaces, in Mbps; raises for one that will not do."""
        if all(port.netdev is None for port in self.ports):
            return []
        facts = netdev_facts()
        return [
            wire_speed(usable_netdev(port.netdev, number, facts))
            for number, port in enumerate(self.ports)
            if port.netdev is not None
        ]

    def make(self, ledger: Ledger, memory: MemoryPlan, lifetime: Lifetime) -> Lab:
        """A lab that needs neither ledger nor memory."""
        netdevs = self._open_netdevs()
        queues = [netdev.queue_frames for netdev in netdevs.values() if netdev.queue_frames]
        ports = LabPorts(
            devargs=tuple(
                port.devargs or netdevs[number].devargs for number, port in enumerate(self.ports)
            ),
            descriptors=self.descriptors,
            queue_frames=self.queue_frames or min([self.descriptors, *queues]),
            paths=self.directions,
            drained_by=self.drained_by,
            line_rate_bps=self.line_rate.value
            if self.line_rate
            else self._slowest(netdev.speed_mbps for netdev in netdevs.values()),
            notes=tuple(netdev.note for netdev in netdevs.values()),
        )
        names = {number: port.netdev for number, port in enumerate(self.ports) if port.netdev}
        return NetdevLab(self.kind, ports, names) if names else PassiveLab(self.kind, ports)

    def _open_netdevs(self) -> dict[int, NetdevPort]:
        """The kernel's interfaces among the ports, by number."""
        if all(port.netdev is None for port in self.ports):
            return {}
        facts = netdev_facts()
        return {
            number: open_netdev(
                port.netdev,
                number,
                driver=port.driver,
                queues=port.queues,
                frame_size=self.frame_size,
                facts=facts,
            )
            for number, port in enumerate(self.ports)
            if port.netdev is not None
        }

    def _slowest(self, speeds: Iterable[int | None]) -> float | None:
        """The slowest interface's, as the kernel knows it: DPDK says 10 Gbps of every one."""
        known = [mbps for mbps in speeds if mbps is not None]
        return min(known) * 1e6 if known and len(known) == len(self.ports) else None


def _neighbours(ports: int) -> Paths:
    return tuple((port, port ^ 1) for port in range(ports))
