"""bench-trafficgen's traffic profiles (trafficgen.profile), as Plimsoll's own.

Every option either has a counterpart or is refused by name. The fields, their
ranges and defaults are those of its traffic-profile-schema.json and README.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from plimsoll.errors import InputError
from plimsoll.traffic.document import Document, read_document
from plimsoll.traffic.flow_mods import parse_flow_mods
from plimsoll.traffic.mistakes import mistake
from plimsoll.traffic.plan import Role
from plimsoll.traffic.profile import Direction, Profile, Stream, StreamType

# binary-search.py's default for --latency-rate.
LATENCY_RATE_PPS = 1000
# Beyond so many flows the ordinary addresses and ports of a Stream run out; then
# 10.0.0.0/8 in two halves, and all ports, take their place.
_FLOWS_OF_ORDINARY_IPS = 65534
_FLOWS_OF_ORDINARY_PORTS = 61439
_WIDE_IPS = {"src_ip": "10.0.0.1", "dst_ip": "10.128.0.1", "prefix": 9}
_ALL_PORTS = {"src_port": 0, "dst_port": 0}


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

    @model_validator(mode="after")
    def _has_a_counterpart(self) -> Self:
        """Of streams that are enabled: what is not sent need not be possible."""
        if not self.enabled:
            return self
        for field, wanted, problem in _WITHOUT_COUNTERPART:
            if getattr(self, field) != wanted:
                raise mistake(problem, f"remove {field}, or the stream", field)
        if "protocol" in parse_flow_mods(self.flow_mods):
            problem = "flows cannot differ in protocol: only UDP is sent"
            raise mistake(problem, "write use_protocol_flows=False", "flow_mods")
        if self.latency_only and not self.latency:
            problem = "sends nothing where latency is false"
            raise mistake(problem, "use latency: true, or enabled: false", "latency_only")
        self._check_as_stream()
        return self

    def _check_as_stream(self) -> None:
        try:
            self.as_streams("this")
        except ValidationError as error:
            first = error.errors()[0]
            context = first["ctx"]
            field = context.get("field") or first["loc"][:1]
            raise mistake(first["msg"], context["remedy"], *field) from None

    def as_streams(self, name: str) -> list[Stream]:
        """The load stream, the probe, or both, that it stands for.

        With `latency` a probe at LATENCY_RATE_PPS runs beside the load, and its
        rate is taken out of it; a stream no faster than that is all probe.
        """
        if self.latency_only or (self.latency and self.rate <= LATENCY_RATE_PPS):
            return [self._as_stream(name, "latency", self.rate)]
        load = self._as_stream(name, "load", self.rate)
        if not self.latency:
            return [load]
        probe = self._as_stream(f"{name}-latency", "latency", LATENCY_RATE_PPS, taken_from=name)
        return [load, probe]

    def _as_stream(
        self, name: str, role: Role, rate_pps: int, taken_from: str | None = None
    ) -> Stream:
        vary = parse_flow_mods(self.flow_mods)
        given: dict[str, Any] = {
            "name": name,
            "role": role,
            "rate": rate_pps,
            "frame_size": self.frame_size,
            # Without a field that changes trafficgen sends the same frame over and over.
            "flows": self.flows if vary else 1,
            "vary": vary,
            "direction": self.traffic_direction,
            "protocol": self.protocol,
            "stream_types": self.stream_types,
            "taken_from": taken_from,
        }
        wide_ips = _WIDE_IPS if self.flows > _FLOWS_OF_ORDINARY_IPS else {}
        all_ports = _ALL_PORTS if self.flows > _FLOWS_OF_ORDINARY_PORTS else {}
        return Stream.model_validate(given | wide_ips | all_ports)


_WITHOUT_COUNTERPART: tuple[tuple[str, object, str], ...] = (
    ("frame_type", "generic", "only generic frames can be sent"),
    ("offset", 0, "streams that start later cannot be sent"),
    ("duration", None, "streams that end before the trial cannot be sent"),
    ("repeat", False, "streams that repeat cannot be sent"),
    ("repeat_delay", None, "streams that repeat cannot be sent"),
    ("repeat_flows", True, "streams that repeat cannot be sent"),
    ("the_packet", None, "packets written as Scapy code are not run"),
    ("device_pairs", None, "streams cannot be limited to some device pairs"),
)


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
        if self.profiles and self.default_profile not in names:
            problem = f"{self.default_profile!r} is none of the profiles"
            raise mistake(problem, f"use one of {', '.join(names)}", "default_profile")
        if not self.chosen_streams():
            raise mistake("no stream is enabled", "enable one")
        return self

    def chosen_streams(self) -> list[TrafficgenStream]:
        """The enabled streams of the file, or of its default profile."""
        chosen = self.streams or next(
            each.streams for each in self.profiles or [] if each.name == self.default_profile
        )
        return [stream for stream in chosen if stream.enabled]


def load_profile(path: Path) -> Profile:
    """Read a profile in Plimsoll's own form or in bench-trafficgen's, told apart by content.

    Raises InputError naming file, line and field for any mistake.
    """
    document = read_document(path)
    if _is_trafficgen(document):
        return import_trafficgen(document.validate(TrafficgenProfile))
    return document.validate(Profile)


def import_trafficgen(given: TrafficgenProfile) -> Profile:
    """The same as Plimsoll's own profile; streams are named by stream_id, or by number.

    All streams use the same addresses, whether or not they share a stream_id.
    """
    streams: list[Stream] = []
    for number, stream in enumerate(given.chosen_streams(), start=1):
        taken = {each.name for each in streams}
        streams += stream.as_streams(_free_name(stream.stream_id or f"stream{number}", taken))
    return Profile(streams=tuple(streams))


def _free_name(wanted: str, taken: set[str]) -> str:
    """A name made of what Plimsoll allows, with a number where another stream has it."""
    allowed = re.sub(r"[^A-Za-z0-9_.-]", "_", wanted)[:48]
    name, number = allowed, 1
    while {name, f"{name}-latency"} & taken:
        number += 1
        name = f"{allowed}-{number}"
    return name


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
    if not isinstance(data, dict):
        return []
    streams = data.get("streams")
    listed = streams if isinstance(streams, list) else []
    return [*data, *(field for each in listed if isinstance(each, dict) for field in each)]
