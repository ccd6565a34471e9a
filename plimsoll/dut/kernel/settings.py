"""What all labs have in common whose DUT is the kernel, in a network namespace of its own."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Annotated, ClassVar, Self

from pydantic import Field, model_validator

from plimsoll.dut.cards import PLACE, KernelCards, LentCards
from plimsoll.dut.kernel.wiring import DUT_PORTS, Cables, CardWiring, Wiring
from plimsoll.dut.lab import DutProcess, LineRate
from plimsoll.dut.needs import IP, NAMESPACE_CAPABILITIES, TEE, LabNeeds, check_option
from plimsoll.dut.ports.netdev import NetdevDriver
from plimsoll.dut.ports.tester_ports import TesterPortSettings
from plimsoll.dut.sight import DutObservation, Hop, SightEnd, grown
from plimsoll.dut.two_ports import TwoPortSettings
from plimsoll.errors import MachineError
from plimsoll.host.kernel_options import KernelOption
from plimsoll.host.ledger.ledger import Ledger
from plimsoll.host.namespaces.network_namespace import LinkCounters, NetworkNamespace, run_within
from plimsoll.host.ports.ethtool import turn_off_vlan_insertion
from plimsoll.search.text.wire import FCS_BYTES
from plimsoll.text.mistakes import mistake

# The least MTU that IPv6 and any usual frame pass.
_USUAL_MTU = 1500
# An Ethernet header, and two VLAN tags, which an MTU does not count.
_ETHERNET_BYTES = 14
_PROGRAMS = (IP, TEE)


class Forwarder(ABC):
    """A DUT in a namespace: how it is built there, and what it says of itself.

    By itself it is the kernel, which has no process to end or to watch.
    """

    @abstractmethod
    def build(self, namespace: NetworkNamespace, mtu: int) -> tuple[TesterPortSettings, ...]:
        """Set it up; the tester's ports. Raises MachineError and LabDied."""

    def wait_links(self, namespace: NetworkNamespace, timeout_s: float) -> None:
        """Return once it forwards, the tester's ports being open. Raises MachineError, LabDied."""
        return

    def rx_interfaces(self) -> tuple[str, ...]:
        """Its interfaces in the namespace that take frames in, whose CPU is chosen: both ports."""
        return DUT_PORTS

    @abstractmethod
    def counters(self, namespace: NetworkNamespace) -> tuple[LinkCounters, ...]:
        """Of each of its ports; `rx_dropped` are frames that it had no room for."""

    def hops(self, namespace: NetworkNamespace) -> tuple[Hop, ...]:
        """The points that frames pass inside of it; none where its ports are all of them."""
        return ()

    def start_observation(self, namespace: NetworkNamespace) -> SightEnd:
        """Begin to count what it sees of a trial: here the hops."""
        before = self.hops(namespace)
        return lambda: DutObservation(grown(before, self.hops(namespace)))

    def notes(self) -> tuple[str, ...]:
        """What a record of its trials must say about it."""
        return ()

    @abstractmethod
    def facts(self, namespace: NetworkNamespace) -> dict[str, object]:
        """How it forwards, read back from it, as JSON."""

    def version(self) -> str | None:
        """What it is and of which version; None for the kernel."""
        return None

    def check(self) -> None:
        """Raise LabDied if one of its processes has ended."""
        return

    def processes(self) -> tuple[DutProcess, ...]:
        """Those that forward."""
        return ()

    def stop(self) -> None:
        """End its processes, if there are any. May be repeated."""
        return


class WiredForwarder(Forwarder):
    """One between two ports of its own."""

    def __init__(self, wiring: Wiring) -> None:
        self.wiring = wiring

    def wait_links(self, namespace: NetworkNamespace, timeout_s: float) -> None:
        """Return once its ports have links."""
        self.wiring.wait_links(namespace, timeout_s)

    def counters(self, namespace: NetworkNamespace) -> tuple[LinkCounters, ...]:
        """The kernel's, of its two ports."""
        return self.wiring.counters(namespace)


class KernelSettings(TwoPortSettings):
    """A DUT in the kernel, by itself between two veth cables.

    What chooses its CPU is the kernel's receive packet steering. The tester opens its ends by
    AF_XDP or AF_PACKET, as `driver` says (docs/ports.md); `frame_size`, with FCS, is the longest
    that must pass, a run raises it to its profile's.
    """

    can_stand: ClassVar[bool] = True
    polling_program: ClassVar[str] = "the kernel's forwarding"
    cannot_reset: ClassVar[str | None] = (
        "its network namespace is named anew for each run, so that no command can be set for it"
    )
    # What the kernel must have, by the names of its options.
    kernel_features: ClassVar[tuple[str, ...]] = ("veth",)

    driver: NetdevDriver = "auto"
    frame_size: int = Field(default=1518, ge=64, le=9216)

    @classmethod
    def needs(cls) -> LabNeeds:
        """Root, iproute2 and a CPU."""
        return LabNeeds(NAMESPACE_CAPABILITIES, cls.kernel_features, _PROGRAMS, cpus=1)

    @property
    def lent_cards(self) -> LentCards | None:
        """The network cards that it is on; None where all its ports are in memory."""
        return None

    @property
    def tester_place(self) -> str:
        """Where the tester's ports are written, for messages."""
        return f"{PLACE}.tester" if self.lent_cards else "lab"

    @property
    def mtu(self) -> int:
        """That of every interface of the lab."""
        return max(_USUAL_MTU, self.frame_size - FCS_BYTES - _ETHERNET_BYTES)

    def check_machine(self) -> LineRate:
        """Whether this user may make namespaces, iproute2 is there, and the cards will do."""
        self.needs().check()
        if self.lent_cards is None:
            return LineRate(self.line_rate_bps)
        return self.lent_cards.check_machine(self.line_rate_bps)

    def for_frames(self, frame_size: int) -> KernelSettings:
        """The same lab for frames up to `frame_size`."""
        return self.model_copy(update={"frame_size": max(self.frame_size, frame_size)})


class WiredSettings(KernelSettings):
    """A DUT with two ports, which with `cards` are network cards instead of the cables' ends.

    What then chooses its CPU are the cards' interrupts, and receive packet steering.
    """

    cards: KernelCards | None = None

    @model_validator(mode="after")
    def _check_driver(self) -> Self:
        if self.cards is not None and self.driver != "auto":
            raise mistake(
                "`driver` is that of the cables, of which there are none with `cards`",
                "give it with the port in cards.tester",
            )
        return self

    @property
    def lent_cards(self) -> KernelCards | None:
        """One for each port."""
        return self.cards

    def wiring(self, ledger: Ledger) -> Wiring:
        """The cables, or the cards."""
        return CardWiring(self.cards, self.cpu, ledger) if self.cards else Cables(self.driver)


VLAN_OPTION = KernelOption("VLAN_8021Q", "8021q", "VLAN interfaces")
VlanId = Annotated[int, Field(ge=1, le=4094)]


class VlanSettings(WiredSettings):
    """A DUT whose ports may be VLAN interfaces of the number `vlan`."""

    vlan: VlanId | None = None

    @classmethod
    def needs(cls) -> LabNeeds:
        """The same as any cable, and VLAN interfaces for `vlan`."""
        return replace(super().needs(), for_settings=(("vlan", VLAN_OPTION),))

    def check_machine(self) -> LineRate:
        """The same as any cable, and whether the kernel has VLAN interfaces if it is to have."""
        if self.vlan is not None:
            check_option(VLAN_OPTION, "lab.vlan")
        return super().check_machine()


def forwarding_ports(vlan: int | None) -> tuple[str, ...]:
    """The interfaces between which the DUT forwards: the cables' ends, or VLANs upon them."""
    return DUT_PORTS if vlan is None else tuple(f"{port}.{vlan}" for port in DUT_PORTS)


def add_vlan(namespace: NetworkNamespace, vlan: int, *, in_memory: bool) -> None:
    """Make the VLAN interfaces, with the addresses that the cables' ends have by now, and up.

    `in_memory` they are veths' ends. A veth would hand its peer the tag apart from the frame, and
    AF_XDP there would lose it: so tags are written into the frames. Raises MachineError.
    """
    if in_memory:
        run_within(namespace.path, _write_tags)
    named = tuple(zip(DUT_PORTS, forwarding_ports(vlan), strict=True))
    namespace.batch(
        *(f"link add link {port} name {name} type vlan id {vlan}" for port, name in named),
        *(f"link set {name} up" for _, name in named),
    )


def _write_tags() -> None:
    refused = [port for port in DUT_PORTS if not turn_off_vlan_insertion(port)]
    if refused:
        raise MachineError(
            f"{', '.join(refused)} will not write VLAN tags into frames",
            where="lab.vlan",
            remedy="use a newer kernel, or leave vlan out",
        )
