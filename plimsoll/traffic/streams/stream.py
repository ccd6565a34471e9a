"""A stream: one kind of traffic that a profile sends, in Plimsoll's own form."""

from __future__ import annotations

from dataclasses import replace
from ipaddress import IPv4Address, ip_address
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StrictBool,
    StrictInt,
    field_validator,
    model_validator,
)

from plimsoll.errors import InputError
from plimsoll.text.mistakes import check_all, mistake
from plimsoll.text.named_program import NotRun
from plimsoll.text.units import Rate, RateField, format_duration, format_pps
from plimsoll.traffic.frames.addresses import Endpoint, IpAddress, IpField, MacField, PortField
from plimsoll.traffic.frames.capture import (
    MAX_FRAMES,
    Checksums,
    PacketCapture,
    load_capture,
    load_gaps,
)
from plimsoll.traffic.frames.packet import MIN_FRAME_SIZE, fits
from plimsoll.traffic.frames.plain_packet import (
    Gtpu,
    MplsLabels,
    Protocol,
    VlanTags,
    Vxlan,
    plain_stacks,
)
from plimsoll.traffic.frames.scapy_layers import Stack
from plimsoll.traffic.frames.vary import MAX_FLOWS, Variation, VariedFields, check_name
from plimsoll.traffic.frames.written_packet import PacketField, reversed_stack, with_addresses
from plimsoll.traffic.imix import Imix, describe_mix, sizes_in_order
from plimsoll.traffic.plan import SHORT_SIGNATURE_BYTES, SIGNATURE_BYTES, CapturedGaps, Pacing, Role
from plimsoll.traffic.streams.flows import check_churn, check_per_flow, notes_on_churn
from plimsoll.traffic.streams.pacing import PacingField, ScheduleSettings
from plimsoll.traffic.streams.stream_checks import check_content

Direction = Literal["bidirectional", "unidirectional", "revunidirectional"]
StreamType = Literal["measurement", "teaching_warmup", "teaching_measurement", "ddos"]

# RFC 2544's addresses for benchmarks (198.18.0.0/15) and RFC 5180's (2001:2::/48).
_DEFAULT_IPS = {4: ("198.18.0.1", "198.19.0.1"), 6: ("2001:2:0:1::1", "2001:2:0:2::1")}
# Where neither the profile nor the generator has others.
_DEFAULT_MACS = ("02:00:00:00:00:01", "02:00:01:00:00:01")
_DEFAULT_FRAME_SIZE = 64
# The least that holds a Sync message and the signature.
_DEFAULT_PTP_SIZE = 80

_FORWARD = ("bidirectional", "unidirectional")
_REVERSE = ("bidirectional", "revunidirectional")


# Pacings whose frames have a rate of their own: the port's, or the capture's.
_OWN_RATES = ("back-to-back", "captured")


class CaptureChoice(BaseModel):
    """A capture file, and which of its frames; they count from 1.

    With `checksums: keep` those that are wrong in the capture are sent as they are.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    file: Annotated[str, Field(min_length=1), NotRun("a capture")]
    first: Annotated[StrictInt, Field(ge=1)] = 1
    count: Annotated[StrictInt, Field(ge=1, le=MAX_FRAMES)] | None = None
    checksums: Checksums = "fix"

    def load(self) -> PacketCapture:
        """The frames. Raises InputError."""
        return load_capture(Path(self.file), self.first, self.count, self.checksums)

    def load_gaps(self) -> CapturedGaps:
        """The gaps between the frames. Raises InputError."""
        return load_gaps(Path(self.file), self.first, self.count)


class Stream(BaseModel):
    """One kind of traffic, sent in one or both directions.

    The frames of a `load` stream make up the load: its rate is a weight, "1.0x" or a rate
    in pps, by which the load streams share the load. A `latency` stream probes at its own
    fixed rate, whatever the load; with `taken_from` its rate is taken out of that load
    stream. With `captured` pacing and no rate it has the capture's own.

    What is sent is a plain packet (`protocol` between two ends, perhaps encapsulated), a `packet`
    written layer by layer, or the frames of a capture (`pcap`). `src_` and `dst_` are as in the
    forward direction; the reverse swaps them. Frame n of `flows` differs in the fields of `vary`,
    which count up from there; addresses stay inside networks of `prefix` bits. `churn` is the
    number of flows replaced by new ones each second, in each direction. With `per_flow` frames are
    counted by flow as well.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9_.-]{1,64}$")]
    role: Role
    rate: RateField | None = None
    pacing: PacingField = Pacing()
    schedule: ScheduleSettings | None = None
    frame_size: StrictInt | None = None
    imix: Imix | None = None
    flows: Annotated[StrictInt, Field(ge=1, le=MAX_FLOWS)] = 1
    vary: VariedFields = ("dst_ip",)
    churn: Annotated[float, Field(gt=0, le=1e9, allow_inf_nan=False)] | None = None
    per_flow: StrictBool = False
    direction: Direction = "bidirectional"
    protocol: Protocol = "UDP"
    stream_types: Annotated[tuple[StreamType, ...], Field(min_length=1)] = ("measurement",)
    taken_from: str | None = None
    src_mac: MacField | None = None
    dst_mac: MacField | None = None
    src_ip: IpField = IPv4Address("198.18.0.1")
    dst_ip: IpField = IPv4Address("198.19.0.1")
    prefix: Annotated[StrictInt, Field(ge=1)] = 16
    src_port: PortField = 4096
    dst_port: PortField = 4097
    vlan: VlanTags = ()
    mpls: MplsLabels = ()
    vxlan: Vxlan | None = None
    gtpu: Gtpu | None = None
    packet: PacketField | None = None
    reverse_packet: PacketField | None = None
    pcap: CaptureChoice | None = None

    @model_validator(mode="before")
    @classmethod
    def _with_defaults(cls, given: Any) -> Any:
        """Those defaults that depend on what else is given."""
        if not isinstance(given, dict):
            return given
        defaults: dict[str, object] = {}
        if any(":" in str(given.get(end)) for end in ("src_ip", "dst_ip")):
            source, destination = _DEFAULT_IPS[6]
            defaults = {"src_ip": source, "dst_ip": destination, "prefix": 64}
        if given.get("imix") is None and given.get("pcap") is None:
            ptp = given.get("protocol") == "PTP"
            defaults["frame_size"] = _DEFAULT_PTP_SIZE if ptp else _DEFAULT_FRAME_SIZE
        if given.get("role") == "load" and given.get("pacing") not in _OWN_RATES:
            defaults["rate"] = "1.0x"
        if isinstance(given.get("pcap"), str):
            given = given | {"pcap": {"file": given["pcap"]}}
        return defaults | {name: value for name, value in given.items() if value is not None}

    @field_validator("vary")
    @classmethod
    def _names_fields(cls, vary: tuple[str | Variation, ...]) -> tuple[str | Variation, ...]:
        for index, each in enumerate(vary):
            if isinstance(each, str):
                try:
                    check_name(each)
                except InputError as error:
                    raise mistake(error.message, error.remedy, index) from None
        return vary

    @field_validator("stream_types")
    @classmethod
    def _is_sent(cls, types: tuple[StreamType, ...]) -> tuple[StreamType, ...]:
        if "ddos" in types and "measurement" in types:
            raise mistake(
                "what the DUT is to drop cannot be what it is to forward",
                "leave out ddos or measurement",
            )
        return types

    @model_validator(mode="after")
    def _fields_agree(self) -> Self:
        check_all(
            self._rate_suits_role,
            self._pacing_suits_role,
            self._has_one_content,
            self._has_one_ip_version,
        )
        check_content(self)
        if self.churn is not None:
            check_churn(self)
        if self.per_flow:
            check_per_flow(self)
        return self

    def _rate_suits_role(self) -> None:
        if self.role == "load" and self.taken_from is not None:
            remedy = "remove it, or use role: latency"
            raise mistake("a load stream makes up the load", remedy, "taken_from")
        if self.rate is None:
            self._check_that_none_is_needed()
        elif self.pacing.kind == "back-to-back":
            problem = "back-to-back frames have no rate but the port's"
            raise mistake(problem, "remove rate, or pacing", "rate")
        elif self.role == "latency" and self.rate.unit != "pps":
            problem = f"{self.rate} is not the fixed rate of a probe"
            raise mistake(problem, "give it in pps", "rate")
        elif self.role == "load" and self.rate.unit not in ("pps", "multiplier"):
            remedy = "give a weight such as 1.0x, or a rate in pps"
            raise mistake(f"{self.rate} is not a share of the load", remedy, "rate")

    def _check_that_none_is_needed(self) -> None:
        if self.pacing.kind == "captured":
            return
        if self.pacing.kind not in ("back-to-back", "one-in-flight"):
            raise mistake("a probe has a fixed rate", "give it in pps, such as 1000pps", "rate")
        if self.taken_from is not None:
            problem = "a stream without a rate cannot be taken out of another"
            raise mistake(problem, "give it a rate, or remove it", "taken_from")

    def _pacing_suits_role(self) -> None:
        if self.pacing.kind == "one-in-flight" and self.role != "latency":
            raise mistake("one frame in flight is not a load", "use role: latency", "pacing")
        if self.pacing.kind == "back-to-back" and self.role != "load":
            raise mistake("back-to-back frames are not a probe", "use role: load", "pacing")
        if self.pacing.kind == "one-in-flight" and self.schedule is not None:
            problem = "one frame in flight waits for frames, not for times"
            raise mistake(problem, "remove it, or pacing", "schedule")
        if self.pacing.kind == "captured" and self.pcap is None:
            problem = "only the frames of a capture have gaps of their own"
            raise mistake(problem, "give pcap, or another pacing", "pacing")
        if self.filtered and self.role == "latency":
            raise mistake("what the DUT is to drop cannot probe it", "use role: load", "role")

    def _has_one_content(self) -> None:
        plain_only = {"vlan": (), "mpls": (), "vxlan": None, "gtpu": None, "protocol": "UDP"}
        if self.packet is not None or self.pcap is not None:
            whole = "packet" if self.packet is not None else "pcap"
            for field, nothing in plain_only.items():
                if getattr(self, field) != nothing:
                    problem = f"a {whole} is sent unchanged"
                    raise mistake(problem, f"remove it, or {whole}", field)
        _exclusive(self, "packet", "pcap", "send one of them")
        _exclusive(self, "vxlan", "gtpu", "use one, or write a packet")
        _exclusive(self, "frame_size", "imix", "give the size, or the mix")
        _exclusive(self, "pcap", "frame_size", "remove it: captured frames have their own sizes")
        _exclusive(self, "pcap", "imix", "remove it: captured frames have their own sizes")
        if self.reverse_packet is not None and self.packet is None:
            raise mistake("there is no packet to go with it", "give packet", "reverse_packet")

    def _has_one_ip_version(self) -> None:
        if self.src_ip.version != self.dst_ip.version:
            problem = f"{self.src_ip} and {self.dst_ip} are of different IP versions"
            raise mistake(problem, "give both of one version", "dst_ip")
        most = 30 if self.src_ip.version == 4 else 126
        if self.prefix > most:
            problem = f"a network of {self.prefix} bits has no room for two ends"
            raise mistake(problem, f"give at most {most}", "prefix")

    @property
    def measured(self) -> bool:
        """Whether it is sent itself; else only its destinations are taught."""
        return "measurement" in self.stream_types or self.filtered

    @property
    def filtered(self) -> bool:
        """Whether the DUT is to drop its frames."""
        return "ddos" in self.stream_types

    @property
    def signature_bytes(self) -> int:
        """How many of its frames' last bytes the signature takes: few, where there is no room."""
        if self.role == "latency" or self.pcap is not None:
            return SIGNATURE_BYTES
        stacks = [stack for reverse in self.goes for stack in self.stacks(reverse=reverse)]
        full = all(fits(stack, size, SIGNATURE_BYTES) for stack in stacks for size in self.sizes)
        return SIGNATURE_BYTES if full else SHORT_SIGNATURE_BYTES

    @property
    def goes(self) -> tuple[bool, ...]:
        """False for forward, True for reverse: the directions it is sent in."""
        return tuple(
            reverse
            for reverse, directions in ((False, _FORWARD), (True, _REVERSE))
            if self.direction in directions
        )

    @property
    def capture(self) -> PacketCapture | None:
        """The captured frames, if it replays any."""
        return self.pcap.load() if self.pcap else None

    @property
    def planned_pacing(self) -> Pacing:
        """Its pacing, with the capture's gaps where it keeps them. Raises InputError."""
        if self.pacing.kind != "captured" or self.pcap is None:
            return self.pacing
        return replace(self.pacing, gaps=self.pcap.load_gaps())

    @property
    def planned_rate(self) -> Rate | None:
        """Its rate, or the capture's own where it keeps its gaps and was given none."""
        gaps = self.planned_pacing.gaps
        return Rate(gaps.own_pps, "pps") if self.rate is None and gaps else self.rate

    @property
    def sizes(self) -> tuple[int, ...]:
        """Frame sizes with FCS, in the order of sending, over and over; not of captures."""
        if self.imix is not None:
            return sizes_in_order(self.imix)
        return () if self.frame_size is None else (self.frame_size,)

    @property
    def mean_frame_size(self) -> float:
        """Bytes with FCS."""
        capture = self.capture
        if capture:
            return capture.mean_frame_size
        return sum(max(MIN_FRAME_SIZE, size) for size in self.sizes) / len(self.sizes)

    @property
    def largest_frame_size(self) -> int:
        """Bytes with FCS."""
        capture = self.capture
        return capture.largest_frame_size if capture else max(MIN_FRAME_SIZE, *self.sizes)

    def stacks(self, *, reverse: bool) -> tuple[Stack, ...]:
        """The packets that take turns in one direction; none for captures.

        Raises InputError for what cannot be combined.
        """
        if self.pcap is not None:
            return ()
        ends = {version: self._ends(version, reverse) for version in (4, 6)}
        if self.packet is None:
            source, destination = self.ends(reverse=reverse)
            return plain_stacks(
                self.protocol,
                source,
                destination,
                tags=self.vlan,
                labels=self.mpls,
                tunnel=self.vxlan or self.gtpu,
                reverse=reverse,
            )
        written = self.packet
        if reverse:
            written = self.reverse_packet or reversed_stack(self.packet)
        return (with_addresses(written, ends),)

    def notes(self) -> list[str]:
        """What it sends that a profile does not spell out, in sentences for people."""
        content = self._notes_on_content()
        return [*self._notes_on_signature(), *content, *notes_on_churn(self)]

    def _notes_on_signature(self) -> list[str]:
        if self.signature_bytes == SIGNATURE_BYTES:
            return []
        return [
            f"stream {self.name} has frames with room for a short signature only: losses, order "
            "and duplicates are known of each, and its latency of none"
        ]

    def _notes_on_content(self) -> list[str]:
        if self.imix is not None:
            return [f"stream {self.name} mixes frame sizes: {describe_mix(self.sizes)}"]
        capture = self.capture
        if capture is None or self.pcap is None:
            return []
        gaps = self.planned_pacing.gaps
        return [*self._notes_on_frames(capture, self.pcap.file), *self._notes_on_gaps(gaps)]

    def _notes_on_gaps(self, gaps: CapturedGaps | None) -> list[str]:
        if gaps is None:
            return []
        return [
            f"stream {self.name} keeps the gaps between captured frames, scaled to its rate: at "
            f"their own speed {format_pps(gaps.own_pps)} in the mean, and a round takes "
            f"{format_duration(gaps.round_ns / 1e9)} with the mean gap at its end"
        ]

    def _notes_on_frames(self, capture: PacketCapture, file: str) -> list[str]:
        notes = [
            f"stream {self.name} sends {len(capture.order)} frames of {file}: the "
            f"signature replaces the last 18 bytes of {capture.overwritten}, and "
            f"{capture.lengthened} were lengthened to hold it"
        ]
        if capture.wrong:
            is_one = capture.wrong == 1
            sent = "corrected" if capture.checksums == "fix" else "sent unchanged"
            notes.append(
                f"{capture.wrong} of these frames {'was' if is_one else 'were'} captured with "
                f"wrong checksums, as hosts leave them to their cards; "
                f"{'it is' if is_one else 'they are'} {sent} (pcap.checksums: "
                f"{capture.checksums})"
            )
        return notes

    def ends(self, *, reverse: bool) -> tuple[Endpoint, Endpoint]:
        """Source and destination of one direction."""
        return self._ends(self.src_ip.version, reverse)

    def open_macs(self, *, reverse: bool) -> tuple[bool, IpAddress | None]:
        """What a generator that is a host may write into the frames of one direction.

        Whether the source's MAC is its own, and the destination whose next hop has the other;
        None where that is written, varies, or is not an IP packet's right behind it.
        """
        macs = (self.dst_mac, self.src_mac) if reverse else (self.src_mac, self.dst_mac)
        wrapped = self.packet or self.pcap or self.vxlan or self.gtpu or self.mpls
        names = [each for each in self.vary if isinstance(each, str)]
        own = macs[0] is None and not wrapped and "src_mac" not in names
        no_ip = self.protocol in ("ARP", "GARP", "PTP")
        if macs[1] is not None or wrapped or "dst_mac" in names or no_ip:
            return own and "ARP" not in self.protocol, None
        return own, self.ends(reverse=reverse)[1].ip

    def _ends(self, version: int, reverse: bool) -> tuple[Endpoint, Endpoint]:
        """Source and destination; of the other IP version than its own, the default addresses."""
        ips = (str(self.src_ip), str(self.dst_ip))
        if version != self.src_ip.version:
            ips = _DEFAULT_IPS[version]
        macs = (self.src_mac or _DEFAULT_MACS[0], self.dst_mac or _DEFAULT_MACS[1])
        source = Endpoint(macs[0], ip_address(ips[0]), self.src_port)
        destination = Endpoint(macs[1], ip_address(ips[1]), self.dst_port)
        return (destination, source) if reverse else (source, destination)


def _exclusive(stream: Stream, one: str, other: str, remedy: str) -> None:
    if getattr(stream, one) is not None and getattr(stream, other) is not None:
        raise mistake(f"cannot be together with {one}", remedy, other)
