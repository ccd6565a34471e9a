"""The two ports of a DUT that is a program: memif, or network cards that DPDK drives."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from plimsoll.dut.cards import PLACE, DpdkCards
from plimsoll.dut.wired import PassiveLab, open_wired
from plimsoll.host.processes.privileges import needed_for


class ProgramPorts(ABC):
    """What the program opens, and what is at the other ends for the tester."""

    @abstractmethod
    def prepare(self) -> None:
        """Before the program is started. Raises InputError."""

    @abstractmethod
    def devargs(self, port: int) -> str:
        """Of the DUT's end, as DPDK takes them."""

    @property
    @abstractmethod
    def eal_arguments(self) -> tuple[str, ...]:
        """Those by which DPDK's EAL opens them and no others."""

    @property
    @abstractmethod
    def needed(self) -> frozenset[int]:
        """The capabilities that the program needs for them, by number."""

    @abstractmethod
    def open(self) -> PassiveLab:
        """The tester's ends, once the program forwards. Raises InputError and MachineError."""

    @abstractmethod
    def remove(self) -> None:
        """What is left of them when the program has ended."""


class CardPorts(ProgramPorts):
    """Cards, of which nothing is left in a program that has ended."""

    def __init__(
        self, kind: str, cards: DpdkCards, *, frame_size: int, line_rate_bps: float | None
    ) -> None:
        self._kind = kind
        self._cards = cards
        self._frame_size = frame_size
        self._line_rate_bps = line_rate_bps

    def prepare(self) -> None:
        """Nothing."""

    def devargs(self, port: int) -> str:
        """A PCI address."""
        return self._cards.dut[port]

    @property
    def eal_arguments(self) -> tuple[str, ...]:
        """The devices that it may have."""
        return tuple(word for address in self._cards.dut for word in ("--allow", address))

    @property
    def needed(self) -> frozenset[int]:
        """To drive a device."""
        return needed_for(self._cards.dut)

    def open(self, notes: Sequence[str] = ()) -> PassiveLab:
        """The tester's cards or interfaces; `notes` are for readers of the results."""
        return open_wired(
            self._kind,
            self._cards.tester,
            f"{PLACE}.tester",
            frame_size=self._frame_size,
            line_rate_bps=self._line_rate_bps,
            notes=notes,
        )

    def remove(self) -> None:
        """Nothing."""
