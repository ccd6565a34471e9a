"""The tester's ports, as written in an experiment: devices of DPDK's, or the kernel's."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    model_validator,
)

from plimsoll.dut.ports.memif_port import SOCKET_ARGUMENTS, check_socket_of
from plimsoll.dut.ports.netdev import (
    NetdevDriver,
    NetdevPort,
    netdev_facts,
    open_netdev,
    usable_netdev,
    wire_speed,
)
from plimsoll.errors import MachineError
from plimsoll.host.ports.machine_ports import is_open_to_dpdk
from plimsoll.host.ports.netdevs import SYS, pci_address
from plimsoll.host.ports.pci_functions import pci_function
from plimsoll.text.mistakes import mistake
from plimsoll.text.named_program import AllowedPrograms, NamesProgram, not_on_the_list
from plimsoll.text.units import Rate, RateField

# Drivers whose arguments are names, numbers and a socket. Not net_failsafe, which runs what stands
# in exec(…) by a shell; net_pcap, which writes any file; net_softnic, which reads a script; and
# net_af_xdp, which loads a program into the kernel: `netdev` opens an interface without one.
_PLAIN_DRIVERS = frozenset({*SOCKET_ARGUMENTS, "net_af_packet", "net_null", "net_ring", "net_tap"})


# Devargs by which DPDK opens a port and does nothing else.
@dataclass(frozen=True)
class Devargs(NamesProgram):
    """Devargs, some of which have programs run, or files read and written: on no list."""

    def permitted(self, value: str, allowed: AllowedPrograms) -> str:
        """As it is, where it is plain."""
        if not is_plain(value):
            raise not_on_the_list(
                value, "take a PCI address, a plain vdev or a netdev, or run it from a terminal"
            )
        return value


def is_plain(devargs: str) -> bool:
    """Whether they are of a card or a plain driver, and name no file but that driver's socket."""
    name, *given = devargs.split(",")
    driver = name.rstrip("0123456789")
    if pci_address(name) is None and driver not in _PLAIN_DRIVERS:
        return False
    return not any(_is_peculiar(each, SOCKET_ARGUMENTS.get(driver)) for each in given)


def _is_peculiar(argument: str, socket_argument: str | None) -> bool:
    key, _, value = argument.partition("=")
    return (
        not argument.isprintable() or "(" in argument or ("/" in value and key != socket_argument)
    )


# What the kernel takes for a name (dev_valid_name), less what DPDK's devargs cannot hold.
NetdevName = Annotated[str, StringConstraints(pattern=r"^[^\s/:,=\[\]\"']{1,15}$")]


class TesterPortSettings(BaseModel):
    """One port of the tester: a device of DPDK's, or an interface of the kernel's.

    `devargs` is a PCI address, or a vdev with its arguments. `netdev` names an interface,
    opened by AF_XDP if it can be and else by AF_PACKET, unless `driver` says which;
    `queues` is how many queue pairs it gets, at least as many as the generator polls.
    """

    # Keeps pytest from taking the class for tests.
    __test__ = False

    model_config = ConfigDict(extra="forbid", frozen=True)

    devargs: Annotated[str, Devargs()] | None = Field(default=None, min_length=1, max_length=1024)
    netdev: NetdevName | None = None
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
        return "devargs", pci_address(name) or name

    @property
    def on_pci(self) -> bool:
        """Whether DPDK opens it as a card."""
        return self.devargs is not None and pci_address(self.devargs.partition(",")[0]) is not None


def check_each_once(ports: Sequence[TesterPortSettings], place: str) -> None:
    """Raise a mistake at the second port on one device; `place` is that of the ports."""
    first_of: dict[tuple[str, str], int] = {}
    for number, port in enumerate(ports):
        first = first_of.setdefault(port.device, number)
        if first != number:
            field, name = port.device
            problem = f"{name} is {place}[{first}].{field} already"
            raise mistake(problem, "give each port once", number, field)


def check_tester_ports(
    ports: Sequence[TesterPortSettings], place: str, *, carrier: bool = True
) -> float | None:
    """Whether the interfaces and cards will do, and the sockets of vdevs can be.

    Without `carrier` interfaces may be without one as yet. Returns the slowest link's speed in
    bits a second, L1; None unless the kernel knows it of all. Raises InputError and MachineError
    naming the field, below `place`.
    """
    for number, port in enumerate(ports):
        field, device = port.device
        if port.on_pci:
            check_card(device, f"{place}[{number}].{field}")
        elif port.devargs is not None:
            check_socket_of(port.devargs, f"{place}[{number}].{field}")
    if all(port.netdev is None for port in ports):
        return None
    facts = netdev_facts()
    return _slowest(
        wire_speed(usable_netdev(port.netdev, f"{place}[{number}].netdev", facts, carrier=carrier))
        if port.netdev is not None
        else None
        for number, port in enumerate(ports)
    )


@dataclass(frozen=True, slots=True)
class OpenedPorts:
    """The tester's ports as DPDK's devargs, and what is known of those on interfaces.

    `queue_frames` is the least that one of their queues holds, None where it is its descriptors;
    `speed_bps` the slowest link's, L1, None unless it is known of all; `netdevs` the interfaces
    by port.
    """

    devargs: tuple[str, ...]
    queue_frames: int | None
    speed_bps: float | None
    notes: tuple[str, ...]
    netdevs: dict[int, str]


def open_tester_ports(
    ports: Sequence[TesterPortSettings], place: str, frame_size: int
) -> OpenedPorts:
    """Choose how each is opened, for frames of up to `frame_size` bytes with FCS.

    Raises InputError for an interface that must be left alone, MachineError for what one lacks.
    """
    on_netdevs = _open_netdevs(ports, place, frame_size)
    queues = [each.queue_frames for each in on_netdevs.values() if each.queue_frames]
    return OpenedPorts(
        devargs=tuple(
            port.devargs or on_netdevs[number].devargs for number, port in enumerate(ports)
        ),
        queue_frames=min(queues, default=None),
        speed_bps=_slowest(
            on_netdevs[number].speed_mbps if number in on_netdevs else None
            for number, _ in enumerate(ports)
        ),
        notes=tuple(each.note for each in on_netdevs.values()),
        netdevs={number: port.netdev for number, port in enumerate(ports) if port.netdev},
    )


def _open_netdevs(
    ports: Sequence[TesterPortSettings], place: str, frame_size: int
) -> dict[int, NetdevPort]:
    if all(port.netdev is None for port in ports):
        return {}
    facts = netdev_facts()
    return {
        number: open_netdev(
            port.netdev,
            number,
            place=place,
            driver=port.driver,
            queues=port.queues,
            frame_size=frame_size,
            facts=facts,
        )
        for number, port in enumerate(ports)
        if port.netdev is not None
    }


def _slowest(speeds_mbps: Iterable[int | None]) -> float | None:
    """As the kernel knows it: DPDK says 10 Gbps of every interface."""
    every = list(speeds_mbps)
    known = [mbps for mbps in every if mbps is not None]
    return min(known) * 1e6 if known and len(known) == len(every) else None


# A network card as a port of the tester: whether DPDK can open it, known before it tries.
def check_card(address: str, where: str, sys: Path = SYS) -> None:
    """Raise MachineError, placed at `where`, for a PCI address that DPDK could not open.

    That is one without a device, or whose device the kernel keeps to itself. What DPDK says
    of either is of its own workings, not of the cause.
    """
    function = pci_function(address, sys)
    if function is None:
        raise MachineError(
            f"this machine has no PCI device {address}",
            where=where,
            remedy="plimsoll ports lists the cards that it has",
        )
    if not is_open_to_dpdk(function.driver):
        owner = f"the kernel's driver {function.driver}" if function.driver else "no driver"
        raise MachineError(
            f"the PCI device {address} has {owner}, so that DPDK cannot open it",
            where=where,
            remedy=f"plimsoll ports bind {address}",
        )


def _in_bits(rate: Rate) -> Rate:
    if rate.unit != "l1_bps":
        raise mistake(f"{rate} is not a line rate", "write it in bits a second, for example 25Gbps")
    return rate


# L1, in bits a second.
LineRateField = Annotated[RateField, AfterValidator(_in_bits)]
