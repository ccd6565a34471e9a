"""A lab whose DUT is one process with two ports."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, ClassVar, Generic, Literal, Self, TypeVar

from pydantic import AfterValidator, Field, model_validator

from plimsoll.dut.cards import DpdkCards
from plimsoll.dut.lab import DutPortCounters, DutProcess, LabDied, LabPorts, LineRate, LinkWatch
from plimsoll.dut.ports.memif_port import (
    buffer_bytes_for,
    check_new_socket,
    longest_ring,
    memif_buffer_bytes,
    memif_devargs,
)
from plimsoll.dut.two_ports import PATHS, PORTS, TwoPortSettings
from plimsoll.dut.userspace.program_ports import CardPorts, ProgramPorts
from plimsoll.dut.wired import PassiveLab
from plimsoll.errors import MachineError
from plimsoll.host.cpus import check_cpus
from plimsoll.host.ledger.hugepages import MemoryPlan
from plimsoll.host.ledger.ledger import Ledger
from plimsoll.host.processes.child import Child, Lifetime, wait_until
from plimsoll.host.processes.privileges import needed_to_make
from plimsoll.text.mistakes import mistake
from plimsoll.text.named_program import NotRun


# What is set of any DUT that is one program with two ports.
class ProgramSettings(TwoPortSettings):
    """A program that polls its ports on `cpu`.

    `frame_size`, with FCS, is the longest that must pass; a run raises it to its profile's longest.
    """

    kind: str
    frame_size: int = Field(default=1518, ge=64, le=9216)

    @property
    def buffer_bytes(self) -> int:
        """Of a buffer, each of which holds any frame whole."""
        return buffer_bytes_for(self.frame_size)

    def for_frames(self, frame_size: int) -> Self:
        """The same lab with buffers for frames up to `frame_size`."""
        return self.model_copy(update={"frame_size": max(self.frame_size, frame_size)})

    def on_cards(self, cards: DpdkCards) -> ProgramPorts:
        """Cards as its ports."""
        return CardPorts(
            self.kind, cards, frame_size=self.frame_size, line_rate_bps=self.line_rate_bps
        )

    @abstractmethod
    def ports(self, ledger: Ledger) -> ProgramPorts:
        """Its ports, not yet there."""


_END_PATIENCE_S = 5.0
Settings = TypeVar("Settings", bound=ProgramSettings)


class ProgramLab(ABC, Generic[Settings]):
    """Started anew for every run; each DUT says how it is started and what it counts."""

    program: ClassVar[str]

    def __init__(
        self, settings: Settings, ledger: Ledger, memory: MemoryPlan, lifetime: Lifetime
    ) -> None:
        self.kind = settings.kind
        self._settings = settings
        self._ledger = ledger
        self._memory = memory
        self._lifetime: Lifetime = lifetime
        self._ports = settings.ports(ledger)
        self._links: PassiveLab | None = None
        self._child: Child | None = None
        self._facts: dict[str, object] = {}

    @abstractmethod
    def _start(self) -> None:
        """Start the DUT as `_child`, and return once it forwards."""

    @abstractmethod
    def _links_down(self) -> list[int]:
        """The ports without a link."""

    @abstractmethod
    def counters(self) -> tuple[DutPortCounters, ...]:
        """The DUT's own counters since it started, by port."""

    @abstractmethod
    def processes(self) -> tuple[DutProcess, ...]:
        """The DUT's process, while there is one."""

    @abstractmethod
    def facts(self) -> dict[str, object]:
        """Which DUT it was, and how it was started."""

    def up(self) -> LabPorts:
        """Start the DUT and wait until it forwards."""
        check_cpus([("lab.cpu", self._settings.cpu)])
        self._ports.prepare()
        try:
            self._start()
            self._links = self._ports.open()
            return self._links.up()
        except BaseException:
            self.down()
            raise

    def wait_links(self, timeout_s: float) -> None:
        """Return once each port has a link."""

        def problem() -> str | None:
            down = self._links_down()
            return f"has no link at ports {down}" if down else None

        self._wait(problem, timeout_s)

    def check(self) -> None:
        """Raise LabDied if the DUT has ended, LinkGone if an interface is no longer there."""
        if self._child is not None and (status := self._child.exit_status()) is not None:
            raise LabDied(self._child, status)
        if self._links is not None:
            self._links.check()

    def watch_links(self) -> LinkWatch:
        """Watch the carriers of interfaces; the tester's other ports know their own links."""
        return self._links.watch_links() if self._links else lambda: ()

    def down(self) -> None:
        """End the DUT, however it takes it, and remove what is left of its ports."""
        if self._child is None:
            # Then a socket at that path, if any, belongs to another process.
            return
        self._child.end(_END_PATIENCE_S)
        self._child = None
        self._ports.remove()

    def _wait(self, problem: Callable[[], str | None], timeout_s: float) -> None:
        """Return once there is no problem."""
        found: str | None = None

        def has_none() -> bool:
            nonlocal found
            found = problem()
            return found is None

        if not wait_until(has_none, timeout_s, check=self.check):
            raise MachineError(
                f"{self.program} {found} after {timeout_s:g} s",
                where="lab",
                remedy="check that the tester opened the lab's ports, on a less busy machine",
            )

    def _check_conversation(self, patience_s: float) -> None:
        """Raise LabDied if a conversation failed because the DUT dies."""
        # A dying process closes its sockets a moment before it can be waited for.
        if self._child is not None:
            self._child.wait(timeout_s=patience_s)
        self.check()


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
