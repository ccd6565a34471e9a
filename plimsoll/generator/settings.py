"""The experiment's `generator` section: which generator, on which CPUs, with how much memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from plimsoll.errors import InputError

# The numbers are those of engine/src/ports.
_MBUFS_BESIDE_DESCRIPTORS = 8192
_MBUF_LEAST_ROOM = 2176
_MBUF_ROOM_BESIDE_FRAME = 448
# struct rte_mbuf, the mempool's header, and alignment.
_MBUF_OVERHEAD = 320
# Without hugepages no buffer shares a page with another.
_PAGE_BYTES = 4096
# DPDK itself, and the state of a trial's streams.
_BASE_MEGABYTES = 80
# Of a port, each way; QUEUES_MAX of engine/src/config/limits.h.
_MOST_QUEUES = 16


# Who stamps what is received: the worker by the TSC, or the port itself where it can.
Stamps = Literal["tsc", "hardware"]
# A port and the number of one of its queues.
PortQueue = tuple[int, int]


@dataclass(frozen=True, slots=True)
class WorkerLayout:
    """One polling loop: its CPU and the queues that it sends on and receives from."""

    cpu: int
    tx: tuple[PortQueue, ...]
    rx: tuple[PortQueue, ...]


class EngineSettings(BaseModel):
    """Plimsoll's own engine.

    One CPU polls everything; as many CPUs as ports poll a port each. Twice as many, or
    more, share each port's two directions, senders first: every CPU has a queue of its
    own, load streams are spread over the senders' queues, and the port spreads what it
    receives over the receivers'. `megabytes` is DPDK's memory, by default what the ports
    need.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: Literal["engine"] = "engine"
    cpus: tuple[int, ...] = Field(default=(0,), min_length=1, max_length=64)
    megabytes: int | None = Field(default=None, ge=64, le=65536)
    stamps: Stamps = "tsc"

    def megabytes_for(self, port_count: int, descriptors: int, max_frame_bytes: int) -> int:
        """The engine's memory in MB: as set, or for the buffers that it makes for each queue.

        `max_frame_bytes` is without FCS.
        """
        if self.megabytes is not None:
            return self.megabytes
        queues = sum(len(worker.tx) + len(worker.rx) for worker in self.layout(port_count))
        mbufs = 2 * descriptors + _MBUFS_BESIDE_DESCRIPTORS
        room = max(_MBUF_LEAST_ROOM, _MBUF_ROOM_BESIDE_FRAME + max_frame_bytes)
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
        if left_over or cpus_a_port == 0 or cpus_a_port > 2 * _MOST_QUEUES:
            raise InputError(
                f"{len(self.cpus)} CPUs cannot poll {port_count} ports",
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
