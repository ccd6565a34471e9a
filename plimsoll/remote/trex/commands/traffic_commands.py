"""TRex's commands that send."""

from __future__ import annotations

import time
from typing import Any

from plimsoll.remote.trex.commands.parameters import RequestParameters
from plimsoll.remote.trex.commands.port_commands import owned_port, port_of
from plimsoll.remote.trex.commands.stream_commands import profile_name
from plimsoll.remote.trex.messages.json_rpc import MethodRefused
from plimsoll.remote.trex.session.events import EventKind
from plimsoll.remote.trex.session.stl_port import ALL_PROFILES, StlPort, StlProfile
from plimsoll.remote.trex.session.trex_session import TrexSession
from plimsoll.remote.trex.streams.port_program import bandwidth
from plimsoll.remote.trex.streams.rates import Multiplier


def start_traffic(session: TrexSession, params: RequestParameters) -> dict[str, float | None]:
    """Start a profile; the answer has from when to when it sends."""
    port = owned_port(session, params)
    name = profile_name(params)
    if name not in port.profiles:
        raise MethodRefused("unable to start traffic - no streams attached to port")
    if params.number("start_at_ts", 0.0):
        raise MethodRefused("start_at_ts: a start at a given time is not offered")
    profile = port.profiles[name]
    factor = session.sender.start(
        port,
        profile,
        params.model("mul", Multiplier),
        params.number("duration", -1.0),
        force=params.flag("force", default=False),
    )
    session.profile_event(EventKind.PROFILE_STARTED, port, profile)
    return {"multiplier": factor, "ts": time.monotonic(), **session.sender.times(profile)}


def stop_traffic(session: TrexSession, params: RequestParameters) -> dict[str, Any]:
    """Stop a profile, or all of a port."""
    port = owned_port(session, params)
    for profile in session.sender.stop(port, _chosen(port, params)):
        session.profile_event(EventKind.PROFILE_STOPPED, port, profile)
    return {}


def pause_traffic(session: TrexSession, params: RequestParameters) -> dict[str, Any]:
    """Let a profile send nothing for now."""
    port = owned_port(session, params)
    for profile in _in_state(port, params, "TX", "pause"):
        session.sender.pause(profile)
        session.profile_event(EventKind.PROFILE_PAUSED, port, profile)
    return {}


def resume_traffic(session: TrexSession, params: RequestParameters) -> dict[str, Any]:
    """Go on after a pause."""
    port = owned_port(session, params)
    for profile in _in_state(port, params, "PAUSE", "resume"):
        session.sender.resume(profile)
        session.profile_event(EventKind.PROFILE_RESUMED, port, profile)
    return {}


def pause_streams(session: TrexSession, params: RequestParameters) -> dict[str, Any]:
    """Let some streams send nothing for now."""
    profile = owned_port(session, params).profile(profile_name(params))
    session.sender.pause(profile, params.integers("stream_ids"))
    return {}


def resume_streams(session: TrexSession, params: RequestParameters) -> dict[str, Any]:
    """Let these streams go on."""
    profile = owned_port(session, params).profile(profile_name(params))
    session.sender.resume(profile, params.integers("stream_ids"))
    return {}


def update_traffic(session: TrexSession, params: RequestParameters) -> dict[str, float]:
    """Multiply the rates of what sends."""
    port, multiplier = owned_port(session, params), params.model("mul", Multiplier)
    force = params.flag("force", default=False)
    factor = 1.0
    for profile in _in_state(port, params, "TX", "update"):
        factor = session.sender.update(port, profile, multiplier, force=force)
    return {"multiplier": factor}


def update_streams(session: TrexSession, params: RequestParameters) -> dict[str, Any]:
    """Multiply the rates of some streams."""
    port, multiplier = owned_port(session, params), params.model("mul", Multiplier)
    profile = port.profile(profile_name(params))
    force = params.flag("force", default=False)
    chosen = params.integers("stream_ids")
    session.sender.update_streams(port, profile, multiplier, chosen, force=force)
    return {"multiplier": profile.factor}


def validate(session: TrexSession, params: RequestParameters) -> dict[str, Any]:
    """What a profile sends at most."""
    port = port_of(session, params)
    profile = port.profile(profile_name(params))
    streams = {number: each.translated for number, each in profile.streams.items()}
    found = bandwidth(streams, port.tester)
    both = (found.varied, found.fixed)
    rate: dict[str, float] = {}
    for edge, parts in (("max", both), ("min", both[1:])):
        l1_bps = sum(part.l1_bps for part in parts)
        rate |= {
            f"{edge}_bps_l2": sum(part.l2_bps for part in parts),
            f"{edge}_bps_l1": l1_bps,
            f"{edge}_pps": sum(part.pps for part in parts),
            f"{edge}_line_util": l1_bps / found.line_rate_bps * 100,
        }
    graph = {"expected_duration": -1, "events_count": 0, "events": []}
    return {"rate": rate, "graph": graph}


def _chosen(port: StlPort, params: RequestParameters) -> list[StlProfile]:
    name = profile_name(params)
    if name != ALL_PROFILES and name not in port.profiles:
        return []
    return port.chosen(name)


def _in_state(
    port: StlPort, params: RequestParameters, state: str, command: str
) -> list[StlProfile]:
    """Of all profiles those in a state, or the one that must be in it."""
    found = [each for each in port.chosen(profile_name(params)) if each.state == state]
    if not found:
        raise MethodRefused(
            f"command '{command}' cannot be executed on current state: '{port.state}'"
        )
    return found
