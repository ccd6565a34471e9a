"""TRex's commands about the server itself."""

from __future__ import annotations

import os
from typing import Any

from plimsoll.remote.trex.commands.parameters import RequestParameters
from plimsoll.remote.trex.commands.port_commands import port_of
from plimsoll.remote.trex.messages.json_rpc import BadParameters, MethodRefused
from plimsoll.remote.trex.session.statistics import (
    XSTATS,
    active_groups,
    global_statistics,
    group_statistics,
    port_statistics,
    port_xstats,
)
from plimsoll.remote.trex.session.trex_session import TrexSession

# As in TRex's servers of v3.0x: what its clients of today ask for.
_API_NAME, _API_MAJOR, _API_MINOR = "STL", 5, 1
# TRex's version whose stateless RPC this is.
_TREX_VERSION = "v3.08"
_CPU_HISTORY = 20


def api_sync_v2(session: TrexSession, params: RequestParameters) -> dict[str, str]:
    """Agree on the RPC's version; returns the key of all other requests."""
    name, major, minor = (
        params.text("name"),
        params.integer("major"),
        params.integer("minor"),
    )
    if name != _API_NAME:
        raise MethodRefused(
            f"this server speaks TRex's stateless RPC ({_API_NAME}), and not {name}"
        )
    if major != _API_MAJOR or minor > _API_MINOR:
        raise MethodRefused(
            f"Version mismatch: client's API is {major}.{minor}, the server's "
            f"{_API_MAJOR}.{_API_MINOR}"
        )
    return {"api_h": session.api_handler}


def ping(session: TrexSession, params: RequestParameters) -> dict[str, float]:
    """Whether the server is there."""
    return {"ts": 0.0}


def get_version(session: TrexSession, params: RequestParameters) -> dict[str, str]:
    """Ours, next to that of TRex's RPC."""
    return {
        "version": _TREX_VERSION,
        "build_date": "",
        "build_time": "",
        "built_by": f"plimsoll {session.identity.version}",
        "mode": "STL",
    }


def get_system_info(session: TrexSession, params: RequestParameters) -> dict[str, Any]:
    """The host and its ports."""
    return {
        "hostname": session.identity.hostname,
        "uptime": session.identity.started,
        "dp_core_count": 1,
        "dp_core_count_per_port": 1,
        "core_type": os.uname().machine,
        "is_multiqueue_mode": False,
        "advanced_per_stream_stats": True,
        "port_count": len(session.ports),
        "ports": [_port_info(session, number) for number in range(len(session.ports))],
    }


def _port_info(session: TrexSession, number: int) -> dict[str, Any]:
    info, port = session.traffic.ports[number], session.ports[number]
    return {
        "index": number,
        "driver": info.driver,
        "description": info.devargs[:64],
        "pci_addr": info.devargs[:64],
        "numa": -1 if info.numa_node is None else info.numa_node,
        "hw_mac": info.mac,
        "stack": "legacy",
        "is_fc_supported": False,
        "is_led_supported": False,
        "is_link_supported": False,
        "is_prom_supported": False,
        "is_vxlan_supported": False,
        "is_ieee1588_supported": False,
        # After the end of a virtual port's traffic clients wait 100 ms, not 10, before they look at
        # their clock: for frames that are counted late, of which ours has none.
        "is_virtual": False,
        "supp_speeds": [round(port.tester.line_rate_bps / 1e6)],
        "speed": port.tester.line_rate_bps / 1e9,
        "cores": [0],
        "rx": {"caps": ["flow_stats", "latency", "rx_bytes"], "counters": 1023},
    }


def get_utilization(session: TrexSession, params: RequestParameters) -> dict[str, Any]:
    """Of the form that clients read; polling loops are always busy, and nothing is kept."""
    ports = [port.number for port in session.ports[:2]]
    idle = {
        "history": [0] * _CPU_HISTORY,
        "ports": [*ports, -1, -1][:2],
    }
    return {"cpu": [idle], "mbuf_stats": {"cpu-socket-0": {"2048b": [1, 1]}}}


def get_async_events(session: TrexSession, params: RequestParameters) -> dict[str, Any]:
    """What has happened since the last request of a session."""
    return {"data": session.events.take(params.integer("session_id")), "is_data": True}


def publish_now(session: TrexSession, params: RequestParameters) -> dict[str, Any]:
    """Rouse everybody who waits for events."""
    params.integer("key")
    session.events.rouse()
    return {}


def get_global_cfg(session: TrexSession, params: RequestParameters) -> dict[str, Any]:
    """Knobs of TRex's scheduler, which ours does not have."""
    return {"sched_max_stretch": 0.0, "process_at_cp": False, "do_mbuf_cache": True}


def set_global_cfg(session: TrexSession, params: RequestParameters) -> dict[str, Any]:
    """Refused: there is nothing to set."""
    raise MethodRefused(
        "sched_max_stretch and its like are TRex's scheduler's; ours has none of them"
    )


def get_tpg_status(session: TrexSession, params: RequestParameters) -> dict[str, Any]:
    """Tagged packet groups, which clients ask for as they connect, are off."""
    return {"enabled": False, "data": {}}


def shutdown(session: TrexSession, params: RequestParameters) -> dict[str, Any]:
    """Refused: its own user ends the server."""
    raise MethodRefused(
        "shutdown: a client cannot end this server; who started it can, with Ctrl-C"
    )


def get_async_results(session: TrexSession, params: RequestParameters) -> dict[str, Any]:
    """There are no tasks of their own."""
    raise BadParameters("no such ticket")


def get_global_stats(session: TrexSession, params: RequestParameters) -> dict[str, Any]:
    """Of all ports together."""
    return global_statistics(session.traffic.counts(), session.sender.retired)


def get_port_stats(session: TrexSession, params: RequestParameters) -> dict[str, Any]:
    """Of one port."""
    number = port_of(session, params).number
    return port_statistics(session.traffic.counts(), session.sender.retired, number)


def get_port_xstats_names(session: TrexSession, params: RequestParameters) -> dict[str, Any]:
    """The names of a port's further counters."""
    port_of(session, params)
    return {"xstats_names": list(XSTATS)}


def get_port_xstats_values(session: TrexSession, params: RequestParameters) -> dict[str, Any]:
    """And what they are."""
    number = port_of(session, params).number
    return {"xstats_values": port_xstats(session.traffic.counts(), session.sender.retired, number)}


def get_active_pgids(session: TrexSession, params: RequestParameters) -> dict[str, Any]:
    """The packet groups of all streams."""
    return {"ids": active_groups(session.ports)}


def get_pgid_stats(session: TrexSession, params: RequestParameters) -> dict[str, Any]:
    """Counters and latencies of packet groups."""
    groups = params.integers("pgids")
    counts, gone = session.traffic.counts(), session.sender.retired
    return group_statistics(counts, gone, session.ports, groups)
