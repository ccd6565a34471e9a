"""What VPP prints on its command line, as read: counters, links, routes, the work of its nodes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from plimsoll.dut.lab import DutPortCounters
from plimsoll.dut.sight import Remark
from plimsoll.errors import MachineError

# "       123            memif1/1-tx               no free tx slots            error"
_ERROR = re.compile(r"^\s*(\d+)\s+(\S+)\s+(\S.*?)\s{2,}(\S+)\s*$")
# "         32               3", of a length of prefixes.
_PREFIXES = re.compile(r"^\s+\d+\s+(\d+)\s*$", re.MULTILINE)
# "        192.0.2.2 memif1/1", of a route's path.
_PATH = re.compile(r"^\s+([0-9a-f]*[.:][0-9a-f.:]+ \S+)\s*$", re.MULTILINE)
# "ip4-lookup     active     802309     52428216     0     1.03e1     65.35": calls, packets, times
# suspended, clocks of each packet, packets of each call.
_NODE_RUN = re.compile(r"^(\S+) +\S.*? +(\d+) +(\d+) +\d+ +([\d.e+-]+) +[\d.e+-]+ *$")
_THREAD = re.compile(r"^Thread \d+ (\S+)")
_WORKER = "vpp_wk_"
# The first node after those that poll, through which every frame goes.
_FIRST_NODE = "ethernet-input"
_LONGEST_VECTOR = 256
_COLUMNS = re.compile(r"\s{2,}")
# Why a driver sent less than its interface counts: memif's, and DPDK's, which is a `tx-error` too.
_NO_ROOM, _NOT_SENT = "no free tx slots", "Tx packet drops (dpdk tx failure)"
# Others only tell how often a node did its work ("L2 learn packets").
_SEVERE = ("error", "warn")

_CountsByName = Mapping[str, Mapping[str, int]]


@dataclass(frozen=True, slots=True)
class NodeError:
    """Why a node of VPP's graph counted a packet, mostly one that it dropped."""

    node: str
    reason: str
    severity: str


@dataclass(frozen=True, slots=True)
class NodeRun:
    """What a node of VPP's graph did in its worker since `clear runtime`."""

    node: str
    calls: int
    packets: int
    clocks_per_packet: float


def read_interfaces(text: str) -> dict[str, dict[str, int]]:
    """`show interface`: the counters of each by name, of which VPP leaves out those of 0."""
    found: dict[str, dict[str, int]] = {}
    counters: dict[str, int] = {}
    for line in text.splitlines()[1:]:
        columns = _COLUMNS.split(line.strip())
        if line[:1].strip():
            counters = found.setdefault(columns[0], {})
        if len(columns) > 1 and columns[-1].isdecimal():
            counters[columns[-2]] = int(columns[-1])
    return found


def read_errors(text: str) -> dict[NodeError, int]:
    """`show errors`: how often each was counted, by all threads together."""
    found: dict[NodeError, int] = {}
    for line in text.splitlines():
        if match := _ERROR.match(line):
            error = NodeError(match[2], match[3], match[4])
            found[error] = found.get(error, 0) + int(match[1])
    return found


def read_runtime(text: str) -> tuple[NodeRun, ...]:
    """`show runtime`: the nodes that handled packets in VPP's workers."""
    found: list[NodeRun] = []
    in_worker = False
    for line in text.splitlines():
        if thread := _THREAD.match(line):
            in_worker = thread[1].startswith(_WORKER)
        elif in_worker and (match := _NODE_RUN.match(line)) and int(match[3]):
            found.append(NodeRun(match[1], int(match[2]), int(match[3]), float(match[4])))
    return tuple(found)


def port_counters(
    port: int, name: str, interfaces: _CountsByName, errors: Mapping[NodeError, int]
) -> DutPortCounters:
    """VPP's of one port. Raises MachineError where it does not list the port.

    An interface counts a frame as sent before its driver looks for room in the ring, so those
    that found none are taken off.
    """
    if name not in interfaces:
        raise MachineError(
            f"`show interface` of VPP does not list {name}",
            where="lab",
            remedy="install VPP v26.06, or report what it prints",
        )
    counts = interfaces[name]
    lost = {each.reason: count for each, count in errors.items() if each.node == f"{name}-tx"}
    no_room = lost.get(_NO_ROOM, 0)
    return DutPortCounters(
        port=port,
        rx_frames=counts.get("rx packets", 0),
        tx_frames=counts.get("tx packets", 0) - no_room - lost.get(_NOT_SENT, 0),
        rx_missed=counts.get("rx-miss", 0),
        rx_errors=counts.get("rx-error", 0),
        tx_errors=counts.get("tx-error", 0) + no_room,
        rx_no_mbuf=counts.get("rx-no-buf", 0),
    )


def links_up(text: str) -> set[str]:
    """`show hardware-interfaces`: the names of those whose link is up."""
    lines = (line.split() for line in text.splitlines() if line[:1].strip())
    return {words[0] for words in lines if words[2:3] == ["up"]}


def entry_count(text: str) -> int:
    """`show ip fib summary`: the entries of all lengths of prefix, VPP's own among them."""
    return sum(int(count) for count in _PREFIXES.findall(text))


def next_hop_of(text: str) -> str | None:
    """`show ip fib PREFIX`: the next hop and its interface, "192.0.2.2 memif1/1"."""
    match = _PATH.search(text)
    return match[1] if match else None


def error_remarks(
    before: Mapping[NodeError, int], after: Mapping[NodeError, int]
) -> Iterator[Remark]:
    """Of a trial: what VPP's nodes counted as errors in it, and why."""
    for error, count in after.items():
        grown = count - before.get(error, 0)
        if grown and error.severity in _SEVERE:
            yield Remark(
                rule="vpp-errors",
                subject=error.node,
                value=grown,
                limit=None,
                unit="packets",
                text=f"VPP counted {grown:,} packets at its node {error.node}: {error.reason}",
            )


def vector_remark(runs: tuple[NodeRun, ...]) -> Iterator[Remark]:
    """Of a trial: how many packets VPP took at a time, and at what cost: both say how busy it was.

    The clocks of a node that polls are those of its idle calls, too.
    """
    for run in runs:
        if run.node == _FIRST_NODE and run.calls:
            size = run.packets / run.calls
            costs = ", ".join(f"{each.node} {each.clocks_per_packet:.3g}" for each in runs)
            yield Remark(
                rule="vpp-vectors",
                subject="worker",
                value=size,
                limit=None,
                unit="packets",
                text=f"VPP took {size:.1f} packets at a time, of {_LONGEST_VECTOR} at most; "
                f"clocks of each packet by node: {costs}",
            )
