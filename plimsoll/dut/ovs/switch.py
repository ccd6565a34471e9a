"""The bridge of an Open vSwitch with two ports: set up, its ports opened, its counters."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from plimsoll.dut.ovs.instance import BRIDGE, OvsInstance
from plimsoll.errors import MachineError

PORTS = ("port0", "port1")

_PORT_LINE = re.compile(r"^\s*port\s+\"?([^:\"]+)\"?:\s*rx pkts=(\d+).*drop=(\S+), errs=(\S+),")
_TX_LINE = re.compile(r"^\s*tx pkts=(\d+).*drop=(\S+), errs=(\S+),")


@dataclass(frozen=True, slots=True)
class PortCounts:
    """OpenFlow's counters of one port (OFPST_PORT); 0 where the switch does not count."""

    rx_packets: int
    rx_dropped: int
    rx_errors: int
    tx_packets: int
    tx_dropped: int
    tx_errors: int


def build_bridge(
    switch: OvsInstance,
    ports: Sequence[Sequence[str]],
    datapath: Literal["netdev", "system"] = "netdev",
) -> None:
    """Make the bridge with two ports, OpenFlow's 1 and 2, and no rules.

    `ports[n]` are the settings of the Interface `port<n>` in ovs-vsctl's words. Raises
    MachineError where the switch cannot open one.
    """
    secure = "fail_mode=secure"
    bridge = ("add-br", BRIDGE, "--", "set", "Bridge", BRIDGE, f"datapath_type={datapath}", secure)
    added = [
        word
        for number, (name, settings) in enumerate(zip(PORTS, ports, strict=True), start=1)
        for word in (
            *("--", "add-port", BRIDGE, name),
            *("--", "set", "Interface", name, f"ofport_request={number}", *settings),
        )
    ]
    switch.configure(*bridge, *added)
    for name in PORTS:
        _check_opened(switch, name)


def port_counts(switch: OvsInstance) -> tuple[PortCounts, ...]:
    """OpenFlow's counters of both ports. Raises MachineError where they cannot be read."""
    found = read_port_counts(switch.openflow("dump-ports"))
    # ovs-ofctl has the numbers of ports, or their names where it knows them.
    return tuple(
        found[str(number)] if str(number) in found else found[name]
        for number, name in enumerate(PORTS, start=1)
    )


def read_port_counts(text: str) -> dict[str, PortCounts]:
    """What `ovs-ofctl dump-ports` prints, by port. Raises MachineError for anything else."""
    found: dict[str, PortCounts] = {}
    lines = text.splitlines()
    for line, after in pairwise(lines):
        if rx := _PORT_LINE.match(line):
            tx = _TX_LINE.match(after)
            if tx is None:
                raise _unreadable(after)
            found[rx[1].strip()] = PortCounts(*_counts(rx.groups()[1:]), *_counts(tx.groups()))
    if len(found) < len(PORTS):
        raise _unreadable(text)
    return found


def _counts(given: Sequence[str]) -> tuple[int, ...]:
    """A "?" is what the switch does not count."""
    return tuple(int(each) if each.isdigit() else 0 for each in given)


def _unreadable(text: str) -> MachineError:
    return MachineError(
        f"these are not the counters of two ports: {text.strip()[:200]!r}",
        where="ovs-ofctl dump-ports",
        remedy="check the version of Open vSwitch",
    )


def _check_opened(switch: OvsInstance, name: str) -> None:
    error = switch.configure("get", "Interface", name, "error").strip()
    if error not in ("[]", '""'):
        raise MachineError(
            f"Open vSwitch cannot open {name}: {error}",
            where="lab",
            remedy="see ovs-vswitchd.log in the lab's directory",
        )
