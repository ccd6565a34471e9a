"""A profile: the named streams of a test, in Plimsoll's own form."""

from __future__ import annotations

import re
from collections.abc import Sequence
from ipaddress import IPv4Address, IPv4Network
from typing import Annotated, Literal, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationInfo,
    field_validator,
    model_validator,
)

from plimsoll.traffic.frames import MAX_FRAME_SIZE, MIN_FRAME_SIZE, Endpoint
from plimsoll.traffic.mistakes import mistake
from plimsoll.traffic.plan import Role
from plimsoll.traffic.units import Rate, RateField

Direction = Literal["bidirectional", "unidirectional", "revunidirectional"]
StreamType = Literal["measurement", "teaching_warmup", "teaching_measurement", "ddos"]
VaryingField = Literal["src_mac", "dst_mac", "src_ip", "dst_ip", "src_port", "dst_port"]

_MAC = re.compile(r"[0-9a-f]{2}(:[0-9a-f]{2}){5}", re.IGNORECASE)
# Flows change the last three bytes of a MAC: the vendor's part stays.
MAC_VARYING_BYTES = 3

_FORWARD = ("bidirectional", "unidirectional")
_REVERSE = ("bidirectional", "revunidirectional")
_OTHER_END = {"src": "dst", "dst": "src"}


def _mac(given: object) -> object:
    if not isinstance(given, str) or not _MAC.fullmatch(given):
        raise mistake(f"{given!r} is not a MAC address", "write aa:bb:cc:dd:ee:ff")
    return given.lower()


MacField = Annotated[str, BeforeValidator(_mac)]
PortField = Annotated[int, Field(ge=0, le=65535)]


class Stream(BaseModel):
    """One kind of frame, sent in one or both directions.

    The frames of a `load` stream make up the load: its rate is a weight, "1.0x"
    or a rate in pps, by which the load streams share the load. A `latency`
    stream probes at its own fixed rate, whatever the load; with `taken_from` its
    rate is taken out of that load stream.

    Frame n of `flows` differs in the fields of `vary`, which count up from the
    addresses below. `src_` and `dst_` are as in the forward direction; the
    reverse swaps them. The addresses vary inside networks of `prefix` bits. The
    defaults lie in 198.18.0.0/15, which RFC 2544 keeps for benchmarks.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9_.-]{1,64}$")]
    role: Role
    rate: RateField = Rate(1.0, "multiplier")
    frame_size: int = 64
    flows: Annotated[int, Field(ge=1, le=2**24)] = 1
    vary: Annotated[tuple[VaryingField, ...], Field(max_length=6)] = ("dst_ip",)
    direction: Direction = "bidirectional"
    protocol: Literal["UDP"] = "UDP"
    stream_types: tuple[StreamType, ...] = ("measurement",)
    taken_from: str | None = None
    src_mac: MacField = "02:00:00:00:00:01"
    dst_mac: MacField = "02:00:01:00:00:01"
    src_ip: IPv4Address = IPv4Address("198.18.0.1")
    dst_ip: IPv4Address = IPv4Address("198.19.0.1")
    prefix: Annotated[int, Field(ge=1, le=30)] = 16
    src_port: PortField = 4096
    dst_port: PortField = 4097

    @field_validator("frame_size")
    @classmethod
    def _holds_its_contents(cls, size: int, info: ValidationInfo) -> int:
        name = info.data.get("name", "the stream")
        if size < MIN_FRAME_SIZE:
            raise mistake(
                f"{size} bytes are too few for the headers, signature and FCS of {name}",
                f"give at least {MIN_FRAME_SIZE} bytes",
            )
        if size > MAX_FRAME_SIZE:
            raise mistake(
                f"{size} bytes are more than a frame of {name} may have",
                f"give at most {MAX_FRAME_SIZE} bytes",
            )
        return size

    @field_validator("protocol", mode="before")
    @classmethod
    def _known_protocol(cls, given: object) -> object:
        if given == "TCP":
            raise mistake("TCP frames cannot be sent yet", "use UDP")
        return given

    @field_validator("stream_types")
    @classmethod
    def _is_measured(cls, types: tuple[StreamType, ...]) -> tuple[StreamType, ...]:
        if "measurement" not in types or "ddos" in types:
            raise mistake(
                "streams only for teaching, and ddos streams, cannot be sent yet",
                "include measurement and leave out ddos, or remove the stream",
            )
        return types

    @model_validator(mode="after")
    def _rate_suits_role(self) -> Self:
        if self.role == "latency" and self.rate.unit != "pps":
            problem = f"{self.rate} is not the fixed rate of a probe"
            raise mistake(problem, "give it in pps", "rate")
        if self.role == "load" and self.rate.unit not in ("pps", "multiplier"):
            remedy = "give a weight such as 1.0x, or a rate in pps"
            raise mistake(f"{self.rate} is not a share of the load", remedy, "rate")
        if self.role == "load" and self.taken_from is not None:
            remedy = "remove it, or use role: latency"
            raise mistake("a load stream makes up the load", remedy, "taken_from")
        return self

    @model_validator(mode="after")
    def _flows_have_addresses(self) -> Self:
        if self.flows > 1 and not self.vary:
            problem = f"{self.flows} flows differ in no field"
            raise mistake(problem, "list one, such as dst_ip", "vary")
        for end in self._varying_ends():
            start = getattr(self, end)
            room = _values_from(start, self.prefix)
            if self.flows > room:
                problem = f"{self.flows} flows are more than {end} has values: {room} from {start}"
                remedy = "use fewer flows, a lower start" + (
                    " or a wider network (smaller prefix)" if end.endswith("_ip") else ""
                )
                raise mistake(problem, remedy, "flows")
        return self

    @property
    def source(self) -> Endpoint:
        """The forward direction's sender."""
        return Endpoint(_mac_bytes(self.src_mac), self.src_ip, self.src_port)

    @property
    def destination(self) -> Endpoint:
        """The forward direction's receiver."""
        return Endpoint(_mac_bytes(self.dst_mac), self.dst_ip, self.dst_port)

    def _varying_ends(self) -> list[str]:
        """The fields that the varying starts from; in reverse it is the other end's."""
        swapped = [_OTHER_END[field[:3]] + field[3:] for field in self.vary]
        forward = list(self.vary) if self.direction in _FORWARD else []
        return forward + (swapped if self.direction in _REVERSE else [])


class Profile(BaseModel):
    """The streams of a test. Frame sizes are bytes with FCS."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    streams: Annotated[tuple[Stream, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _names_differ(self) -> Self:
        names = [stream.name for stream in self.streams]
        for name in names:
            if names.count(name) > 1:
                raise mistake(f"two streams are named {name}", "name each its own", "streams")
        return self

    @model_validator(mode="after")
    def _loads_share_a_unit(self) -> Self:
        if len({stream.rate.unit for stream in self.load_streams}) > 1:
            raise mistake(
                "load streams with weights and with rates in pps do not add up",
                "give all of them weights, or all of them pps",
                "streams",
            )
        return self

    @model_validator(mode="after")
    def _probes_are_taken_from_loads(self) -> Self:
        loads = [stream.name for stream in self.load_streams]
        for probe in self.latency_streams:
            if probe.taken_from is not None and probe.taken_from not in loads:
                raise mistake(
                    f"{probe.name} is taken from {probe.taken_from}, which is no load stream",
                    f"name one of {', '.join(loads)}" if loads else "remove taken_from",
                    "streams",
                )
        return self

    @property
    def load_streams(self) -> tuple[Stream, ...]:
        """Those that make up the load."""
        return tuple(stream for stream in self.streams if stream.role == "load")

    @property
    def latency_streams(self) -> tuple[Stream, ...]:
        """Those that probe."""
        return tuple(stream for stream in self.streams if stream.role == "latency")

    @property
    def full_weight(self) -> float:
        """The load streams' rates summed in the direction where they sum highest."""
        return _weight(_heaviest_direction(self.load_streams))

    @property
    def rate_pps(self) -> float | None:
        """The load per direction that the profile itself states; None if it gives weights."""
        stated = any(stream.rate.unit == "pps" for stream in self.load_streams)
        return self.full_weight if stated else None

    @property
    def mean_frame_size(self) -> float:
        """Of the load streams of the heaviest direction, weighted by rate.

        Of the latency streams if there are no others.
        """
        streams = _heaviest_direction(self.load_streams or self.streams)
        return _bytes_a_second(streams) / _weight(streams)

    @property
    def largest_frame_size(self) -> int:
        """The largest frame of any stream."""
        return max(stream.frame_size for stream in self.streams)

    def notes(self) -> list[str]:
        """What the profile asks for and a run leaves out, in sentences for people."""
        taught = [s.name for s in self.streams if set(s.stream_types) != {"measurement"}]
        if not taught:
            return []
        return [f"no teaching frames are sent yet, though {', '.join(taught)} ask for them"]


def _heaviest_direction(streams: Sequence[Stream]) -> list[Stream]:
    """Those of the direction with the most frames a second; of equals, the most bytes."""
    forward = [stream for stream in streams if stream.direction in _FORWARD]
    reverse = [stream for stream in streams if stream.direction in _REVERSE]
    return max(forward, reverse, key=lambda each: (_weight(each), _bytes_a_second(each)))


def _weight(streams: Sequence[Stream]) -> float:
    return sum(stream.rate.value for stream in streams)


def _bytes_a_second(streams: Sequence[Stream]) -> float:
    return sum(stream.frame_size * stream.rate.value for stream in streams)


def _values_from(start: IPv4Address | int | str, prefix: int) -> int:
    """How many values an address, a port or a MAC has, counting up from `start`."""
    if isinstance(start, IPv4Address):
        # The last address of a network is its broadcast.
        return int(IPv4Network((start, prefix), strict=False).broadcast_address) - int(start)
    if isinstance(start, int):
        return 2**16 - start
    varying = _mac_bytes(start)[-MAC_VARYING_BYTES:]
    return (1 << 8 * MAC_VARYING_BYTES) - int.from_bytes(varying)


def _mac_bytes(mac: str) -> bytes:
    return bytes.fromhex(mac.replace(":", ""))
