"""What a guest is to the switch: two ports that it joins, with counters of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from plimsoll.dut.lab import DutProcess
from plimsoll.errors import MachineError

# By a bridge of its kernel's, or by dpdk-testpmd in a mode of that name.
GuestForwarding = Literal["bridge", "io", "mac", "macswap"]


@dataclass(frozen=True, slots=True)
class GuestPlace:
    """Where a guest lives: its number, and the CPU on which it forwards."""

    number: int
    cpu: int

    @property
    def name(self) -> str:
        """What it is called in records and messages."""
        return f"guest{self.number}"


@dataclass(frozen=True, slots=True)
class GuestCounts:
    """Frames of one of a guest's two ports, by the guest itself."""

    rx_frames: int
    tx_frames: int


class Guest(Protocol):
    """One guest. What it starts is entered in the lab's ledger before it is used."""

    name: str

    @property
    def note(self) -> str | None:
        """What a record of its trials must say about it, if anything."""

    def start(self) -> None:
        """Start it. Raises MachineError and LabDied."""

    def wait_ready(self) -> None:
        """Return once it forwards. Raises MachineError and LabDied."""

    def check(self) -> None:
        """Raise LabDied if it has ended."""

    def counts(self) -> tuple[GuestCounts, GuestCounts]:
        """Of its two ports. Raises LabDied, and GuestHangs where it does not answer."""

    def processes(self) -> tuple[DutProcess, ...]:
        """Those whose loops forward."""

    def facts(self) -> dict[str, object]:
        """What it is, as JSON."""

    def stop(self) -> None:
        """End it, whatever it takes. May be repeated."""


class GuestHangs(MachineError):
    """A guest runs and does not answer."""

    def __init__(self, name: str, why: str) -> None:
        super().__init__(
            f"{name} runs, and does not answer: {why}",
            where="lab.guest",
            remedy="see its log in the lab's directory; its CPU may be taken by another loop",
        )


class Guests:
    """None, one or two; what holds of a guest (guest.py) holds of all of them."""

    def __init__(self, guests: Sequence[Guest]) -> None:
        self._guests = tuple(guests)

    def __bool__(self) -> bool:
        return bool(self._guests)

    def start(self) -> None:
        """Start them. Raises MachineError and LabDied."""
        for guest in self._guests:
            guest.start()

    def wait_ready(self) -> None:
        """Return once all forward. Raises MachineError and LabDied."""
        for guest in self._guests:
            guest.wait_ready()

    def check(self) -> None:
        """Raise LabDied if one has ended."""
        for guest in self._guests:
            guest.check()

    def counts(self) -> list[tuple[GuestCounts, GuestCounts]]:
        """Of both ports of each. Raises LabDied and GuestHangs."""
        return [guest.counts() for guest in self._guests]

    def processes(self) -> tuple[DutProcess, ...]:
        """Those whose loops forward."""
        return tuple(each for guest in self._guests for each in guest.processes())

    def notes(self) -> tuple[str, ...]:
        """What a record of their trials must say about them."""
        return tuple(guest.note for guest in self._guests if guest.note)

    def facts(self) -> dict[str, object]:
        """What each is, by its name."""
        return {guest.name: guest.facts() for guest in self._guests}

    def stop(self) -> None:
        """End them, whatever it takes. May be repeated."""
        for guest in self._guests:
            guest.stop()
