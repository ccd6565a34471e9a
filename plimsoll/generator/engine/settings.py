"""Plimsoll's own engine in an experiment: on which CPUs, with how much memory, and its start."""

from __future__ import annotations

from collections import Counter
from typing import ClassVar, Literal, get_args

from pydantic import Field

from plimsoll.errors import InputError, MachineError
from plimsoll.generator.engine.engine import Engine
from plimsoll.generator.engine.hosts import Hosts, HostSettings, check_hosts
from plimsoll.generator.engine.program import ENGINE, find_engine
from plimsoll.generator.engine.queue_parts import QueueParts
from plimsoll.generator.engine.timesync import check_timesync
from plimsoll.generator.generator_plan import Capabilities, CpuWork, GeneratorModel, Launch
from plimsoll.generator.interface import FrameFault, Stamps, WorkerLayout
from plimsoll.host.ledger.hugepages import hugepages_explained, plan_memory
from plimsoll.text.counted import counted
from plimsoll.traffic.plan import PacingKind, StreamPlan

# The numbers are those of engine/src/ports.
_SPARE_MBUFS = 8192
_MBUF_LEAST_ROOM = 2176
_MBUF_EXTRA_ROOM = 448
# struct rte_mbuf, the mempool's header, and alignment.
_MBUF_OVERHEAD = 320
# Without hugepages no buffer shares a page with another.
_PAGE_BYTES = 4096
# DPDK itself, and the state of a trial's streams.
_BASE_MEGABYTES = 80
# Of a port, each way; QUEUES_MAX of engine/src/config/limits.h.
_MAX_QUEUES = 16
# STREAMS_MAX there: each direction and each queue counts.
_MAX_STREAMS = 64
# Of one stream; engine/src/control/requests/request_pacing.c.
_MIN_PPS, _MAX_PPS = 0.01, 1e9


class EngineSettings(GeneratorModel):
    """Plimsoll's own engine.

    One CPU polls everything; as many CPUs as ports poll a port each. Twice as many, or
    more, share each port's two directions, senders first: every CPU has a queue of its
    own, load streams are spread over the senders' queues, and the port spreads what it
    receives over the receivers'. `megabytes` is DPDK's memory, by default what the ports
    need. `hosts` are who the tester is on its ports: what they answer for, and by what they ask
    for the MACs that streams leave open.
    """

    capabilities: ClassVar[Capabilities] = Capabilities(
        most_streams=_MAX_STREAMS,
        least_pps=_MIN_PPS,
        most_pps=_MAX_PPS,
        pacings=frozenset(get_args(PacingKind)),
        latency=True,
        load_latency=True,
        faults=frozenset(get_args(FrameFault)),
        rings=True,
        live=True,
        captures=True,
        links=True,
        program=ENGINE,
        churn=True,
        per_flow=True,
        summary="Plimsoll's own: every frame numbered and timed",
    )

    kind: Literal["engine"] = "engine"
    cpus: tuple[int, ...] = Field(default=(0,), min_length=1, max_length=64)
    megabytes: int | None = Field(default=None, ge=64, le=65536)
    stamps: Stamps = "tsc"
    hosts: tuple[HostSettings, ...] = Field(default=(), max_length=16)

    @classmethod
    def lacking(cls) -> tuple[str, ...]:
        """The program."""
        try:
            find_engine()
        except MachineError as error:
            return (f"{error.message}: {error.remedy}",)
        return ()

    @property
    def polled_cpus(self) -> tuple[tuple[str, int], ...]:
        """As set."""
        return tuple((f"generator.cpus[{i}]", cpu) for i, cpu in enumerate(self.cpus))

    def check_ports(self, port_count: int) -> None:
        """Raise InputError when the CPUs, or the hosts, do not fit so many ports."""
        self.layout(port_count)
        check_hosts(self.hosts, port_count)

    def streams_sent(
        self, streams: tuple[StreamPlan, ...], port_count: int
    ) -> tuple[StreamPlan, ...]:
        """Load streams in parts, one for each queue of their port. Raises InputError."""
        check_hosts(self.hosts, port_count)
        Hosts(self.hosts).check_streams(streams)
        if self.stamps == "timesync":
            check_timesync(streams)
        queues = Counter(port for worker in self.layout(port_count) for port, _ in worker.tx)
        return QueueParts.of(streams, [queues[port] for port in range(port_count)]).streams

    def cpu_work(self, streams: tuple[StreamPlan, ...], port_count: int) -> tuple[CpuWork, ...]:
        """The streams of the queues that a loop sends on. Raises InputError."""
        parts = self.streams_sent(streams, port_count)
        return tuple(
            CpuWork(
                worker.cpu,
                tuple(part.name for part in parts if (part.tx_port, part.tx_queue) in worker.tx),
                tuple(sorted({port for port, _ in worker.rx})),
            )
            for worker in self.layout(port_count)
        )

    def on_rings(self) -> EngineSettings:
        """The same: rings have no clock to stamp by, and no neighbour."""
        return self.model_copy(update={"stamps": "tsc", "hosts": ()})

    def start(self, launch: Launch) -> Engine:
        """Start the process, noted in the ledger, with the memory that it needs."""
        if launch.ledger is None:
            raise ValueError("the engine needs a ledger")
        ledger = launch.ledger
        memory = plan_memory(
            self.megabytes_for(len(launch.devargs), launch.descriptors, launch.max_frame_bytes),
            ledger,
            require_huge=launch.require_hugepages,
        )
        log = ledger.directory / "engine.log"
        engine = Engine.start(log, ledger.environment, launch.devargs)
        try:
            ledger.note_process(ENGINE, engine.identity)
            with hugepages_explained(memory, ledger):
                engine.open(
                    workers=self.layout(len(launch.devargs)),
                    stamps=self.stamps,
                    memory=memory,
                    devargs=launch.devargs,
                    descriptors=launch.descriptors,
                    main_cpus=launch.main_cpus,
                    max_frame_bytes=launch.max_frame_bytes,
                    link_wait_s=launch.link_wait_s,
                    hosts=Hosts(self.hosts),
                )
        except BaseException:
            engine.close()
            raise
        return engine

    def megabytes_for(self, port_count: int, descriptors: int, max_frame_bytes: int) -> int:
        """The engine's memory in MB: as set, or for the buffers that it makes for each queue.

        `max_frame_bytes` is without FCS.
        """
        if self.megabytes is not None:
            return self.megabytes
        queues = sum(len(worker.tx) + len(worker.rx) for worker in self.layout(port_count))
        mbufs = 2 * descriptors + _SPARE_MBUFS
        room = max(_MBUF_LEAST_ROOM, _MBUF_EXTRA_ROOM + max_frame_bytes)
        pages = -(-(room + _MBUF_OVERHEAD) // _PAGE_BYTES)
        return _BASE_MEGABYTES + -(-queues * mbufs * pages * _PAGE_BYTES // 2**20)

    def layout(self, port_count: int) -> tuple[WorkerLayout, ...]:
        """The polling loops for `port_count` ports. Raises InputError when the CPUs do not fit.

        Without ports each CPU has a loop that looks at the clock alone.
        """
        if port_count == 0:
            return tuple(WorkerLayout(cpu, (), ()) for cpu in self.cpus)
        ports = range(port_count)
        if len(self.cpus) == 1:
            everything = tuple((port, 0) for port in ports)
            return (WorkerLayout(self.cpus[0], everything, everything),)
        cpus_a_port, left_over = divmod(len(self.cpus), port_count)
        if left_over or cpus_a_port == 0 or cpus_a_port > 2 * _MAX_QUEUES:
            raise InputError(
                f"{counted(len(self.cpus), 'CPU')} cannot poll {counted(port_count, 'port')}",
                where="generator.cpus",
                remedy=f"give 1 CPU, {port_count} (one a port), {2 * port_count} "
                f"(one a port and direction), or another multiple of {port_count}",
            )
        if cpus_a_port == 1:
            return tuple(
                WorkerLayout(cpu, ((port, 0),), ((port, 0),))
                for cpu, port in zip(self.cpus, ports, strict=True)
            )
        return self._split_by_direction(port_count, receivers=cpus_a_port // 2)

    def _split_by_direction(self, port_count: int, receivers: int) -> tuple[WorkerLayout, ...]:
        """The last `receivers` CPUs of each port receive; the others, at least as many, send."""
        senders = len(self.cpus) // port_count - receivers
        sent_on = [(port, queue) for queue in range(senders) for port in range(port_count)]
        received_from = [(port, queue) for queue in range(receivers) for port in range(port_count)]
        cpus = iter(self.cpus)
        return (
            *(WorkerLayout(next(cpus), (queue,), ()) for queue in sent_on),
            *(WorkerLayout(next(cpus), (), (queue,)) for queue in received_from),
        )


GENERATOR = EngineSettings
