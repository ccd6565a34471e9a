"""Labs of ports that are simply there: wires of the kernel's, watched while trials run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from plimsoll.dut.lab import DutPortCounters, DutProcess, LabPorts, LinkGone, LinkWatch
from plimsoll.dut.ports.tester_ports import TesterPortSettings, open_tester_ports
from plimsoll.dut.two_ports import PATHS
from plimsoll.errors import MachineError
from plimsoll.host.ports.netdevs import SYS, LinkState, read_link_state
from plimsoll.host.processes.child import wait_until


class PassiveLab:
    """Nothing to start, watch or read; the tester's own ports tell whether links are up."""

    def __init__(self, kind: str, ports: LabPorts) -> None:
        self.kind = kind
        self._ports = ports

    def up(self) -> LabPorts:
        """Name the ports."""
        return self._ports

    def wait_links(self, timeout_s: float) -> None:
        """Return at once: only the tester sees these links."""

    def check(self) -> None:
        """Return: there is no process that could have died."""

    def watch_links(self) -> LinkWatch:
        """A watch that sees nothing: the tester's ports know their own links."""
        return lambda: ()

    def counters(self) -> tuple[DutPortCounters, ...] | None:
        """None: there is no DUT whose counters could be read."""
        return None

    def processes(self) -> tuple[DutProcess, ...]:
        """None that we know of."""
        return ()

    def facts(self) -> dict[str, object]:
        """The ports as given to the tester."""
        return {"devargs": list(self._ports.devargs)}

    def down(self) -> None:
        """Nothing to take down."""


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


_DESCRIPTORS = 1024
_CARRIER_TIMEOUT_S = 10.0
_POLL_S = 0.01


def open_wired(
    kind: str,
    ends: Sequence[TesterPortSettings],
    place: str,
    *,
    frame_size: int,
    line_rate_bps: float | None,
    notes: Sequence[str] = (),
) -> PassiveLab:
    """The ports of the lab `kind`, for frames of up to `frame_size` bytes with FCS.

    `place` is where they are written; without `line_rate_bps` the links' speed is the line rate,
    L1. Waits for the carriers of interfaces. Raises InputError and MachineError.
    """
    _wait_for_carriers([end.netdev for end in ends if end.netdev])
    opened = open_tester_ports(ends, place, frame_size)
    ports = LabPorts(
        devargs=opened.devargs,
        descriptors=_DESCRIPTORS,
        queue_frames=min(_DESCRIPTORS, opened.queue_frames or _DESCRIPTORS),
        paths=PATHS,
        drained_by="wire",
        line_rate_bps=line_rate_bps or opened.speed_bps,
        notes=(*opened.notes, *notes),
    )
    if not opened.netdevs:
        return PassiveLab(kind, ports)
    return NetdevLab(kind, ports, opened.netdevs, place)


def _wait_for_carriers(names: Sequence[str]) -> None:
    if not wait_until(lambda: all(map(_has_carrier, names)), _CARRIER_TIMEOUT_S, every_s=_POLL_S):
        down = [name for name in names if not _has_carrier(name)]
        raise MachineError(
            f"{', '.join(down or names)} still without carrier after {_CARRIER_TIMEOUT_S:g} s",
            where="lab",
            remedy="look at ip link, and start again",
        )


def _has_carrier(name: str) -> bool:
    link = read_link_state(name)
    return link is not None and link.carrier
