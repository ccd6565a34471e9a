"""dpdk-testpmd as the generator of an experiment."""

from __future__ import annotations

import shutil
from typing import ClassVar, Literal

from pydantic import Field

from plimsoll.errors import InputError
from plimsoll.generator.generator_plan import Capabilities, CpuWork, GeneratorModel, Launch
from plimsoll.generator.port_streams import (
    check_one_a_port,
    check_plain,
    check_udp_over_ipv4,
)
from plimsoll.generator.testpmd.console import Console
from plimsoll.generator.testpmd.generator import Testpmd
from plimsoll.host.ledger.hugepages import (
    MemoryPlan,
    device_arguments,
    eal_arguments,
    hugepages_explained,
    plan_memory,
)
from plimsoll.host.namespaces.ip_command import find_program
from plimsoll.host.processes.privileges import IPC_LOCK, needed_for
from plimsoll.text.counted import counted
from plimsoll.traffic.plan import StreamPlan

PROGRAM = "dpdk-testpmd"
PACKAGE = "dpdk-dev (Debian 12, Ubuntu) or dpdk (Fedora, RHEL)"
# By this name the ledger and observers know it: a DUT may be a testpmd as well.
SENDING_TESTPMD = "testpmd-generator"
_MBUFS = 16384
_BASE_MEGABYTES = 32
_PAGE_BYTES = 4096
_MBUF_LEAST_ROOM = 2176
_MBUF_HEADROOM = 128
_MBUF_OVERHEAD = 320


class TestpmdGeneratorSettings(GeneratorModel):
    """dpdk-testpmd's flowgen, unpaced.

    One CPU polls all ports, or as many as ports poll one each. `flows` is how many
    destination addresses it takes in turn; testpmd takes it when it starts.
    """

    # Keeps pytest from taking the class for tests.
    __test__: ClassVar[bool] = False
    capabilities: ClassVar[Capabilities] = Capabilities(
        most_streams=32,
        least_pps=1.0,
        most_pps=1e9,
        pacings=frozenset({"back-to-back"}),
        latency=False,
        program=SENDING_TESTPMD,
        summary="dpdk-testpmd's flowgen: unpaced, frames of its own, losses by port counters",
    )

    kind: Literal["testpmd"] = "testpmd"
    cpus: tuple[int, ...] = Field(default=(0,), min_length=1, max_length=32)
    flows: int = Field(default=1024, ge=1, le=2**31 - 1)
    burst: int = Field(default=32, ge=1, le=512)

    @classmethod
    def lacking(cls) -> tuple[str, ...]:
        """The program."""
        return () if shutil.which(PROGRAM) else (f"{PROGRAM}: install {PACKAGE}",)

    @property
    def polled_cpus(self) -> tuple[tuple[str, int], ...]:
        """As set."""
        return tuple((f"generator.cpus[{i}]", cpu) for i, cpu in enumerate(self.cpus))

    def check_ports(self, port_count: int) -> None:
        """Raise InputError when the CPUs do not fit so many ports."""
        if len(self.cpus) not in (1, port_count):
            raise InputError(
                f"{counted(len(self.cpus), 'CPU')} cannot poll {counted(port_count, 'port')}",
                where="generator.cpus",
                remedy=f"give 1 CPU or {port_count} (one a port)",
            )

    def streams_sent(
        self, streams: tuple[StreamPlan, ...], port_count: int
    ) -> tuple[StreamPlan, ...]:
        """The same. Raises InputError for what flowgen does not send."""
        self.check_ports(port_count)
        check_one_a_port(streams, "testpmd")
        if {each.tx_port for each in streams} != set(range(port_count)):
            raise InputError(
                "testpmd sends on all of its ports or on none",
                where="profile.streams",
                remedy="use a bidirectional stream, or another generator",
            )
        for each in streams:
            check_plain(each, "testpmd")
            check_udp_over_ipv4(each, "testpmd's flowgen")
            self._check_flows(each)
        return streams

    def cpu_work(self, streams: tuple[StreamPlan, ...], port_count: int) -> tuple[CpuWork, ...]:
        """Each CPU has one port both ways, or all of them."""
        self.check_ports(port_count)
        ports = (
            [tuple(range(port_count))] if len(self.cpus) == 1 else [(p,) for p in range(port_count)]
        )
        return tuple(
            CpuWork(cpu, tuple(each.name for each in streams if each.tx_port in polled), polled)
            for cpu, polled in zip(self.cpus, ports, strict=True)
        )

    def start(self, launch: Launch) -> Testpmd:
        """Start the process, noted in the ledger, and open its ports."""
        if launch.ledger is None:
            raise ValueError("testpmd needs a ledger")
        program = find_program(PROGRAM, PACKAGE)
        ledger = launch.ledger
        room = max(_MBUF_LEAST_ROOM, launch.max_frame_bytes + _MBUF_HEADROOM)
        memory = plan_memory(
            _BASE_MEGABYTES + _megabytes(room), ledger, require_huge=launch.require_hugepages
        )
        console = Console(
            (program, *self._eal_arguments(launch, memory), "--", *self._arguments(launch, room)),
            ledger.directory / "testpmd-generator.log",
            ledger.environment,
            needed_for(launch.devargs) | {IPC_LOCK},
        )
        try:
            ledger.note_process(SENDING_TESTPMD, console.identity)
            testpmd = Testpmd(console, memory.note)
            with hugepages_explained(memory, ledger):
                testpmd.open(len(launch.devargs), launch.link_wait_s)
        except BaseException:
            console.close()
            raise
        return testpmd

    def _check_flows(self, stream: StreamPlan) -> None:
        flows = max((field.count for field in stream.fields), default=1)
        if flows != self.flows:
            raise InputError(
                f"stream {stream.name} has {flows} flows, and testpmd sends {self.flows}",
                where="generator.flows",
                remedy=f"set it to {flows}",
            )

    def _eal_arguments(self, launch: Launch, memory: MemoryPlan) -> tuple[str, ...]:
        shared = eal_arguments(
            "generator", self.cpus, memory, memory.megabytes, launch.main_cpus or ()
        )
        return ("-v", *shared, *device_arguments(launch.devargs))

    def _arguments(self, launch: Launch, room: int) -> tuple[str, ...]:
        return (
            "-i",
            "--forward-mode=flowgen",
            "--port-topology=loop",
            f"--nb-cores={len(self.cpus)}",
            f"--flowgen-flows={self.flows}",
            f"--burst={self.burst}",
            f"--rxd={launch.descriptors}",
            f"--txd={launch.descriptors}",
            f"--total-num-mbufs={_MBUFS}",
            f"--mbuf-size={room}",
        )


def _megabytes(room: int) -> int:
    """Of the buffers, none of which shares a page with another without hugepages."""
    pages = -(-(room + _MBUF_OVERHEAD) // _PAGE_BYTES)
    return -(-_MBUFS * pages * _PAGE_BYTES // 2**20)


GENERATOR = TestpmdGeneratorSettings
