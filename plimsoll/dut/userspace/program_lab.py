"""A lab whose DUT is one process with two ports."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import ClassVar, Generic, Self, TypeVar

from pydantic import Field

from plimsoll.dut.cards import DpdkCards
from plimsoll.dut.lab import DutPortCounters, DutProcess, LabDied, LabPorts, LinkWatch
from plimsoll.dut.passive import PassiveLab
from plimsoll.dut.ports.memif_port import buffer_bytes_for
from plimsoll.dut.two_ports import TwoPortSettings
from plimsoll.dut.userspace.program_ports import CardPorts, ProgramPorts
from plimsoll.errors import MachineError
from plimsoll.host.cpus import check_cpus
from plimsoll.host.ledger.hugepages import MemoryPlan
from plimsoll.host.ledger.ledger import Ledger
from plimsoll.host.processes.child import Child, Lifetime
from plimsoll.host.processes.comes_true import comes_true


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

        if not comes_true(has_none, timeout_s, check=self.check):
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
