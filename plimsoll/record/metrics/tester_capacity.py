"""What the tester's utilisation is a share of: the speed of its links, and its loops' time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from plimsoll.generator.interface import GeneratorFacts, PortInfo


@dataclass(frozen=True, slots=True)
class TesterCapacity:
    """What is known of it; of what is not, there is no utilisation.

    `link_bps` has the speed of each port's link, L1. `tsc_hz` is the rate of the ticks in
    which polling loops tell their time; `sending` and `receiving` are the CPUs of the loops
    that have queues to send on, and to receive from.
    """

    link_bps: Mapping[int, float] = field(default_factory=dict)
    tsc_hz: float | None = None
    sending: frozenset[int] = frozenset()
    receiving: frozenset[int] = frozenset()

    @classmethod
    def of(
        cls, generator: GeneratorFacts, ports: Iterable[PortInfo], line_rate_bps: float | None
    ) -> TesterCapacity:
        """Of a generator whose ports are open.

        `line_rate_bps`, as the lab states it, stands in where a port states no speed.
        """
        speeds = {
            port.port: line_rate_bps if port.link_mbps is None else port.link_mbps * 1e6
            for port in ports
        }
        return cls(
            link_bps={port: bps for port, bps in speeds.items() if bps},
            tsc_hz=generator.tsc_hz,
            sending=frozenset(worker.cpu for worker in generator.workers if worker.tx),
            receiving=frozenset(worker.cpu for worker in generator.workers if worker.rx),
        )


UNKNOWN_CAPACITY = TesterCapacity()
