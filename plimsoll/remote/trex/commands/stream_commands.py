"""TRex's commands about streams and profiles."""

from __future__ import annotations

from typing import Any

from plimsoll.remote.trex.commands.parameters import RequestParameters
from plimsoll.remote.trex.commands.port_commands import owned_port, port_of
from plimsoll.remote.trex.messages.json_rpc import BadParameters, MethodRefused
from plimsoll.remote.trex.session.stl_port import (
    ALL_PROFILES,
    DEFAULT_PROFILE,
    MOST_STREAMS,
    StlPort,
    StlProfile,
    StoredStream,
)
from plimsoll.remote.trex.session.trex_session import TrexSession
from plimsoll.remote.trex.streams.port_program import translated
from plimsoll.remote.trex.streams.stl_stream import StlStream

_MOST_TEMPLATE_BYTES = 14_000_000


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
    if port.stream_count >= MOST_STREAMS:
        raise MethodRefused(f"more than {MOST_STREAMS} streams on a port")
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
    if total > _MOST_TEMPLATE_BYTES:
        raise MethodRefused(
            f"the templates of all streams would have {total} bytes, more than "
            f"{_MOST_TEMPLATE_BYTES}"
        )
