"""TRex's commands that read counters."""

from __future__ import annotations

from typing import Any

from plimsoll.remote.trex.commands.parameters import RequestParameters
from plimsoll.remote.trex.commands.port_commands import port_of
from plimsoll.remote.trex.session.statistics import (
    XSTATS,
    active_groups,
    global_statistics,
    group_statistics,
    port_statistics,
    port_xstats,
)
from plimsoll.remote.trex.session.trex_session import TrexSession


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
