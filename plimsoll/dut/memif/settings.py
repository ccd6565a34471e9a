"""What is set of a DUT that has two memif ports, and a loop that polls them on a CPU."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from plimsoll.dut.lab import LabModel, LabPorts
from plimsoll.dut.ports.memif_port import buffer_bytes_for, longest_ring, memif_devargs
from plimsoll.dut.two_ports import PATHS, PORTS, TwoPortSettings
from plimsoll.text.mistakes import mistake

# The memif driver takes its ring from `rsize` and ignores descriptor counts.
_DESCRIPTORS = 1024


def _power_of_two(ring_size: int) -> int:
    if ring_size.bit_count() != 1:
        raise mistake(f"{ring_size} is not a power of two", "write for example 1024 or 16384")
    return ring_size


class MemifSettings(TwoPortSettings):
    """A DUT between two memif ports, of which it is the server.

    `ring_size` is in frames, a power of two; memif allows up to 16384, and long rings
    carry over the milliseconds that a shared CPU is taken away. `frame_size`, with FCS,
    is the longest that must pass; a run raises it to its profile's longest, and shortens
    rings whose buffers would then take more than 32 MB each. `socket` defaults to a path
    that is private to the run.
    """

    kind: str
    ring_size: Annotated[int, AfterValidator(_power_of_two)] = Field(default=16384, ge=64, le=16384)
    frame_size: int = Field(default=1518, ge=64, le=9216)
    socket: Path | None = None

    @property
    def buffer_bytes(self) -> int:
        """The memif buffers, each of which holds any frame whole."""
        return buffer_bytes_for(self.frame_size)

    @property
    def ring_frames(self) -> int:
        """The rings' length: as set, or what 32 MB of buffers allow."""
        return min(self.ring_size, longest_ring(self.buffer_bytes))

    def for_frames(self, frame_size: int) -> LabModel:
        """The same lab with buffers for frames up to `frame_size`."""
        return self.model_copy(update={"frame_size": max(self.frame_size, frame_size)})

    def devargs(self, role: Literal["server", "client"], port: int, socket: Path) -> str:
        """Of the DUT's end of a port, or of the tester's."""
        return memif_devargs(role, port, socket, self.ring_frames, self.buffer_bytes)

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
