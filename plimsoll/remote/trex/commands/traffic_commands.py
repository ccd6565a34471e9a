"""TRex's commands that send."""

from __future__ import annotations

import time
from typing import Any

from plimsoll.remote.trex.commands.parameters import RequestParameters
from plimsoll.remote.trex.commands.port_commands import owned_port, port_of
from plimsoll.remote.trex.messages.json_rpc import BadParameters, MethodRefused
from plimsoll.remote.trex.session.stl_port import (
    ALL_PROFILES,
    DEFAULT_PROFILE,
    MAX_STREAMS,
    StlPort,
    StlProfile,
    StoredStream,
)
from plimsoll.remote.trex.session.trex_session import EventKind, TrexSession
from plimsoll.remote.trex.streams.port_program import bandwidth, translated
from plimsoll.remote.trex.streams.stl_stream import StlStream
from plimsoll.remote.trex.streams.timeline import Multiplier

_MAX_TEMPLATE_BYTES = 14_000_000


def profile_name(params: RequestParameters) -> str:
    """The one that a request is about."""
    return params.text("profile_id", DEFAULT_PROFILE)


def add_stream(session: TrexSession, params: RequestParameters) -> dict[str, Any]:
    """Add one stream to a profile, refused where it cannot be sent."""
    port, number = owned_port(session, params), params.integer("stream_id")
    name = profile_name(params)
    if name == ALL_PROFILES:
        raise BadParameters("field 'profile_id' names all profiles")
    if number < 0 or any(number in profile.streams for profile in port.profiles.values()):
        raise MethodRefused(f"stream {number} already exists")
    if port.stream_count >= MAX_STREAMS:
        raise MethodRefused(f"more than {MAX_STREAMS} streams on a port")
    stream = params.model("stream", StlStream)
    made = translated(number, stream, port.tester)
    _check_room(session, sum(map(len, made.made.frames)))
    profile = port.profile_or_new(name)
    if profile.active:
        raise MethodRefused("the profile is active, please stop it before adding streams")
    profile.streams[number] = StoredStream(params.mapping("stream"), made)
    profile.state = "STREAMS"
    for note in made.made.notes:
        session.tell(f"port {port.number} stream {number}: {note}")
    return {}


def remove_stream(session: TrexSession, params: RequestParameters) -> dict[str, Any]:
    """Remove one stream."""
    port = owned_port(session, params)
    profile = port.profile(profile_name(params))
    number = params.integer("stream_id")
    if number not in profile.streams:
        raise MethodRefused(f"stream {number} does not exist")
    _remove(session, port, profile, [number])
    return {}


def remove_all_streams(session: TrexSession, params: RequestParameters) -> dict[str, Any]:
    """Remove the streams of a profile, or of all."""
    port, name = owned_port(session, params), profile_name(params)
    if name != ALL_PROFILES and name not in port.profiles:
        return {}
    for profile in port.chosen(name):
        _remove(session, port, profile, list(profile.streams))
    return {}


def get_profile_list(session: TrexSession, params: RequestParameters) -> list[str]:
    """The names of a port's profiles."""
    return list(port_of(session, params).profiles)


def get_stream_list(session: TrexSession, params: RequestParameters) -> Any:
    """The numbers of a profile's streams, or of all by profile."""
    port, name = port_of(session, params), profile_name(params)
    if name == ALL_PROFILES:
        return {each.name: list(each.streams) for each in port.profiles.values()}
    return list(port.profiles[name].streams) if name in port.profiles else []


def get_all_streams(session: TrexSession, params: RequestParameters) -> dict[str, Any]:
    """Streams as they were added."""
    port, name = port_of(session, params), profile_name(params)
    if name == ALL_PROFILES:
        return {"profiles": {each.name: _given(each) for each in port.profiles.values()}}
    return {"streams": _given(port.profiles[name]) if name in port.profiles else {}}


def get_stream(session: TrexSession, params: RequestParameters) -> dict[str, Any]:
    """One stream as it was added."""
    profile = port_of(session, params).profile(profile_name(params))
    number = params.integer("stream_id")
    if number not in profile.streams:
        raise MethodRefused(f"stream {number} does not exist")
    return {"stream": profile.streams[number].given}


def _given(profile: StlProfile) -> dict[str, Any]:
    return {str(number): stored.given for number, stored in profile.streams.items()}


def _remove(session: TrexSession, port: StlPort, profile: StlProfile, numbers: list[int]) -> None:
    if profile.active:
        raise MethodRefused("the profile is active, please stop it before removing streams")
    session.sender.forget(profile, numbers)
    for number in numbers:
        del profile.streams[number]
        profile.rates.pop(number, None)
        profile.paused.discard(number)
    if not profile.streams:
        del port.profiles[profile.name]


def _check_room(session: TrexSession, added: int) -> None:
    """All templates together go to the engine in one request."""
    total = added + sum(
        len(frame)
        for port in session.ports
        for profile in port.profiles.values()
        for stored in profile.streams.values()
        for frame in stored.translated.made.frames
    )
    if total > _MAX_TEMPLATE_BYTES:
        raise MethodRefused(
            f"the templates of all streams would have {total} bytes, more than "
            f"{_MAX_TEMPLATE_BYTES}"
        )


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
