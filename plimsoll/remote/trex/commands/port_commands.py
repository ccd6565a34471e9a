"""TRex's commands about ports: owners, state and attributes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from plimsoll.remote.trex.commands.parameters import RequestParameters
from plimsoll.remote.trex.messages.json_rpc import BadParameters, MethodRefused
from plimsoll.remote.trex.session.stl_port import ALL_PROFILES, StlPort
from plimsoll.remote.trex.session.trex_session import TrexSession
from plimsoll.remote.trex.streams.port_program import parsed_mac, translated

_MAX_VLANS = 2
_SETTABLE = ("promiscuous", "multicast")
_FIXED = {
    "link_status": "links are the lab's, and not taken down",
    "led_status": "ports have no LED that could be switched",
    "flow_ctrl_mode": "ports have no flow control that could be set",
    "vxlan_fs": "streams are known by their signature, inside of VXLAN as well",
}


def port_of(session: TrexSession, params: RequestParameters) -> StlPort:
    """The port that a request is about. Raises BadParameters."""
    return session.port(params.integer("port_id"))


def owned_port(session: TrexSession, params: RequestParameters) -> StlPort:
    """The port, whose owner asks. Raises BadParameters and Refused."""
    port = port_of(session, params)
    handler = params.text("handler", "")
    if not port.owner:
        raise MethodRefused("please acquire context before modifying port")
    if handler != port.handler:
        raise MethodRefused(f"port is not owned by you: it is taken by '{port.owner}'")
    return port


def acquire(session: TrexSession, params: RequestParameters) -> str:
    """Own a port; returns the key."""
    port = port_of(session, params)
    user = params.text("user")
    if not user:
        raise BadParameters("field 'user' is empty")
    return session.acquire(
        port, user, params.integer("session_id"), force=params.flag("force", default=False)
    )


def release(session: TrexSession, params: RequestParameters) -> dict[str, Any]:
    """Give a port back."""
    session.release(owned_port(session, params))
    return {}


def get_owner(session: TrexSession, params: RequestParameters) -> dict[str, str]:
    """Who owns a port; no owner is nameless."""
    return {"owner": port_of(session, params).owner}


def get_port_status(session: TrexSession, params: RequestParameters) -> dict[str, Any]:
    """State, owner, attributes."""
    port = port_of(session, params)
    chosen = params.text("profile_id", "")
    status: dict[str, Any] = {
        "owner": port.owner,
        "state": port.state,
        "service": port.service,
        "service_filtered": port.service_filtered,
        "profile_count": len(port.profiles),
        "max_stream_id": port.largest_stream_id,
        "attr": _attributes(session, port),
        "rx_info": _received(),
    }
    if chosen:
        profiles = port.profiles.values() if chosen == ALL_PROFILES else port.chosen(chosen)
        status["state_profile"] = {each.name: each.state for each in profiles}
    return status


def set_port_attr(session: TrexSession, params: RequestParameters) -> dict[str, Any]:
    """Attributes: what has no meaning here is kept, and what cannot be is refused."""
    port, selected = owned_port(session, params), params.mapping("attr")
    for name, reason in _FIXED.items():
        if name in selected:
            raise MethodRefused(f"{name}: {reason}")
    for name in _SETTABLE:
        if name in selected:
            enabled = RequestParameters(selected).mapping(name).get("enabled")
            setattr(port, name, bool(enabled))
    return {}


def set_l2(session: TrexSession, params: RequestParameters) -> dict[str, Any]:
    """The destination of streams that leave it to the port."""
    port = owned_port(session, params)
    _set_destination(session, port, params.text("dst_mac"))
    return {}


def set_l3(session: TrexSession, params: RequestParameters) -> dict[str, Any]:
    """Addresses, of which only a destination that was resolved by the client is of use."""
    port = owned_port(session, params)
    resolved = params.text("resolved_mac", "")
    if not resolved:
        raise MethodRefused(
            "set_l3: the server resolves no addresses; give resolved_mac, or use set_l2"
        )
    _set_destination(session, port, resolved)
    return {}


def conf_ipv6(session: TrexSession, params: RequestParameters) -> dict[str, Any]:
    """Refused, but to switch off what is off."""
    owned_port(session, params)
    if params.flag("enabled"):
        raise MethodRefused("conf_ipv6: ports answer no neighbours' solicitations")
    return {}


def set_vlan(session: TrexSession, params: RequestParameters) -> dict[str, Any]:
    """Tags that clients put on packets of their own; streams have theirs."""
    port = owned_port(session, params)
    tags = params.integers("vlan")
    if len(tags) > _MAX_VLANS or any(not 0 < tag < 4095 for tag in tags):
        raise BadParameters("field 'vlan' has more than two tags, or no tags")
    port.vlan = tuple(tags)
    return {}


def service(session: TrexSession, params: RequestParameters) -> dict[str, Any]:
    """Service mode: clients ask for it before what only it allows; nothing changes with it."""
    port = owned_port(session, params)
    port.service = params.flag("enabled")
    port.service_filtered = params.flag("filtered", default=False)
    return {}


def set_rx_feature(session: TrexSession, params: RequestParameters) -> dict[str, Any]:
    """Refused, but to switch off what is off."""
    owned_port(session, params)
    if params.flag("enabled"):
        raise MethodRefused(
            "set_rx_feature: there are no receive queues; capture and fetch packets"
        )
    return {}


def remove_rx_filters(session: TrexSession, params: RequestParameters) -> dict[str, Any]:
    """There are none: streams are known by their signatures."""
    owned_port(session, params)
    return {}


def _set_destination(session: TrexSession, port: StlPort, mac: str) -> None:
    if port.state in ("TX", "PAUSE"):
        raise MethodRefused("the port is active, please stop it before changing its destination")
    port.tester = replace(port.tester, dst_mac=parsed_mac(mac))
    for profile in port.profiles.values():
        for number, stored in profile.streams.items():
            stored.translated = translated(number, stored.translated.stream, port.tester)


def _attributes(session: TrexSession, port: StlPort) -> dict[str, Any]:
    counts = session.traffic.counts()
    try:
        link_up = counts.port(port.number).link_up
    except KeyError:
        link_up = session.traffic.ports[port.number].link_up
    tester = port.tester
    return {
        "promiscuous": {"enabled": port.promiscuous},
        "multicast": {"enabled": port.multicast},
        "link": {"up": link_up},
        "speed": tester.line_rate_bps / 1e9,
        "rx_filter_mode": "hw",
        "vxlan_fs": [],
        "fc": {"mode": 0},
        "vlan": {"tags": list(port.vlan)},
        "layer_cfg": {
            "ether": {
                "src": tester.src_mac.hex(":"),
                "dst": tester.dst_mac.hex(":"),
                "state": "configured",
            },
            "ipv4": {"state": "none"},
            "ipv6": {"enabled": False},
        },
    }


def _received() -> dict[str, Any]:
    off = {"is_active": False}
    return {
        "latency": off,
        "queue": {"is_active": False, "count": 0, "size": 0},
        "stack": off,
        "grat_arp": off,
        "capture_port": off,
        "capwap_proxy": off,
    }
