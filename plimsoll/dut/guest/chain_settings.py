"""What is set of a switch that frames may pass by way of guests."""

from __future__ import annotations

from abc import abstractmethod
from pathlib import Path
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from plimsoll.dut.guest.chain import Chain, guests_of
from plimsoll.dut.guest.guest import Guest, GuestForwarding, GuestPlace
from plimsoll.dut.guest.guest_ports import GuestPorts
from plimsoll.dut.guest.guests import Guests
from plimsoll.dut.guest.testpmd_guest import TESTPMD, TestpmdGuest, megabytes
from plimsoll.dut.guest.vm_guest import QEMU, TASKSET, VmGuest
from plimsoll.dut.guest.vm_image import VmImage
from plimsoll.dut.needs import NeededProgram
from plimsoll.dut.two_ports import TwoPortSettings
from plimsoll.host.ledger.hugepages import MemoryPlan
from plimsoll.host.ledger.ledger import Ledger
from plimsoll.host.processes.child import Lifetime
from plimsoll.text.mistakes import mistake
from plimsoll.text.named_program import ProgramPath

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
