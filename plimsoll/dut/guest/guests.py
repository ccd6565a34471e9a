"""All guests of a chain together, in its order."""

from __future__ import annotations

from collections.abc import Sequence

from plimsoll.dut.guest.guest import Guest, GuestCounts
from plimsoll.dut.lab import DutProcess


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
