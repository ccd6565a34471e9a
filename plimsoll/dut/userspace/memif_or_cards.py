"""What is set of a DUT that has two memif ports, or with `cards` two network cards instead."""

from __future__ import annotations

from typing import Self

from pydantic import model_validator

from plimsoll.dut.cards import DpdkCards
from plimsoll.dut.lab import LineRate
from plimsoll.dut.ports.memif_port import check_new_socket
from plimsoll.dut.userspace.memif_settings import MemifSettings
from plimsoll.dut.userspace.program_ports import ProgramPorts
from plimsoll.host.ledger.ledger import Ledger
from plimsoll.text.mistakes import mistake


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
