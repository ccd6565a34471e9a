"""What is set of any DUT that is one program with two ports."""

from __future__ import annotations

from abc import abstractmethod
from typing import Self

from pydantic import Field

from plimsoll.dut.cards import DpdkCards
from plimsoll.dut.ports.memif_port import buffer_bytes_for
from plimsoll.dut.two_ports import TwoPortSettings
from plimsoll.dut.userspace.program_ports import CardPorts, ProgramPorts
from plimsoll.host.ledger.ledger import Ledger


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
