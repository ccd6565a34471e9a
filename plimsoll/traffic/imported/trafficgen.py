"""bench-trafficgen's traffic profiles (trafficgen.profile), as Plimsoll's own.

Every option either has a counterpart or is refused by name. The fields, their
ranges and defaults are those of its traffic-profile-schema.json and README.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from plimsoll.errors import InputError
from plimsoll.text.mistakes import mistake
from plimsoll.traffic.frames.plain_packet import Protocol
from plimsoll.traffic.frames.vary import SHORT_NAMES
from plimsoll.traffic.imported.flow_mods import parse_flow_mods
from plimsoll.traffic.plan import Role
from plimsoll.traffic.streams.profile import Profile
from plimsoll.traffic.streams.stream import Direction, Stream, StreamType

# Beyond so many flows the ordinary addresses and ports of a Stream run out; then
# 10.0.0.0/8 in two halves, and all ports, take their place.
_FLOWS_OF_ORDINARY_IPS = 65534
_FLOWS_OF_ORDINARY_PORTS = 61439
_WIDE_IPS = {"src_ip": "10.0.0.1", "dst_ip": "10.128.0.1", "prefix": 9}
_ALL_PORTS = {"src_port": 0, "dst_port": 0}


@dataclass(frozen=True, slots=True)
class LatencyProbes:
    """How fast streams probe, and whether at all: --latency-rate and --measure-latency.

    The defaults are binary-search.py's.
    """

    rate_pps: int = 1000
    measured: bool = True


USUAL_PROBES = LatencyProbes()


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
        if self.latency_only and not self.latency:
            problem = "sends nothing where latency is false"
            raise mistake(problem, "use latency: true, or enabled: false", "latency_only")
        self._check_as_stream()
        return self

    def _check_as_stream(self) -> None:
        try:
            self.as_streams("this", USUAL_PROBES)
        except ValidationError as error:
            first = error.errors()[0]
            context = first["ctx"]
            field = context.get("field") or first["loc"][:1]
            raise mistake(first["msg"], context["remedy"], *field) from None

    def as_streams(self, name: str, probes: LatencyProbes) -> list[Stream]:
        """The load streams, the probes, or both, that it stands for.

        With `latency` a probe at the probes' rate runs beside the load, and its rate is
        taken out of it; a stream no faster than that is all probe. Flows that differ in
        protocol are two streams, which share rate and flows. None are left of a stream
        that is all probe where latency is not measured.
        """
        protocols = self._protocols()
        if len(protocols) == 1:
            return self._of_protocol(name, protocols[0], 1, probes)
        return [
            stream
            for protocol in protocols
            for stream in self._of_protocol(
                f"{name}-{protocol.lower()}", protocol, len(protocols), probes
            )
        ]

    def _protocols(self) -> list[Protocol]:
        if self.frame_type != "generic":
            return ["ICMP" if self.frame_type == "icmp" else "GARP"]
        if "protocol" in parse_flow_mods(self.flow_mods):
            return ["UDP", "TCP"]
        return [self.protocol]

    def _of_protocol(
        self, name: str, protocol: Protocol, sharers: int, probes: LatencyProbes
    ) -> list[Stream]:
        # Requests and replies are sent at the rate each; in Plimsoll they take turns.
        rate_pps = self.rate * 2 if protocol == "GARP" else self.rate / sharers
        stream = {"protocol": protocol, "flows": math.ceil(self.flows / sharers)}
        latency = self.latency and probes.measured
        if self.latency_only and not latency:
            return []
        if "measurement" not in self.stream_types or not latency:
            return [self._as_stream(name, "load", rate_pps, stream)]
        if self.latency_only or rate_pps <= probes.rate_pps:
            return [self._as_stream(name, "latency", min(rate_pps, probes.rate_pps), stream)]
        load = self._as_stream(name, "load", rate_pps, stream)
        taken = stream | {"taken_from": name}
        return [load, self._as_stream(f"{name}-latency", "latency", probes.rate_pps, taken)]

    def _as_stream(self, name: str, role: Role, rate_pps: float, more: dict[str, Any]) -> Stream:
        heeded = _HEEDED.get(more["protocol"], SHORT_NAMES)
        vary = tuple(field for field in parse_flow_mods(self.flow_mods) if field in heeded)
        given: dict[str, Any] = {
            "name": name,
            "role": role,
            "rate": rate_pps,
            # Gratuitous ARP is as short as frames may be, whatever the size asked for.
            "frame_size": 64 if more["protocol"] == "GARP" else self.frame_size,
            "vary": vary,
            "direction": self.traffic_direction,
            "stream_types": self.stream_types,
        }
        wide_ips = _WIDE_IPS if self.flows > _FLOWS_OF_ORDINARY_IPS else {}
        all_ports = _ALL_PORTS if self.flows > _FLOWS_OF_ORDINARY_PORTS else {}
        # Without a field that changes trafficgen sends the same frame over and over.
        flows = more["flows"] if vary else 1
        return Stream.model_validate(given | wide_ips | all_ports | more | {"flows": flows})


# The fields of flow_mods that trafficgen heeds; in generic frames, all.
_HEEDED: dict[Protocol, tuple[str, ...]] = {
    "ICMP": ("src_mac", "dst_mac", "src_ip", "dst_ip"),
    "GARP": ("src_mac", "src_ip"),
}
_WITHOUT_COUNTERPART: tuple[tuple[str, object, str], ...] = (
    ("offset", 0, "streams that start later cannot be sent"),
    ("duration", None, "streams that end before the trial cannot be sent"),
    ("repeat", False, "streams that repeat cannot be sent"),
    ("repeat_delay", None, "streams that repeat cannot be sent"),
    ("repeat_flows", True, "streams that repeat cannot be sent"),
    ("the_packet", None, "Scapy code is not run; Plimsoll's own form takes a packet as a list"),
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
        for name in names:
            if names.count(name) > 1:
                raise mistake(f"two profiles are named {name}", "name each its own", "profiles")
        if self.default_profile is not None and self.default_profile not in names:
            problem = f"{self.default_profile!r} is none of the profiles"
            raise mistake(problem, f"use one of {', '.join(names)}", "default_profile")
        return self

    def chosen_streams(self, name: str | None = None) -> list[TrafficgenStream]:
        """The enabled streams of the file, or of the profile with this name or its default.

        A file's only profile needs no name. Raises InputError without a place where there
        is no such profile, and where none of its streams is measured.
        """
        chosen = [stream for stream in self._streams_of(name) if stream.enabled]
        if not chosen:
            raise InputError("no stream is enabled", remedy="enable one")
        if not any("measurement" in stream.stream_types for stream in chosen):
            raise InputError("no stream is measured", remedy="give one the type measurement")
        return chosen

    def _streams_of(self, name: str | None) -> list[TrafficgenStream]:
        if self.profiles is None:
            return self.streams or []
        by_name = {profile.name: profile.streams for profile in self.profiles}
        wanted = name or self.default_profile
        if wanted is None and len(by_name) == 1:
            return next(iter(by_name.values()))
        if wanted not in by_name:
            problem = f"there is no profile {wanted}" if wanted else "it does not say which"
            raise InputError(
                f"{problem} of {', '.join(by_name)}",
                remedy="set default_profile, or name one by --traffic-profile-name",
            )
        return by_name[wanted]


def import_trafficgen(
    given: TrafficgenProfile, name: str | None = None, probes: LatencyProbes = USUAL_PROBES
) -> Profile:
    """The same as Plimsoll's own profile; streams are named by stream_id, or by number.

    All streams use the same addresses, whether or not they share a stream_id. Raises
    InputError as TrafficgenProfile.chosen_streams does, and where nothing is left to send.
    """
    streams: list[Stream] = []
    for number, stream in enumerate(given.chosen_streams(name), start=1):
        taken = {each.name for each in streams}
        wanted = stream.stream_id or f"stream{number}"
        streams += stream.as_streams(_free_name(stream, wanted, taken, probes), probes)
    if not any(stream.measured for stream in streams):
        raise InputError("nothing is left to send", remedy="measure latency, or add a stream")
    return Profile(streams=tuple(streams))


def _free_name(
    stream: TrafficgenStream, wanted: str, taken: set[str], probes: LatencyProbes
) -> str:
    """A name made of what Plimsoll allows, with a number where another stream has it."""
    allowed = re.sub(r"[^A-Za-z0-9_.-]", "_", wanted)[:44]
    name, number = allowed, 1
    while taken & {each.name for each in stream.as_streams(name, probes)}:
        number += 1
        name = f"{allowed}-{number}"
    return name
