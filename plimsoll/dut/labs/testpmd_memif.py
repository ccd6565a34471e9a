"""The lab `testpmd-memif`: dpdk-testpmd forwards on its own CPU between two memif ports."""

from __future__ import annotations

from typing import ClassVar, Literal

from plimsoll.dut.lab import LineRate
from plimsoll.dut.ports.memif_port import check_new_socket
from plimsoll.dut.userspace.program_lab import MemifSettings
from plimsoll.dut.userspace.testpmd import PROGRAM, TESTPMD, TestpmdForwarding


class TestpmdSettings(TestpmdForwarding, MemifSettings):
    """dpdk-testpmd between two memif ports."""

    __test__: ClassVar[bool] = False
    summary: ClassVar[str] = "dpdk-testpmd forwarding between two memif ports; needs no NIC"
    can_stand: ClassVar[bool] = True
    cannot_reset: ClassVar[str | None] = (
        f"{PROGRAM} holds the sockets that the tester's memif ports hang on, so their links end "
        "with it, and a trial ends with its links: there is no last frame before and first frame "
        "after a reset"
    )
    kind: Literal["testpmd-memif"] = "testpmd-memif"

    def check_machine(self) -> LineRate:
        """Whether testpmd is there and can make its socket; and the nominal line rate."""
        TESTPMD.find()
        if self.socket is not None:
            check_new_socket(self.socket, "lab.socket")
        return LineRate(self.line_rate_bps)


LAB = TestpmdSettings
