"""The chains of the plugfest: through the switch alone, or by way of one guest or two.

In the order in which frames of direction 0 pass them, the switch's ports are the tester's port
0, both ports of each guest, and the tester's port 1; the switch joins them by twos. With one
guest: port0-guest0a, guest0b-port1.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from plimsoll.dut.guest.guest import Guest, GuestCounts, GuestForwarding, GuestPlace, Guests
from plimsoll.dut.guest.guest_ports import GuestPorts
from plimsoll.dut.guest.testpmd_guest import TESTPMD, TestpmdGuest, megabytes
from plimsoll.dut.guest.vm_guest import QEMU, TASKSET, VmGuest
from plimsoll.dut.guest.vm_image import VmImage
from plimsoll.dut.needs import NeededProgram
from plimsoll.dut.sight import Hop
from plimsoll.dut.two_ports import TwoPortSettings
from plimsoll.host.ledger.hugepages import MemoryPlan
from plimsoll.host.ledger.ledger import Ledger
from plimsoll.host.processes.child import Lifetime
from plimsoll.text.mistakes import mistake
from plimsoll.text.named_program import ProgramPath

# Physical to physical; physical to virtual and back; by two guests.
Chain = Literal["p2p", "pvp", "pvvp"]

_GUESTS = {"p2p": 0, "pvp": 1, "pvvp": 2}


def guests_of(chain: Chain) -> int:
    """How many guests are on the way."""
    return _GUESTS[chain]


def guest_ports(guest: int) -> tuple[str, str]:
    """What the switch's two ports to a guest are called."""
    return f"guest{guest}a", f"guest{guest}b"


def switch_ports(chain: Chain) -> tuple[str, ...]:
    """All ports of the switch, in the order of the chain; the tester's are its ends."""
    guests = (name for guest in range(guests_of(chain)) for name in guest_ports(guest))
    return ("port0", *guests, "port1")


def joined(ports: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The ports of the switch that it joins to each other."""
    return zip(ports[::2], ports[1::2], strict=True)


def chain_hops(
    ports: Sequence[str],
    into: Mapping[str, int],
    out_of: Mapping[str, int],
    guests: Sequence[tuple[GuestCounts, GuestCounts]],
) -> tuple[Hop, ...]:
    """Every point that frames pass, in both directions.

    `ports` are the switch's in the order of the chain, `into` and `out_of` the frames that it
    received and sent by each, `guests` what each guest counts at its two ports.
    """
    pairs = list(joined(ports))
    there = [
        hop
        for number, (one, other) in enumerate(pairs)
        for hop in (
            *_through_switch(0, one, other, into, out_of),
            *(_through_guest(0, number, *guests[number]) if number < len(guests) else ()),
        )
    ]
    back = [
        hop
        for number, (one, other) in reversed(list(enumerate(pairs)))
        for hop in (
            *_through_switch(1, other, one, into, out_of),
            *(_through_guest(1, number - 1, *reversed(guests[number - 1])) if number else ()),
        )
    ]
    return (*there, *back)


def _through_switch(
    direction: int, one: str, other: str, into: Mapping[str, int], out_of: Mapping[str, int]
) -> tuple[Hop, Hop]:
    return (
        Hop(direction, f"{one} of the switch, in", into[one]),
        Hop(direction, f"{other} of the switch, out", out_of[other]),
    )


def _through_guest(
    direction: int, guest: int, first: GuestCounts, second: GuestCounts
) -> tuple[Hop, Hop]:
    return (
        Hop(direction, f"guest{guest}, in", first.rx_frames),
        Hop(direction, f"guest{guest}, out", second.tx_frames),
    )


def sharing_note(loops: Sequence[int], tester_cpus: int = 1) -> str | None:
    """What it means that loops which forward share CPUs: `loops` has that of each of the DUT's.

    None where each has one of its own.
    """
    shared = sorted({cpu for cpu in loops if loops.count(cpu) > 1})
    if not shared:
        return None
    return (
        f"{len(loops)} forwarding loops of the DUT on {len(set(loops))} CPU"
        f"{'s' if len(set(loops)) > 1 else ''}: they take turns, so its rates and latencies are "
        f"those of this machine's want of CPUs and not of the switch; "
        f"{len(loops) + tester_cpus} CPUs would do"
    )


Cpu = Annotated[int, Field(ge=0)]
# "namespace": like a pod, whose kernel forwards; "testpmd": like a container with dpdk-testpmd.
GuestKind = Literal["namespace", "testpmd", "vm"]


class ChainSettings(TwoPortSettings):
    """With `chain: pvp` frames pass a guest on their way, with `pvvp` two.

    `guest` says of which kind they are, `guest_forwarding` what forwards in them: the bridge of
    their kernel, or testpmd in one of its modes (by default in a testpmd alone). `guest_image` is
    what a virtual machine boots: the folder that `make vm-kernel` makes, to which `make vm-testpmd`
    adds testpmd. `guest_cpus` is where each one runs; by default that is `cpu`, which they share.
    """

    # Programs without which a setting cannot be used, for `plimsoll lab list`.
    programs_of_guests: ClassVar[tuple[tuple[str, NeededProgram], ...]] = (
        ("guest: testpmd", TESTPMD),
        ("guest: vm", QEMU),
    )

    chain: Chain = "p2p"
    guest: GuestKind = "testpmd"
    guest_image: Annotated[Path, ProgramPath()] | None = None
    guest_cpus: tuple[Cpu, ...] = ()
    guest_forwarding: GuestForwarding | None = None

    @model_validator(mode="after")
    def _check_guests(self) -> Self:
        if (self.guest == "vm") != (self.guest_image is not None):
            raise mistake(
                "`guest: vm` and `guest_image` go together",
                "write for example guest: vm and guest_image: build/vm-kernel",
            )
        if self.guest == "namespace" and self.forwarding != "bridge":
            raise mistake(
                f"a namespace bridges frames as they are, not by {self.forwarding}",
                "leave guest_forwarding out, or use guest: testpmd",
            )
        if self.guest == "testpmd" and self.forwarding == "bridge":
            raise mistake(
                "testpmd has no bridge that learns addresses",
                "use guest_forwarding: io, which passes frames as they are",
            )
        if self.guest_cpus and len(self.guest_cpus) != guests_of(self.chain):
            raise mistake(
                f"{len(self.guest_cpus)} guest_cpus for {guests_of(self.chain)} guests",
                "name one for each guest, or none",
            )
        return self

    @property
    def cpus_of_guests(self) -> tuple[int, ...]:
        """That of each guest."""
        return self.guest_cpus or (self.cpu,) * guests_of(self.chain)

    @property
    def forwarding(self) -> GuestForwarding:
        """What forwards in the guests."""
        return self.guest_forwarding or ("io" if self.guest == "testpmd" else "bridge")

    @property
    def cpus_guests_poll(self) -> tuple[int, ...]:
        """That of each guest in which testpmd polls; a kernel sleeps."""
        return () if self.forwarding == "bridge" else self.cpus_of_guests

    @property
    def guest_megabytes(self) -> int:
        """The packet memory of all guests, in MB; a virtual machine's is its own."""
        if self.guest != "testpmd":
            return 0
        return guests_of(self.chain) * megabytes(self.guest_mbuf_bytes)

    @property
    @abstractmethod
    def guest_mbuf_bytes(self) -> int:
        """Of an mbuf in a testpmd, for the longest frame."""

    def check_guests_can_start(self) -> None:
        """Raise MachineError or InputError for what this machine lacks for them."""
        if self.chain == "p2p":
            return
        if self.guest == "testpmd":
            TESTPMD.find()
        if self.guest_image is not None:
            QEMU.find()
            TASKSET.find()
            self._image(self.guest_image).check()

    @abstractmethod
    def guest_ports(self, ledger: Ledger, place: GuestPlace) -> GuestPorts:
        """What the ports of a guest hang on."""

    def make_guests(self, ledger: Ledger, memory: MemoryPlan, lifetime: Lifetime) -> Guests:
        """The guests in the order of the chain, not started."""
        places = (GuestPlace(number, cpu) for number, cpu in enumerate(self.cpus_of_guests))
        return Guests([self._guest(place, ledger, memory, lifetime) for place in places])

    def _guest(
        self, place: GuestPlace, ledger: Ledger, memory: MemoryPlan, lifetime: Lifetime
    ) -> Guest:
        ports = self.guest_ports(ledger, place)
        if self.guest_image is not None:
            image = self._image(self.guest_image)
            return VmGuest(place, ports, image, ledger, lifetime, forwarding=self.forwarding)
        return TestpmdGuest(place, ports, ledger, memory, lifetime, forwarding=self.forwarding)

    def _image(self, folder: Path) -> VmImage:
        return VmImage(folder, with_testpmd=self.forwarding != "bridge")
