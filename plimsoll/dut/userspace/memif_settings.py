"""What is set of a DUT that has two memif ports, and these ports."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from plimsoll.dut.cards import DpdkCards
from plimsoll.dut.lab import LabPorts, LineRate
from plimsoll.dut.passive import PassiveLab
from plimsoll.dut.ports.memif_port import (
    check_new_socket,
    longest_ring,
    memif_buffer_bytes,
    memif_devargs,
)
from plimsoll.dut.two_ports import PATHS, PORTS
from plimsoll.dut.userspace.program_lab import ProgramSettings
from plimsoll.dut.userspace.program_ports import ProgramPorts
from plimsoll.host.ledger.ledger import Ledger
from plimsoll.host.processes.privileges import needed_to_make
from plimsoll.text.mistakes import mistake
from plimsoll.text.named_program import NotRun

# The memif driver takes its ring from `rsize` and ignores descriptor counts.
_DESCRIPTORS = 1024


def _power_of_two(ring_size: int) -> int:
    if ring_size.bit_count() != 1:
        raise mistake(f"{ring_size} is not a power of two", "write for example 1024 or 16384")
    return ring_size


class MemifSettings(ProgramSettings):
    """A DUT between two memif ports, of which it is the server.

    `ring_size` is in frames, a power of two; memif allows up to 16384, and long rings
    carry over the milliseconds that a shared CPU is taken away; those whose buffers would take
    more than 33 MB each, for the longest frames, are shortened. `socket` defaults to a path that
    is private to the run.
    """

    ring_size: Annotated[int, AfterValidator(_power_of_two)] = Field(default=16384, ge=64, le=16384)
    socket: Annotated[Path, NotRun("a socket")] | None = None

    @property
    def ring_frames(self) -> int:
        """The rings' length: as set, or what 33 MB of buffers allow."""
        return min(self.ring_size, longest_ring(self.ring_buffer_bytes))

    @property
    def ring_buffer_bytes(self) -> int:
        """Of a buffer in a ring."""
        return memif_buffer_bytes(self.frame_size)

    def socket_of(self, ledger: Ledger) -> Path:
        """As set, or the ledger's own."""
        return self.socket or ledger.directory / "memif.sock"

    def ports(self, ledger: Ledger) -> ProgramPorts:
        """Two connections by the socket."""
        return MemifPorts(self, ledger)

    def devargs(self, role: Literal["server", "client"], port: int, socket: Path) -> str:
        """Of the DUT's end of a port, or of the tester's."""
        return memif_devargs(role, port, socket, self.ring_frames, self.ring_buffer_bytes)

    def tester_ports(self, socket: Path) -> LabPorts:
        """What the tester opens."""
        return LabPorts(
            devargs=tuple(self.devargs("client", port, socket) for port in PORTS),
            descriptors=_DESCRIPTORS,
            queue_frames=self.ring_frames,
            paths=PATHS,
            drained_by="dut",
            line_rate_bps=self.line_rate_bps,
        )


class MemifPorts(ProgramPorts):
    """Two connections by one socket, whose server the DUT is."""

    def __init__(self, settings: MemifSettings, ledger: Ledger) -> None:
        self._socket = settings.socket_of(ledger)
        self._settings = settings
        self._ledger = ledger

    def prepare(self) -> None:
        """Note the socket to be removed."""
        check_new_socket(self._socket, "lab.socket")
        self._ledger.note_path(self._socket)

    def devargs(self, port: int) -> str:
        """A vdev."""
        return self._settings.devargs("server", port, self._socket)

    @property
    def eal_arguments(self) -> tuple[str, ...]:
        """Two vdevs, and no card."""
        return ("--no-pci", *(word for port in PORTS for word in ("--vdev", self.devargs(port))))

    @property
    def needed(self) -> frozenset[int]:
        """To make the socket."""
        return needed_to_make(self._socket)

    def open(self) -> PassiveLab:
        """The clients."""
        return PassiveLab(self._settings.kind, self._settings.tester_ports(self._socket))

    def remove(self) -> None:
        """Remove the socket."""
        self._socket.unlink(missing_ok=True)


# What is set of a DUT that has two memif ports, or with `cards` two network cards instead.
class MemifOrCardSettings(MemifSettings):
    """A DUT whose ports are memif's by default; what is set of memif excludes `cards`."""

    cards: DpdkCards | None = None

    @model_validator(mode="after")
    def _check_cards(self) -> Self:
        for_memif = sorted({"socket", "ring_size"} & self.model_fields_set)
        if self.cards is not None and for_memif:
            raise mistake(
                f"{' and '.join(for_memif)} are of memif, which there is none of with `cards`",
                f"remove {', '.join(for_memif)}",
            )
        return self

    def ports(self, ledger: Ledger) -> ProgramPorts:
        """The cards, or memif."""
        if self.cards is None:
            return super().ports(ledger)
        return self.on_cards(self.cards)

    def check_ports(self) -> LineRate:
        """Whether the socket can be made, or the cards will do; and the line rate.

        Raises InputError and MachineError naming the field.
        """
        if self.socket is not None:
            check_new_socket(self.socket, "lab.socket")
        if self.cards is not None:
            return self.cards.check_machine(self.line_rate_bps)
        return LineRate(self.line_rate_bps)
