"""The tester's ends of wires, once the DUT is there: opened as a lab of ports that are watched."""

from __future__ import annotations

from collections.abc import Sequence

from plimsoll.dut.lab import LabPorts
from plimsoll.dut.netdev_lab import NetdevLab
from plimsoll.dut.passive import PassiveLab
from plimsoll.dut.ports.tester_ports import TesterPortSettings, open_tester_ports
from plimsoll.dut.two_ports import PATHS
from plimsoll.errors import MachineError
from plimsoll.host.ports.link_state import read_link_state
from plimsoll.host.processes.comes_true import comes_true

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
    if not comes_true(lambda: all(map(_has_carrier, names)), _CARRIER_TIMEOUT_S, every_s=_POLL_S):
        down = [name for name in names if not _has_carrier(name)]
        raise MachineError(
            f"{', '.join(down or names)} still without carrier after {_CARRIER_TIMEOUT_S:g} s",
            where="lab",
            remedy="look at ip link, and start again",
        )


def _has_carrier(name: str) -> bool:
    link = read_link_state(name)
    return link is not None and link.carrier
