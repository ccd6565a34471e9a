"""What is set of a switch that frames may pass by way of guests."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from plimsoll.dut.guest.chain import Chain, guest_ports, guests_of
from plimsoll.dut.guest.guest import Guest, GuestPlace
from plimsoll.dut.guest.testpmd_guest import MEGABYTES, TESTPMD, Forwarding, TestpmdGuest
from plimsoll.dut.guest.vm_guest import QEMU, TASKSET, VmGuest
from plimsoll.dut.guest.vm_image import VmImage
from plimsoll.dut.lab import unsound
from plimsoll.dut.two_ports import TwoPortSettings
from plimsoll.host.ledger.hugepages import MemoryPlan
from plimsoll.host.ledger.ledger import Ledger
from plimsoll.host.processes.child import Lifetime

Cpu = Annotated[int, Field(ge=0)]


class ChainSettings(TwoPortSettings):
    """With `chain: pvp` frames pass a guest on their way, with `pvvp` two.

    `guest` says of which kind they are, `guest_forwarding` how a testpmd in one forwards,
    `guest_image` what a virtual machine boots (the folder that `make vm-kernel` makes), and
    `guest_cpus` where each one runs; by default that is `cpu`, which they then share.
    """

    chain: Chain = "p2p"
    guest: Literal["testpmd", "vm"] = "testpmd"
    guest_image: Path | None = None
    guest_cpus: tuple[Cpu, ...] = ()
    guest_forwarding: Forwarding = "io"

    @model_validator(mode="after")
    def _check_guests(self) -> Self:
        if (self.guest == "vm") != (self.guest_image is not None):
            raise unsound(
                "`guest: vm` and `guest_image` go together",
                "write for example guest: vm and guest_image: build/vm-kernel",
            )
        if self.guest == "vm" and self.guest_forwarding != "io":
            raise unsound(
                f"a virtual machine bridges frames as they are, not by {self.guest_forwarding}",
                "leave guest_forwarding out, or use guest: testpmd",
            )
        if self.guest_cpus and len(self.guest_cpus) != guests_of(self.chain):
            raise unsound(
                f"{len(self.guest_cpus)} guest_cpus for {guests_of(self.chain)} guests",
                "name one for each guest, or none",
            )
        return self

    @property
    def cpus_of_guests(self) -> tuple[int, ...]:
        """That of each guest."""
        return self.guest_cpus or (self.cpu,) * guests_of(self.chain)

    @property
    def cpus_guests_poll(self) -> tuple[int, ...]:
        """That of each guest whose loop polls; Linux in a virtual machine sleeps."""
        return self.cpus_of_guests if self.guest == "testpmd" else ()

    @property
    def guest_megabytes(self) -> int:
        """The packet memory of all guests, in MB; a virtual machine's is its own."""
        return guests_of(self.chain) * MEGABYTES if self.guest == "testpmd" else 0

    def check_guests_can_start(self) -> None:
        """Raise MachineError or InputError for what this machine lacks for them."""
        if self.chain == "p2p":
            return
        if self.guest_image is None:
            TESTPMD.find()
        else:
            QEMU.find()
            TASKSET.find()
            VmImage(self.guest_image).check()

    def make_guests(
        self, ledger: Ledger, memory: MemoryPlan, lifetime: Lifetime, ring_size: int
    ) -> tuple[Guest, ...]:
        """The guests in the order of the chain, not started; rings are of `ring_size` frames."""
        return tuple(
            self._guest(_place(ledger, number, cpu), ledger, memory, lifetime, ring_size)
            for number, cpu in enumerate(self.cpus_of_guests)
        )

    def _guest(
        self,
        place: GuestPlace,
        ledger: Ledger,
        memory: MemoryPlan,
        lifetime: Lifetime,
        ring_size: int,
    ) -> Guest:
        if self.guest_image is not None:
            return VmGuest(place, VmImage(self.guest_image), ledger, lifetime)
        return TestpmdGuest(
            place,
            ledger,
            memory,
            lifetime,
            forwarding=self.guest_forwarding,
            ring_size=ring_size,
        )


def guest_socket(ledger: Ledger, port: str) -> Path:
    """On which a guest listens for the switch's port of that name."""
    return ledger.directory / f"{port}.sock"


def _place(ledger: Ledger, number: int, cpu: int) -> GuestPlace:
    first, second = guest_ports(number)
    return GuestPlace(number, cpu, (guest_socket(ledger, first), guest_socket(ledger, second)))
