"""The experiment's `generator` section: which generator, on which CPUs, with how much memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from plimsoll.errors import InputError

_MBUFS_BESIDE_DESCRIPTORS = 8192
_MBUF_LEAST_ROOM = 2176
_MBUF_HEADROOM = 128
# struct rte_mbuf, the mempool's header, and what alignment and page ends cost.
_MBUF_OVERHEAD = 320
# DPDK itself, and the state of a trial's streams.
_BASE_MEGABYTES = 80


@dataclass(frozen=True, slots=True)
class WorkerLayout:
    """One polling loop: its CPU and the ports that it sends on and receives from."""

    cpu: int
    tx_ports: tuple[int, ...]
    rx_ports: tuple[int, ...]


class EngineSettings(BaseModel):
    """Plimsoll's own engine.

    One CPU polls everything; as many CPUs as ports poll a port each; twice as many
    poll one direction of one port each, senders first. `megabytes` is DPDK's memory,
    by default what the ports need.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: Literal["engine"] = "engine"
    cpus: tuple[int, ...] = Field(default=(0,), min_length=1, max_length=64)
    megabytes: int | None = Field(default=None, ge=64, le=65536)

    def megabytes_for(self, port_count: int, descriptors: int, max_frame_bytes: int) -> int:
        """The engine's memory in MB: as set, or for the buffers that it makes for each port.

        `max_frame_bytes` is without FCS. The numbers are those of engine/src/ports/ports.c.
        """
        if self.megabytes is not None:
            return self.megabytes
        mbufs = 2 * (2 * descriptors + _MBUFS_BESIDE_DESCRIPTORS)
        room = max(_MBUF_LEAST_ROOM, _MBUF_HEADROOM + max_frame_bytes)
        return _BASE_MEGABYTES + -(-port_count * mbufs * (room + _MBUF_OVERHEAD) // 2**20)

    def layout(self, port_count: int) -> tuple[WorkerLayout, ...]:
        """The polling loops for `port_count` ports. Raises InputError when the CPUs do not fit."""
        ports = tuple(range(port_count))
        if len(self.cpus) == 1:
            return (WorkerLayout(self.cpus[0], ports, ports),)
        if len(self.cpus) == port_count:
            return tuple(
                WorkerLayout(cpu, (port,), (port,))
                for cpu, port in zip(self.cpus, ports, strict=True)
            )
        if len(self.cpus) == 2 * port_count:
            senders, receivers = self.cpus[:port_count], self.cpus[port_count:]
            return (
                *(WorkerLayout(cpu, (port,), ()) for cpu, port in zip(senders, ports, strict=True)),
                *(
                    WorkerLayout(cpu, (), (port,))
                    for cpu, port in zip(receivers, ports, strict=True)
                ),
            )
        raise InputError(
            f"{len(self.cpus)} CPUs cannot poll {port_count} ports",
            where="generator.cpus",
            remedy=f"give 1 CPU, or {port_count} (one a port), or {2 * port_count} "
            "(one a port and direction)",
        )
