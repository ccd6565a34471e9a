"""The bridge of an Open vSwitch: set up, its ports opened, its counters."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeVar

from plimsoll.dut.ovs.figures import Datapath
from plimsoll.dut.ovs.instance import BRIDGE, OvsInstance
from plimsoll.errors import MachineError

PORTS = ("port0", "port1")
# The number of a port depends on which others there are, guests' among them.
_NAMES = "--names"

Counted = TypeVar("Counted")

_PORT_LINE = re.compile(r"^\s*port\s+\"?([^:\"]+)\"?:\s*rx pkts=(\d+).*drop=(\S+), errs=(\S+),")
_TX_LINE = re.compile(r"^\s*tx pkts=(\d+).*drop=(\S+), errs=(\S+),")
# Of a port of DPDK, what a policer took of what came in, and what did not fit into its queue or may
# not leave by it; answered to requests by OpenFlow 1.4 or newer, as they stand.
_DROPS = re.compile(r"\bovs_(rx|tx)_\w+_drops=(\d+)")
_ANY_PORT = re.compile(r"^\s*port\s+\"?([^:\"]+?)\"?:\s*rx pkts=")
_CROSSED = re.compile(
    r"n_packets=(\d+),.* in_port=\"?([^ ,\"]+)\"? actions=output:\"?([^ ,\"]+)\"?"
)


# Beside the kernel's LinkCounters, which are of an interface and not of a switch's port.
@dataclass(frozen=True, slots=True)
class SwitchPortCounts:
    """OpenFlow's counters of one port (OFPST_PORT); 0 where the switch does not count."""

    rx_packets: int
    rx_dropped: int
    rx_errors: int
    tx_packets: int
    tx_dropped: int
    tx_errors: int


@dataclass(frozen=True, slots=True)
class CrossCount:
    """How many frames the rule took from the port `into` to the port `out_of` it."""

    into: str
    out_of: str
    frames: int


@dataclass(frozen=True, slots=True)
class PortDrops:
    """Frames that came in at a port and were dropped before any rule, and that it was to send."""

    received: int
    sent: int


def build_bridge(
    switch: OvsInstance,
    ports: Mapping[str, Sequence[str]],
    datapath: Datapath = "netdev",
    name: str = BRIDGE,
) -> None:
    """Make the bridge `name` with its ports, OpenFlow's 1, 2, …, and no rules.

    `ports` has the settings of each Interface in ovs-vsctl's words, by name and in the order of
    the chain. Raises MachineError where the switch cannot make it, or cannot open one.
    """
    secure = "fail_mode=secure"
    bridge = ("add-br", name, "--", "set", "Bridge", name, f"datapath_type={datapath}", secure)
    added = [
        word
        for number, (port, settings) in enumerate(ports.items(), start=1)
        for word in (
            *("--", "add-port", name, port),
            *("--", "set", "Interface", port, f"ofport_request={number}", *settings),
        )
    ]
    switch.configure(*bridge, *added)
    _check_made(switch, name, datapath)
    for port in ports:
        _check_opened(switch, port)


def port_counts(
    switch: OvsInstance, ports: Sequence[str] = PORTS, bridge: str = BRIDGE
) -> tuple[SwitchPortCounts, ...]:
    """OpenFlow's counters of the ports. Raises MachineError where they cannot be read."""
    found = read_port_counts(switch.openflow("dump-ports", _NAMES, bridge=bridge))
    return tuple(_named(found, name) for name in ports)


def cross_counts(switch: OvsInstance) -> tuple[CrossCount, ...]:
    """What the rules that join two ports have counted, by the ports' names.

    The datapath counts at once and tells the rules now and then; this waits until it has.
    Raises MachineError where they cannot be read.
    """
    switch.ask("revalidator/wait")
    counted = read_cross_counts(switch.openflow("dump-flows", _NAMES))
    return tuple(CrossCount(into, out_of, frames) for into, out_of, frames in counted)


def read_cross_counts(text: str) -> Iterator[tuple[str, str, int]]:
    """Of each rule in what `ovs-ofctl dump-flows` prints: its in_port, its output, its frames."""
    for line in text.splitlines():
        if counted := _CROSSED.search(line):
            yield counted[2], counted[3], int(counted[1])


def port_drops(
    switch: OvsInstance, ports: Sequence[str], bridge: str = BRIDGE
) -> dict[str, PortDrops]:
    """Frames that a port of DPDK dropped, by name."""
    answer = switch.openflow("dump-ports", _NAMES, version="OpenFlow14", bridge=bridge)
    found = read_port_drops(answer)
    return {name: _named(found, name) for name in ports}


def read_port_drops(text: str) -> dict[str, PortDrops]:
    """What `ovs-ofctl -O OpenFlow14 dump-ports` prints of them, by port."""
    found: dict[str, PortDrops] = {}
    port = None
    for line in text.splitlines():
        if named := _ANY_PORT.match(line):
            port = named[1].strip()
            found[port] = PortDrops(0, 0)
        elif port is not None:
            dropped = Counter[str]()
            for way, count in _DROPS.findall(line):
                dropped[way] += int(count)
            received, sent = found[port].received, found[port].sent
            found[port] = PortDrops(received + dropped["rx"], sent + dropped["tx"])
    return found


def _named(found: Mapping[str, Counted], name: str) -> Counted:
    if name not in found:
        raise _unreadable(f"no {name} among {', '.join(found)}")
    return found[name]


def read_port_counts(text: str) -> dict[str, SwitchPortCounts]:
    """What `ovs-ofctl dump-ports` prints, by port. Raises MachineError for anything else."""
    found: dict[str, SwitchPortCounts] = {}
    lines = text.splitlines()
    for line, after in pairwise(lines):
        if rx := _PORT_LINE.match(line):
            tx = _TX_LINE.match(after)
            if tx is None:
                raise _unreadable(after)
            found[rx[1].strip()] = SwitchPortCounts(
                *_counts(rx.groups()[1:]), *_counts(tx.groups())
            )
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


def _check_made(switch: OvsInstance, name: str, datapath: Datapath) -> None:
    """The switch's own word: its database has a bridge also where no datapath came of it."""
    if f"{name}:" in (line.strip() for line in switch.ask("dpif/show").splitlines()):
        return
    loaded = "; the kernel's datapath is the module openvswitch" if datapath == "system" else ""
    raise MachineError(
        f"Open vSwitch cannot make a bridge of the datapath {datapath}",
        where="lab",
        remedy=f"see ovs-vswitchd.log in the lab's directory{loaded}",
    )


def _check_opened(switch: OvsInstance, name: str) -> None:
    error = switch.configure("get", "Interface", name, "error").strip()
    if error not in ("[]", '""'):
        raise MachineError(
            f"Open vSwitch cannot open {name}: {error}",
            where="lab",
            remedy="see ovs-vswitchd.log in the lab's directory",
        )
