"""A lab behind interfaces of the kernel: they may vanish, or lose their carrier, in mid-trial."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from plimsoll.dut.lab import LabPorts, LinkGone, LinkWatch
from plimsoll.dut.passive import PassiveLab
from plimsoll.host.ports.link_state import LinkState, read_link_state
from plimsoll.host.ports.netdevs import SYS


class NetdevLab(PassiveLab):
    """Ports some of which are interfaces: `netdevs` are their names by port.

    `place` is where the ports are written, for messages.
    """

    def __init__(
        self,
        kind: str,
        ports: LabPorts,
        netdevs: Mapping[int, str],
        place: str,
        sys: Path = SYS,
    ) -> None:
        super().__init__(kind, ports)
        self._netdevs = dict(netdevs)
        self._place = place
        self._sys = sys
        self._indexes: dict[int, int] = {}

    def up(self) -> LabPorts:
        """Name the ports, and remember which interfaces they are."""
        self._indexes = {port: link.index for port, link in self._links().items()}
        return super().up()

    def check(self) -> None:
        """Raise LinkGone if an interface is no longer there."""
        self._links()

    def watch_links(self) -> LinkWatch:
        """Watch the carriers: DPDK's drivers for interfaces may claim a link that is not there."""
        before = self._links()

        def lost() -> tuple[str, ...]:
            return tuple(
                f"interface {self._netdevs[port]}"
                for port, link in self._links().items()
                if not link.carrier or link.losses != before[port].losses
            )

        return lost

    def _links(self) -> dict[int, LinkState]:
        return {port: self._link(port, name) for port, name in self._netdevs.items()}

    def _link(self, port: int, name: str) -> LinkState:
        link = read_link_state(name, self._sys)
        if link is None or self._indexes.get(port, link.index) != link.index:
            raise LinkGone(
                f"interface {name} is gone",
                where=f"{self._place}[{port}].netdev",
                remedy="bring it back, and find out who took it away",
            )
        return link
