"""dpdk-testpmd forwards on its own CPU, between memif ports or cards: what both labs share."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from plimsoll.dut.lab import DutPortCounters, DutProcess
from plimsoll.dut.needs import LabNeeds, NeededProgram
from plimsoll.dut.sight import ethdev_counters
from plimsoll.dut.two_ports import PORTS
from plimsoll.dut.userspace.program_lab import ProgramLab, ProgramSettings
from plimsoll.host.dpdk_telemetry import Telemetry, TelemetryError
from plimsoll.host.ledger.hugepages import MemoryPlan, eal_arguments
from plimsoll.host.ledger.ledger import Ledger
from plimsoll.host.processes.child import Child, Lifetime
from plimsoll.host.processes.privileges import IPC_LOCK
from plimsoll.text.mistakes import mistake


# A network function that works on memory for each frame: dpdk-testpmd's forwarding mode `noisy`.
#
# Its options and what they do: app/test-pmd/noisy_vnf.c and the Testpmd User Guide of DPDK.
class NoisyVnf(BaseModel):
    """What each port's forwarding does apart from forwarding.

    For each frame it makes the given numbers of random reads, of writes, and of reads followed by a
    write, in its `lookup_megabytes` of memory, of which each port has its own. `queued_frames` are
    held back in a FIFO until it is full or `flush_ms` have passed.
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


PROGRAM = "dpdk-testpmd"
TESTPMD = NeededProgram(PROGRAM, "dpdk-dev (Debian 12, Ubuntu) or dpdk (Fedora, RHEL)")
_START_TIMEOUT_S = 30.0
_NOT_STARTED = "has not started its ports"
# Measured with DPDK 22.11: 16384 mbufs take 53 MB of hugepages in all, and up to 80 MB of
# ordinary pages, because no mbuf may cross a page and so each takes one of 4 kB, or as
# many as a longer one needs.
_BASE_MEGABYTES = 32
_PAGE_BYTES = 4096
# What precedes the frame in an mbuf, and what surrounds it in its pool.
_MBUF_HEADROOM = 128
_MBUF_OVERHEAD = 320


class TestpmdForwarding(ProgramSettings):
    """What testpmd does with frames, wherever they come from.

    `noisy` is what `forwarding: noisy` does to memory for each frame. With `rxonly` it receives and
    drops.
    """

    # Keeps pytest from taking the class for tests.
    __test__: ClassVar[bool] = False
    polling_program: ClassVar[str] = PROGRAM
    forwarding: Literal["mac", "io", "macswap", "5tswap", "csum", "noisy", "rxonly"] = "mac"
    noisy: NoisyVnf | None = None
    burst: int = Field(default=32, ge=1, le=512)
    mbufs: int = Field(default=16384, ge=4096, le=1048576)

    @field_validator("forwarding", mode="before")
    @classmethod
    def _receives(cls, forwarding: object) -> object:
        if forwarding == "txonly":
            raise mistake(
                "txonly sends frames of testpmd's own, whose load no search could set and of which "
                "none has a signature, so that there is nothing to judge",
                "use rxonly for a sink; generator: {kind: testpmd} has testpmd send",
            )
        return forwarding

    @model_validator(mode="after")
    def _check_noisy(self) -> Self:
        if (self.noisy is not None) != (self.forwarding == "noisy"):
            raise mistake(
                "`forwarding: noisy` and the section `noisy` go together",
                "write for example forwarding: noisy and "
                "noisy: {lookup_megabytes: 256, reads_writes: 8}",
            )
        return self

    @property
    def returns_frames(self) -> bool:
        """Not as a sink."""
        return self.forwarding != "rxonly"

    @property
    def port_arguments(self) -> tuple[str, ...]:
        """Of testpmd, as these ports need them."""
        return ()

    @classmethod
    def needs(cls) -> LabNeeds:
        """testpmd, and a CPU that it polls."""
        return LabNeeds(programs=(TESTPMD,), cpus=1, hugepages=True)

    @property
    def megabytes(self) -> int:
        """The memory for DPDK itself, the mbufs and what `noisy` works on, in MB."""
        pages = -(-(self.buffer_bytes + _MBUF_HEADROOM + _MBUF_OVERHEAD) // _PAGE_BYTES)
        mbufs = -(-self.mbufs * pages * _PAGE_BYTES // 2**20)
        return _BASE_MEGABYTES + mbufs + (self.noisy.megabytes(len(PORTS)) if self.noisy else 0)

    def make(self, ledger: Ledger, memory: MemoryPlan, lifetime: Lifetime) -> TestpmdLab:
        """The lab, not yet up."""
        return TestpmdLab(self, ledger, memory, lifetime)


class TestpmdLab(ProgramLab[TestpmdForwarding]):
    """One dpdk-testpmd: with memif it may crash when its peer hangs up."""

    __test__: ClassVar[bool] = False
    program = PROGRAM

    def counters(self) -> tuple[DutPortCounters, ...]:
        """testpmd's own counters since it started, by port."""
        answers = self._ask(*(f"/ethdev/stats,{port}" for port in PORTS))
        return tuple(ethdev_counters(port, answers[port]) for port in PORTS)

    def processes(self) -> tuple[DutProcess, ...]:
        """The one testpmd."""
        if self._child is None:
            return ()
        return (DutProcess(PROGRAM, self._child.pid, self._telemetry_socket),)

    def facts(self) -> dict[str, object]:
        """Which testpmd it was, and how it was started."""
        return {**self._facts, "settings": self._settings.model_dump(mode="json")}

    def _start(self) -> None:
        argv = (TESTPMD.find(), *self._eal_arguments(), "--", *self._forwarding_arguments())
        self._child = Child.start(
            argv,
            log=self._ledger.directory / "testpmd.log",
            environment=self._ledger.environment,
            lifetime=self._lifetime,
            # It locks its memory, so that no page fault delays a frame.
            needed=self._ports.needed | {IPC_LOCK},
        )
        self._ledger.note_process(PROGRAM, self._child.identity)
        self._facts = {"argv": list(argv), "pid": self._child.pid}
        # The forwarding loop begins right after its ports are started.
        self._wait(self._start_problem, _START_TIMEOUT_S)

    def _eal_arguments(self) -> tuple[str, ...]:
        settings = self._settings
        return (
            *eal_arguments("dut", (settings.cpu,), self._memory, settings.megabytes),
            *self._ports.eal_arguments,
        )

    def _forwarding_arguments(self) -> tuple[str, ...]:
        return (
            f"--forward-mode={self._settings.forwarding}",
            "--nb-cores=1",
            f"--total-num-mbufs={self._settings.mbufs}",
            f"--burst={self._settings.burst}",
            f"--mbuf-size={self._settings.buffer_bytes + _MBUF_HEADROOM}",
            *self._settings.port_arguments,
            *(self._settings.noisy.arguments if self._settings.noisy else ()),
        )

    @property
    def _telemetry_socket(self) -> Path:
        return self._ledger.directory / "dpdk" / "dut" / "dpdk_telemetry.v2"

    def _telemetry(self) -> Telemetry:
        return Telemetry(self._telemetry_socket)

    def _start_problem(self) -> str | None:
        try:
            with self._telemetry() as telemetry:
                self._facts["version"] = telemetry.version
                infos = [telemetry.query(f"/ethdev/info,{port}") for port in PORTS]
        except TelemetryError:
            # Neither the socket nor the ports are there at first.
            return _NOT_STARTED
        return None if all(info.get("dev_started") == 1 for info in infos) else _NOT_STARTED

    def _links_down(self) -> list[int]:
        answers = self._ask(*(f"/ethdev/link_status,{port}" for port in PORTS))
        return [port for port in PORTS if answers[port].get("status") != "UP"]

    def _ask(self, *commands: str) -> list[dict[str, object]]:
        """The answers to `commands`. Raises LabDied rather than a failed conversation."""
        try:
            with self._telemetry() as telemetry:
                return [telemetry.query(command) for command in commands]
        except TelemetryError:
            self._check_conversation(patience_s=1)
            raise
