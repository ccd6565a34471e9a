"""One port as TRex's clients see it: its owner, its settings, and its profiles of streams."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from plimsoll.errors import InputError
from plimsoll.remote.trex.streams.port_program import TesterPort, TranslatedStream

DEFAULT_PROFILE = "_"
ALL_PROFILES = "*"
MAX_PROFILES = 64
MAX_STREAMS = 4096

ProfileState = Literal["IDLE", "STREAMS", "TX", "PAUSE"]


@dataclass
class StoredStream:
    """A stream as the client sent it, and as the engine is to send it."""

    given: dict[str, Any]
    translated: TranslatedStream


@dataclass
class StlProfile:
    """Streams that are started and stopped together.

    `numbers` are the engine's of the streams that it sends or sent, `paused` the streams that
    were paused one by one. `silent_since_s` is when it was first seen to have no stream that sends.
    """

    name: str
    streams: dict[int, StoredStream] = field(default_factory=dict)
    state: ProfileState = "IDLE"
    factor: float = 1.0
    numbers: dict[int, int] = field(default_factory=dict)
    rates: dict[int, float] = field(default_factory=dict)
    paused: set[int] = field(default_factory=set)
    silent_since_s: float | None = None

    @property
    def active(self) -> bool:
        """Whether it was started and has not ended."""
        return self.state in ("TX", "PAUSE")


@dataclass
class StlPort:
    """`tester` is what streams need to know of it; a `handler` is its owner's key."""

    tester: TesterPort
    owner: str = ""
    session_id: int = 0
    handler: str = ""
    service: bool = False
    service_filtered: bool = False
    promiscuous: bool = True
    multicast: bool = True
    vlan: tuple[int, ...] = ()
    profiles: dict[str, StlProfile] = field(default_factory=dict)

    @property
    def number(self) -> int:
        """Counted from 0."""
        return self.tester.port

    @property
    def state(self) -> ProfileState:
        """Of all its profiles, the busiest."""
        states = {profile.state for profile in self.profiles.values()}
        for each in ("TX", "PAUSE", "STREAMS"):
            if each in states:
                return each
        return "IDLE"

    def profile(self, name: str) -> StlProfile:
        """One that is there. Raises InputError."""
        try:
            return self.profiles[name]
        except KeyError:
            raise InputError(f"profile_id({name}) does not exist", where="profile_id") from None

    def chosen(self, name: str) -> list[StlProfile]:
        """The one of a name, or all for `*`. Raises InputError."""
        return list(self.profiles.values()) if name == ALL_PROFILES else [self.profile(name)]

    def profile_or_new(self, name: str) -> StlProfile:
        """One that is there now. Raises InputError for too many."""
        if name not in self.profiles and len(self.profiles) >= MAX_PROFILES:
            raise InputError(f"more than {MAX_PROFILES} profiles on a port", where="profile_id")
        return self.profiles.setdefault(name, StlProfile(name))

    @property
    def stream_count(self) -> int:
        """In all profiles."""
        return sum(len(profile.streams) for profile in self.profiles.values())

    @property
    def largest_stream_id(self) -> int:
        """0 for none."""
        return max((each for p in self.profiles.values() for each in p.streams), default=0)
