"""An nftables flowtable: the kernel's software fast path between two interfaces of a router."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from plimsoll.dut.needs import NeededProgram, check_option
from plimsoll.dut.sight import DutObservation, Remark, SightEnd
from plimsoll.errors import MachineError
from plimsoll.host.kernel_options import KernelOption
from plimsoll.host.namespaces.flowtable_counts import (
    TABLE,
    FlowtableCounts,
    PathCounts,
    conntrack_max,
    dropped_for_room,
)
from plimsoll.host.namespaces.ip_command import run_program
from plimsoll.host.namespaces.network_namespace import NetworkNamespace, run_within

NFT = NeededProgram("nft", "nftables")
OPTIONS = (
    KernelOption("NF_TABLES", "nf_tables", "nftables"),
    KernelOption("NF_CONNTRACK", "nf_conntrack", "connection tracking"),
    KernelOption("NF_FLOW_TABLE", "nf_flow_table", "flowtables"),
    KernelOption("NF_FLOW_TABLE_INET", "nf_flow_table_inet", "flowtables for IPv4 and IPv6"),
    KernelOption("NFT_FLOW_OFFLOAD", "nft_flow_offload", "flow offload by nftables"),
)
# How long a UDP flow that was in the flowtable keeps its entry once it has ended: the 30 s of
# nf_flowtable_udp_timeout are part of the 120 s of nf_conntrack_udp_timeout_stream.
FLOW_MEMORY_S = 120.0
_FLOWTABLE = "fastpath"
# The flowtable itself is at 0.
_BEHIND_FLOWTABLE = 10
_TIMEOUTS = Path("/proc/sys/net/netfilter")


def check_flowtable(where: str) -> None:
    """Raise MachineError placed at `where` if the kernel or nft is known not to be there."""
    for option in OPTIONS:
        check_option(option, where)
    NFT.find()


def check_room(flows: int) -> None:
    """Raise MachineError if connection tracking takes fewer flows; it may not be loaded yet."""
    most = conntrack_max()
    if most is not None and flows > most:
        raise MachineError(
            f"{flows:,} flows may be tracked at a time, and this kernel tracks {most:,} of a "
            "network namespace, and drops the frames of all others",
            where="lab.flowtable",
            remedy=f"sysctl -w net.netfilter.nf_conntrack_max={flows}, or use fewer flows",
        )


def ruleset(interfaces: tuple[str, ...]) -> str:
    """The table, in nft's own language.

    Flows are put into the flowtable from the forward hook. Frames that the flowtable then takes
    reach neither that hook nor the counters, which are next to it on the ingress hook.
    """
    devices = ", ".join(interfaces)
    chains = "".join(
        f"""
    counter {name} {{ }}
    chain slow-path-{name} {{
        type filter hook ingress device {name} priority {_BEHIND_FLOWTABLE}; policy accept;
        counter name {name}
    }}"""
        for name in interfaces
    )
    return f"""table inet {TABLE} {{
    flowtable {_FLOWTABLE} {{
        hook ingress priority 0; devices = {{ {devices} }};
    }}{chains}
    chain forward {{
        type filter hook forward priority 0; policy accept;
        meta l4proto {{ tcp, udp }} flow add @{_FLOWTABLE}
    }}
}}
"""


class Flowtable:
    """One of a router's namespace, upon `interfaces`, and gone with it."""

    def __init__(self, interfaces: tuple[str, ...]) -> None:
        self._interfaces = interfaces

    def add(self, namespace: NetworkNamespace) -> None:
        """Load the table, and read it back. Raises MachineError."""
        run_program(
            namespace.enter(NFT.find(), "-f", "-"),
            given=ruleset(self._interfaces),
            where="lab.flowtable",
            subject="nft refuses the flowtable",
        )
        check_loaded(self._table(namespace), self._interfaces)

    def version(self) -> str:
        """nft's own: "nftables v1.0.6"."""
        return " ".join(run_program((NFT.find(), "--version")).split()[:2])

    def facts(self, namespace: NetworkNamespace) -> dict[str, object]:
        """The flowtable as the kernel has it, and what decides how long a flow stays in it."""
        loaded = flowtable_of(self._table(namespace))
        return {
            **{name: loaded.get(name) for name in ("name", "hook", "prio", "dev")},
            "timeouts_s": run_within(namespace.path, _timeouts_s),
            "conntrack_max": conntrack_max(),
        }

    def start_observation(self, namespace: NetworkNamespace) -> SightEnd:
        """Read the counters before a trial; the end reads them after."""
        before = run_within(namespace.path, _figures)

        def end() -> DutObservation:
            after = run_within(namespace.path, _figures)
            return DutObservation(remarks=tuple(remarks(before, after)))

        return end

    def _table(self, namespace: NetworkNamespace) -> list[dict[str, Any]]:
        words = ("-j", "list", "table", "inet", TABLE)
        return objects_of(run_program(namespace.enter(NFT.find(), *words), where="lab.flowtable"))


def objects_of(answer: str) -> list[dict[str, Any]]:
    """What `nft -j list` prints: objects of one member each, by their kind."""
    listed: list[dict[str, Any]] = json.loads(answer)["nftables"]
    return listed


def flowtable_of(table: list[dict[str, Any]]) -> Mapping[str, Any]:
    """The lab's flowtable; empty where it is not listed."""
    found = (each["flowtable"] for each in table if "flowtable" in each)
    return next((each for each in found if each["name"] == _FLOWTABLE), {})


def check_loaded(table: list[dict[str, Any]], interfaces: tuple[str, ...]) -> None:
    """Raise MachineError where a table is not what was loaded into the kernel."""
    devices = flowtable_of(table).get("dev", ())
    flow = {"flow": {"op": "add", "flowtable": f"@{_FLOWTABLE}"}}
    filled = any(flow in each["rule"]["expr"] for each in table if "rule" in each)
    if sorted(devices) != sorted(interfaces) or not filled:
        raise MachineError(
            f"the flowtable is not as it was loaded: upon {', '.join(devices) or 'nothing'}, "
            f"{'with' if filled else 'without'} a rule that adds flows",
            where="lab.flowtable",
            remedy="look at it with nft list ruleset, or use another version of nft",
        )


TrialFigures = tuple[Mapping[str, PathCounts], int | None]


def remarks(before: TrialFigures, after: TrialFigures) -> Iterator[Remark]:
    """Of a trial: by which path frames went, port by port, and what connection tracking dropped."""
    (paths_before, dropped_before), (paths_after, dropped_after) = before, after
    for port, now in paths_after.items():
        earlier = paths_before.get(port, PathCounts(0, 0))
        received, slow = now.received - earlier.received, now.slow - earlier.slow
        if received:
            yield Remark(
                rule="flowtable",
                subject=port,
                value=received - slow,
                limit=None,
                unit="frames",
                text=f"of {received:,} frames that {port} received, {received - slow:,} took the "
                f"flowtable's fast path and {slow:,} the slow path",
            )
    dropped = (dropped_after or 0) - (dropped_before or 0)
    if dropped:
        yield Remark(
            rule="conntrack-full",
            subject="router",
            value=dropped,
            limit=0,
            unit="packets",
            text=f"{dropped:,} packets were dropped because connection tracking had no room for "
            "their flows; raise net.netfilter.nf_conntrack_max, or use fewer flows",
        )


def _figures() -> TrialFigures:
    """Within the namespace."""
    counts = FlowtableCounts()
    try:
        return counts.read(), dropped_for_room()
    finally:
        counts.close()


def _timeouts_s() -> dict[str, int]:
    """Within the namespace: how long a flow stays without a frame, by protocol."""
    files = {each: _TIMEOUTS / f"nf_flowtable_{each}_timeout" for each in ("udp", "tcp")}
    return {each: int(path.read_text()) for each, path in files.items() if path.exists()}
