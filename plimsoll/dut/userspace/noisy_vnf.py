"""A network function that works on memory for each frame: dpdk-testpmd's forwarding mode `noisy`.

Its options and what they do: app/test-pmd/noisy_vnf.c and the Testpmd User Guide of DPDK.
"""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field, model_validator

from plimsoll.text.mistakes import mistake


class NoisyVnf(BaseModel):
    """What each port's forwarding does apart from forwarding.

    For each frame it makes so many random reads, writes, and reads with a write after each, of
    its `lookup_megabytes` of memory, of which each port has its own. `queued_frames` are held
    back in a FIFO until it is full or `flush_ms` have passed.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    lookup_megabytes: int = Field(default=0, ge=0, le=65536)
    reads: int = Field(default=0, ge=0, le=10_000)
    writes: int = Field(default=0, ge=0, le=10_000)
    reads_writes: int = Field(default=0, ge=0, le=10_000)
    queued_frames: int = Field(default=0, ge=0, le=4096)
    flush_ms: int = Field(default=0, ge=0, le=10_000)

    @model_validator(mode="after")
    def _check(self) -> NoisyVnf:
        lookups = self.reads + self.writes + self.reads_writes
        if bool(lookups) != bool(self.lookup_megabytes):
            raise mistake(
                "`lookup_megabytes` and the number of `reads`, `writes` or `reads_writes` go "
                "together",
                "write for example lookup_megabytes: 256 and reads_writes: 8",
            )
        if self.queued_frames and self.queued_frames.bit_count() != 1:
            raise mistake(
                f"`queued_frames` is {self.queued_frames}, which is not a power of two",
                "write for example 512",
            )
        if bool(self.queued_frames) != bool(self.flush_ms):
            # Without a flush the last frames of a trial would stay in the FIFO.
            raise mistake(
                "`queued_frames` and `flush_ms` go together",
                "write for example queued_frames: 512 and flush_ms: 1",
            )
        return self

    def megabytes(self, ports: int) -> int:
        """The memory of `ports` ports, in MB."""
        return ports * self.lookup_megabytes

    @property
    def arguments(self) -> tuple[str, ...]:
        """As testpmd takes them."""
        return (
            f"--noisy-lkup-memory={self.lookup_megabytes}",
            f"--noisy-lkup-num-reads={self.reads}",
            f"--noisy-lkup-num-writes={self.writes}",
            f"--noisy-lkup-num-reads-writes={self.reads_writes}",
            f"--noisy-tx-sw-buffer-size={self.queued_frames}",
            f"--noisy-tx-sw-buffer-flushtime={self.flush_ms}",
        )
