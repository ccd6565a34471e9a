"""The lab `testpmd`: dpdk-testpmd forwards on its own CPU between two network cards."""

from __future__ import annotations

from typing import ClassVar, Literal

from plimsoll.dut.cards import DpdkCards
from plimsoll.dut.lab import LineRate
from plimsoll.dut.userspace.program_ports import ProgramPorts
from plimsoll.dut.userspace.testpmd import PROGRAM, TESTPMD, TestpmdForwarding
from plimsoll.host.ledger.ledger import Ledger

# With FCS: that of testpmd's ports by themselves.
_USUAL_FRAME = 1518


class TestpmdOnCardsSettings(TestpmdForwarding):
    """dpdk-testpmd on two network cards, which DPDK drives."""

    __test__: ClassVar[bool] = False
    summary: ClassVar[str] = "dpdk-testpmd on two network cards of this machine, cabled to two more"
    can_stand: ClassVar[bool] = True
    cannot_reset: ClassVar[str | None] = (
        f"the links of {PROGRAM}'s cards end with it, and a trial ends with its links: there is "
        "no last frame before and first frame after a reset"
    )
    kind: Literal["testpmd"] = "testpmd"
    cards: DpdkCards

    def check_machine(self) -> LineRate:
        """Whether testpmd is there, and the cards will do."""
        TESTPMD.find()
        return self.cards.check_machine(self.line_rate_bps)

    def ports(self, ledger: Ledger) -> ProgramPorts:
        """The cards."""
        return self.on_cards(self.cards)

    @property
    def port_arguments(self) -> tuple[str, ...]:
        """A card takes no longer frames than its port is set to."""
        return (f"--max-pkt-len={self.frame_size}",) if self.frame_size > _USUAL_FRAME else ()


LAB = TestpmdOnCardsSettings
