"""The experiment's `generator` section: which generator, on which CPUs, with how much memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from plimsoll.errors import InputError


@dataclass(frozen=True, slots=True)
class WorkerLayout:
    """One polling loop: its CPU and the ports that it sends on and receives from."""

    cpu: int
    tx_ports: tuple[int, ...]
    rx_ports: tuple[int, ...]


class EngineSettings(BaseModel):
    """Plimsoll's own engine.

    One CPU polls everything; as many CPUs as ports poll a port each; twice as many
    poll one direction of one port each, senders first.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: Literal["engine"] = "engine"
    cpus: tuple[int, ...] = Field(default=(0,), min_length=1, max_length=64)
    megabytes: int = Field(default=192, ge=64, le=65536)

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
