"""bench-trafficgen's traffic profiles (trafficgen.profile), as Plimsoll's own.

Every option either has a counterpart or is refused by name. The fields, their
ranges and defaults are those of its traffic-profile-schema.json and README.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from plimsoll.errors import InputError
from plimsoll.text.document import Document, read_document
from plimsoll.text.mistakes import mistake
from plimsoll.traffic.imported.conversion import (
    USUAL_PROBES,
    LatencyProbes,
    as_streams,
    check_convertible,
    stream_ends,
)
from plimsoll.traffic.imported.flow_packet import AddressPool, parse_flow_mods
from plimsoll.traffic.imported.scapy_text import parse_scapy
from plimsoll.traffic.streams.profile import Profile
from plimsoll.traffic.streams.stream import Direction, Stream, StreamType


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class TrafficgenStream(_Strict):
    """One stream as bench-trafficgen writes it. Rates in pps per direction, times in s."""

    flows: Annotated[int, Field(ge=1, le=65536)]
    frame_size: Annotated[int, Field(ge=40, le=9218)]
    flow_mods: str
    rate: Annotated[int, Field(ge=0)]
    frame_type: Literal["generic", "icmp", "garp"] = "generic"
    stream_types: Annotated[list[StreamType], Field(min_length=1)] = ["measurement"]
    latency: bool = True
    latency_only: bool = False
    protocol: Literal["UDP", "TCP"] = "UDP"
    traffic_direction: Direction = "bidirectional"
    stream_id: str = ""
    offset: Annotated[int, Field(ge=0)] = 0
    duration: Annotated[int, Field(ge=1)] | None = None
    repeat: bool = False
    repeat_delay: Annotated[int, Field(ge=0)] | None = None
    repeat_flows: bool = True
    the_packet: str | None = None
    device_pairs: list[str] | None = None
    enabled: bool = True

    @field_validator("flow_mods")
    @classmethod
    def _parses(cls, text: str) -> str:
        try:
            parse_flow_mods(text)
        except InputError as error:
            raise mistake(error.message, error.remedy) from None
        return text

    @field_validator("the_packet")
    @classmethod
    def _is_a_packet(cls, text: str | None) -> str | None:
        try:
            if text is not None:
                parse_scapy(text)
        except InputError as error:
            raise mistake(error.message, error.remedy) from None
        return text

    @model_validator(mode="after")
    def _has_a_counterpart(self) -> Self:
        """Of streams that are enabled: what is not sent need not be possible."""
        if not self.enabled:
            return self
        if self.device_pairs is not None:
            problem = "streams cannot be limited to some device pairs"
            raise mistake(problem, "remove device_pairs, or the stream", "device_pairs")
        if self.latency_only and not self.latency:
            problem = "sends nothing where latency is false"
            raise mistake(problem, "use latency: true, or enabled: false", "latency_only")
        check_convertible(self)
        return self


class NamedStreams(_Strict):
    """One of several profiles in a file."""

    name: str
    streams: Annotated[list[TrafficgenStream], Field(min_length=1)]


class TrafficgenProfile(_Strict):
    """A file in either shape: streams, or named profiles of which one is the default."""

    streams: Annotated[list[TrafficgenStream], Field(min_length=1)] | None = None
    default_profile: str | None = None
    profiles: Annotated[list[NamedStreams], Field(min_length=1)] | None = None

    @model_validator(mode="after")
    def _has_one_shape(self) -> Self:
        if (self.streams is None) == (self.profiles is None):
            raise mistake("needs either streams or profiles", "give one of them")
        names = [profile.name for profile in self.profiles or []]
        for name in names:
            if names.count(name) > 1:
                raise mistake(f"two profiles are named {name}", "name each its own", "profiles")
        if self.default_profile is not None and self.default_profile not in names:
            problem = f"{self.default_profile!r} is not one of the profiles"
            raise mistake(problem, f"use one of {', '.join(names)}", "default_profile")
        return self

    def chosen_streams(self, name: str | None = None) -> list[TrafficgenStream]:
        """The streams of the file, or of the profile with this name or its default.

        A file's only profile needs no name. Raises InputError without a place where there
        is no such profile, and where none of its streams is enabled and sent.
        """
        chosen = self._streams_of(name)
        enabled = [stream for stream in chosen if stream.enabled]
        if not enabled:
            raise InputError("no stream is enabled", remedy="enable one")
        if not any({"measurement", "ddos"} & set(stream.stream_types) for stream in enabled):
            raise InputError("no stream is measured", remedy="give one the type measurement")
        return chosen

    def _streams_of(self, name: str | None) -> list[TrafficgenStream]:
        if self.profiles is None:
            return self.streams or []
        by_name = {profile.name: profile.streams for profile in self.profiles}
        chosen = name or self.default_profile
        if chosen is None and len(by_name) == 1:
            return next(iter(by_name.values()))
        if chosen not in by_name:
            problem = f"there is no profile {chosen}" if chosen else "it does not say which"
            raise InputError(
                f"{problem} of {', '.join(by_name)}",
                remedy="set default_profile, or name one by --traffic-profile-name",
            )
        return by_name[chosen]


def import_trafficgen(
    given: TrafficgenProfile,
    name: str | None = None,
    probes: LatencyProbes = USUAL_PROBES,
    seed: float = 0.0,
) -> Profile:
    """The same as Plimsoll's own profile; streams are named by stream_id, or by number.

    Addresses are drawn as trafficgen draws them with this --random-seed, of streams that are
    not enabled as well. Raises InputError as TrafficgenProfile.chosen_streams does, where no
    addresses are left, and where nothing is left to send.
    """
    streams: list[Stream] = []
    pool = AddressPool(seed)
    for number, stream in enumerate(given.chosen_streams(name), start=1):
        ends = stream_ends(stream, pool)
        if not stream.enabled:
            continue
        base = re.sub(r"[^A-Za-z0-9_.-]", "_", stream.stream_id or f"stream{number}")[:44]
        taken = {each.name for each in streams}
        streams += next(
            made
            for made in (as_streams(stream, each, ends, probes) for each in _names(base))
            if not taken & {each.name for each in made}
        )
    if not any(stream.measured for stream in streams):
        raise InputError("nothing is left to send", remedy="measure latency, or add a stream")
    return Profile(streams=tuple(streams))


def _names(base: str) -> Iterator[str]:
    """It, and then with a number, for where other streams have it."""
    yield base
    for number in count(2):
        yield f"{base}-{number}"


def load_profile(path: Path) -> Profile:
    """Read a profile. Raises InputError naming file, line and field for any mistake."""
    document = read_document(path)
    if _is_trafficgen(document):
        return _imported(document, path)
    place_captures(document.data, path.parent)
    return document.validate(Profile)


def load_trafficgen(
    path: Path,
    name: str | None = None,
    probes: LatencyProbes = USUAL_PROBES,
    seed: float = 0.0,
) -> Profile:
    """Read bench-trafficgen's profile, or the one of this name in a file of several.

    `seed` is its --random-seed, by which MAC addresses are drawn. Raises InputError as
    `load_profile` does.
    """
    return _imported(read_document(path), path, name, probes, seed)


def _imported(
    document: Document,
    path: Path,
    name: str | None = None,
    probes: LatencyProbes = USUAL_PROBES,
    seed: float = 0.0,
) -> Profile:
    given = document.validate(TrafficgenProfile)
    try:
        return import_trafficgen(given, name, probes, seed)
    except InputError as error:
        raise InputError(error.message, where=str(path), remedy=error.remedy) from None


def place_captures(profile: object, folder: Path) -> None:
    """Make the paths of a profile's captures, which are relative to `folder`, absolute.

    `profile` is plain data not validated yet, and is changed in place.
    """
    for stream in _streams(profile):
        pcap = stream.get("pcap")
        if isinstance(pcap, str) and pcap:
            stream["pcap"] = str((folder / pcap).absolute())
        elif isinstance(pcap, dict) and isinstance(pcap.get("file"), str) and pcap["file"]:
            pcap["file"] = str((folder / pcap["file"]).absolute())


def _is_trafficgen(document: Document) -> bool:
    """Whether more of the fields are ones that only bench-trafficgen has."""
    fields = _field_names(document.data)
    if "profiles" in fields:
        return True
    own, theirs = set(Stream.model_fields), set(TrafficgenStream.model_fields)
    only_theirs = sum(field in theirs - own for field in fields)
    only_own = sum(field in own - theirs for field in fields)
    return only_theirs > only_own


def _field_names(data: object) -> list[object]:
    """Those of the document and, one by one, of its streams."""
    own = list(data) if isinstance(data, dict) else []
    return [*own, *(field for stream in _streams(data) for field in stream)]


def _streams(data: object) -> list[dict[Any, Any]]:
    listed = data.get("streams") if isinstance(data, dict) else None
    return [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []
