"""TRex's commands by name, and what is known of those that are not served."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import Any

from plimsoll.remote.trex.commands import (
    capture_commands,
    port_commands,
    system_commands,
    traffic_commands,
)
from plimsoll.remote.trex.commands.parameters import RequestParameters
from plimsoll.remote.trex.messages.json_rpc import (
    BadParameters,
    MethodRefused,
    Params,
    UnknownMethod,
)
from plimsoll.remote.trex.session.trex_session import TrexSession

Command = Callable[[TrexSession, RequestParameters], Any]

# These need no key: a client asks them before it has one.
_WITHOUT_KEY: dict[str, Command] = {
    "api_sync_v2": system_commands.api_sync_v2,
    "ping": system_commands.ping,
    "get_version": system_commands.get_version,
}
_WITH_KEY: tuple[Command, ...] = (
    system_commands.get_system_info,
    system_commands.get_utilization,
    system_commands.get_async_events,
    system_commands.publish_now,
    system_commands.get_global_cfg,
    system_commands.set_global_cfg,
    system_commands.get_tpg_status,
    capture_commands.capture,
    system_commands.shutdown,
    system_commands.get_async_results,
    port_commands.acquire,
    port_commands.release,
    port_commands.get_owner,
    port_commands.get_port_status,
    port_commands.set_port_attr,
    port_commands.set_l2,
    port_commands.set_l3,
    port_commands.conf_ipv6,
    port_commands.set_vlan,
    port_commands.service,
    port_commands.set_rx_feature,
    port_commands.remove_rx_filters,
    traffic_commands.add_stream,
    traffic_commands.remove_stream,
    traffic_commands.remove_all_streams,
    traffic_commands.get_profile_list,
    traffic_commands.get_stream_list,
    traffic_commands.get_all_streams,
    traffic_commands.get_stream,
    traffic_commands.start_traffic,
    traffic_commands.stop_traffic,
    traffic_commands.pause_traffic,
    traffic_commands.resume_traffic,
    traffic_commands.pause_streams,
    traffic_commands.resume_streams,
    traffic_commands.update_traffic,
    traffic_commands.update_streams,
    traffic_commands.validate,
    system_commands.get_global_stats,
    system_commands.get_port_stats,
    system_commands.get_port_xstats_names,
    system_commands.get_port_xstats_values,
    system_commands.get_active_pgids,
    system_commands.get_pgid_stats,
)
_COMMANDS: dict[str, Command] = _WITHOUT_KEY | {each.__name__: each for each in _WITH_KEY}

# TRex has these, and we do not.
NOT_SERVED = {
    "push_remote": "the server opens no files for its clients; load the capture as a profile",
    "push_pkts": "packets of no stream are not sent; send them as a burst of one",
    "start_capture_port": "packets go to no other program's socket; capture and fetch them",
    "stop_capture_port": "packets go to no other program's socket; capture and fetch them",
    "set_capture_port_bpf": "packets go to no other program's socket; capture and fetch them",
    "get_rx_queue_pkts": "there are no receive queues; capture and fetch packets",
    "conf_ns_batch": "there are no name spaces of emulated hosts",
    "cancel_async_task": "there are no tasks of their own",
    "enable_tpg": "tagged packet groups are counted by tags, which we do not",
}


def call(session: TrexSession, method: str, params: Params) -> Any:
    """Carry out a request. Raises UnknownMethod, BadParameters, Refused and PlimsollError."""
    if method == "get_supported_cmds":
        _check_key(session, params)
        return sorted([*_COMMANDS, method])
    if method in NOT_SERVED:
        raise MethodRefused(f"{method}: {NOT_SERVED[method]}")
    command = _COMMANDS.get(method)
    if command is None:
        raise UnknownMethod(f"Method {method[:64]} not registered")
    if method not in _WITHOUT_KEY:
        _check_key(session, params)
    return command(session, RequestParameters(params))


def _check_key(session: TrexSession, params: Params) -> None:
    given = params.get("api_h")
    if not isinstance(given, str) or not secrets.compare_digest(
        given.encode(errors="replace"), session.api_handler.encode()
    ):
        raise BadParameters("API verification failed - API handler provided mismatch")
