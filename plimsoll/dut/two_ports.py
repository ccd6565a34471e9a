"""A DUT between two of the tester's ports, which forwards on a CPU of its own."""

from __future__ import annotations

from pydantic import Field

from plimsoll.dut.lab import LabModel
from plimsoll.dut.ports.line_rate import LineRateField
from plimsoll.traffic.streams.compile import Paths

PORTS = (0, 1)
PATHS: Paths = ((0, 1), (1, 0))


class TwoPortSettings(LabModel):
    """The frames of both directions are forwarded on `cpu`.

    `line_rate` is nominal, as a port in memory has no wire: with it loads can be written in %,
    and utilisation is reported as a share of it.
    """

    cpu: int = Field(default=1, ge=0)
    line_rate: LineRateField | None = None

    @property
    def polled_cpus(self) -> tuple[tuple[str, int], ...]:
        """That on which frames are forwarded."""
        return (("lab.cpu", self.cpu),)

    @property
    def port_count(self) -> int:
        """One at each end of the DUT."""
        return len(PORTS)

    @property
    def directions(self) -> Paths:
        """Through the DUT both ways."""
        return PATHS

    @property
    def line_rate_bps(self) -> float | None:
        """As stated, L1."""
        return self.line_rate.value if self.line_rate else None
