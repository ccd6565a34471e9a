"""Teaching streams: from where a stream's frames arrive, frames that say who lives there.

They go out of the receiving port, with the stream's destinations as sources, so that a
switch between the ports learns on which side each address is before it, or while it, has
to forward to it.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from plimsoll.errors import InputError
from plimsoll.text.mistakes import mistake
from plimsoll.text.units import DurationField, Rate, RateField
from plimsoll.traffic.frames.field_writers import Templates, field_writers, places_of
from plimsoll.traffic.frames.packet import build_frame, check_signable, least_frame_size
from plimsoll.traffic.frames.plain_packet import Protocol, plain_stacks
from plimsoll.traffic.frames.scapy_layers import FieldValue, Stack, transport_index
from plimsoll.traffic.frames.vary import PATH, Variation
from plimsoll.traffic.frames.written_packet import reversed_stack
from plimsoll.traffic.plan import SIGNATURE_BYTES, StreamPlan
from plimsoll.traffic.streams.compile import Paths, path_numbers
from plimsoll.traffic.streams.profile import Profile
from plimsoll.traffic.streams.stream import Stream, StreamType

if TYPE_CHECKING:
    from plimsoll.traffic.streams.stream import Stream


# What is sent from the far end: the stream's own packets turned round, gratuitous ARP, or
# ICMP echo requests.
TeachingFrames = Literal["generic", "garp", "icmp"]

# trafficgen's defaults: --teaching-*-packet-rate and --teaching-measurement-interval.
_RATE = Rate(1000.0, "pps")
_INTERVAL_S = 10.0


def _in_pps(rate: Rate) -> Rate:
    if rate.unit != "pps":
        raise mistake(f"{rate} is not a fixed rate", "give it in pps, such as 1000pps")
    return rate


TeachingRate = Annotated[RateField, AfterValidator(_in_pps)]


class WarmupTeaching(BaseModel):
    """Teaching before each trial: one frame for each flow, at `rate` for each taught stream."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    frames: TeachingFrames = "generic"
    rate: TeachingRate = _RATE


class MeasurementTeaching(BaseModel):
    """Teaching during the load: one frame for each flow in each `interval`.

    They are spread evenly over it, and never come faster than `rate`; more flows than that
    allows take longer than the interval.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    frames: TeachingFrames = "generic"
    rate: TeachingRate = _RATE
    interval: Annotated[DurationField, Field(ge=0.001, le=86400)] = _INTERVAL_S

    def pps(self, flows: int) -> float:
        """What a stream of so many flows is taught at."""
        return min(self.rate.value, flows / self.interval)


class TeachingSettings(BaseModel):
    """Which teaching there is; null leaves it out.

    Streams are taught whose `stream_types` name it: teaching_warmup, teaching_measurement.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    warmup: WarmupTeaching | None = WarmupTeaching()
    measurement: MeasurementTeaching | None = MeasurementTeaching()


_SHORT = re.compile(r"(src|dst)_(mac|ip|port)")
_PORTS = ("sport", "dport")
_OTHER_END = {
    "src": "dst",
    "dst": "src",
    "hwsrc": "hwdst",
    "hwdst": "hwsrc",
    "psrc": "pdst",
    "pdst": "psrc",
    "sport": "dport",
    "dport": "sport",
}
_SPOKEN: dict[TeachingFrames, Protocol] = {"garp": "GARP", "icmp": "ICMP"}


def taught_streams(profile: Profile, when: StreamType) -> tuple[Stream, ...]:
    """Those whose `stream_types` ask for this teaching."""
    return tuple(stream for stream in profile.streams if when in stream.stream_types)


def check_teaching(profile: Profile, teaching: TeachingSettings) -> None:
    """Raise InputError for a stream that needs teaching and cannot have it.

    Its `where` is the field below `teaching` that says with which frames.
    """
    if teaching.warmup is not None:
        taught = taught_streams(profile, "teaching_warmup")
        _check(taught, teaching.warmup.frames, "warmup.frames")
    if teaching.measurement is not None:
        taught = taught_streams(profile, "teaching_measurement")
        _check(taught, teaching.measurement.frames, "measurement.frames")


def _check(taught: Sequence[Stream], frames: TeachingFrames, where: str) -> None:
    for stream in taught:
        for reverse in stream.goes:
            _templates_of(stream, frames, reverse, where)


def teaching_before(
    profile: Profile, settings: WarmupTeaching, paths: Paths
) -> tuple[StreamPlan, ...]:
    """One frame for each flow of each taught stream; empty where none needs it.

    A stream that is for teaching alone keeps its own rate, where that is in pps.
    """

    def pps(stream: Stream, _: int) -> float:
        own = stream.rate if not stream.measured else None
        return own.value if own is not None and own.unit == "pps" else settings.rate.value

    taught = taught_streams(profile, "teaching_warmup")
    return tuple(_plans(taught, settings.frames, paths, pps, first=0, once=True))


def teaching_duration_s(plans: Sequence[StreamPlan]) -> float:
    """How long the longest of them takes to send all its frames."""
    return max(
        plan.frame_count / plan.rate_pps
        for plan in plans
        if plan.frame_count is not None and plan.rate_pps is not None
    )


def background_teaching(
    streams: tuple[StreamPlan, ...],
    profile: Profile,
    settings: MeasurementTeaching | None,
    paths: Paths,
) -> tuple[StreamPlan, ...]:
    """What teaches during a trial of `streams`, numbered after them; empty for none."""
    if settings is None or not streams:
        return ()

    def pps(_: Stream, flows: int) -> float:
        return settings.pps(flows)

    taught = taught_streams(profile, "teaching_measurement")
    first = max(plan.stream for plan in streams) + 1
    return tuple(_plans(taught, settings.frames, paths, pps, first=first, once=False))


def _plans(
    taught: Sequence[Stream],
    frames: TeachingFrames,
    paths: Paths,
    pps: Callable[[Stream, int], float],
    *,
    first: int,
    once: bool,
) -> Iterator[StreamPlan]:
    """Numbered from `first`; two streams that teach the same are one."""
    seen: set[tuple[object, ...]] = set()
    for stream in taught:
        for path in path_numbers(stream, paths):
            made = _templates_of(stream, frames, path % 2 == 1, "frames")
            tx_port, rx_port = reversed(paths[path])
            if (same := (tx_port, rx_port, made)) in seen:
                continue
            flows = max([len(made.frames), *(field.count for field in made.fields)])
            yield StreamPlan(
                stream=first + len(seen),
                name=f"{stream.name}-teaching/{tx_port}-{rx_port}",
                role="load",
                tx_port=tx_port,
                rx_port=rx_port,
                frames=made.frames,
                rate_pps=pps(stream, flows),
                fields=made.fields,
                frame_count=flows if once else None,
                short_signature=stream.signature_bytes < SIGNATURE_BYTES,
            )
            seen.add(same)


def _templates_of(stream: Stream, frames: TeachingFrames, reverse: bool, where: str) -> Templates:
    try:
        return teaching_templates(stream, frames, reverse=reverse)
    except InputError as error:
        raise InputError(
            f"stream {stream.name} cannot be taught: {error.message}",
            where=where,
            remedy=error.remedy,
        ) from None


# The frames that teach where a stream's destinations live: its packets from their far end.
#
# A switch learns addresses as sources. So what a stream has as destination is here the
# source, for every flow, and what varies in the one varies in the other.
@functools.lru_cache(maxsize=256)
def teaching_templates(stream: Stream, frames: TeachingFrames, *, reverse: bool) -> Templates:
    """What the receiver of one direction of `stream` sends, as small as frames may be.

    Raises InputError where that cannot be made: of a capture, of a packet to a group, of
    IPv6 by gratuitous ARP.
    """
    taught = _taught(stream, frames, reverse)
    for stack in taught.stacks:
        _check_learnable(stack[0].get("src"))
        check_signable(stack)
    # Of different sizes only by their headers; they take turns.
    signature = stream.signature_bytes
    made = tuple(
        build_frame(stack, least_frame_size(stack, signature), signature) for stack in taught.stacks
    )
    fields = field_writers(taught.stacks[0], taught.vary, stream.flows)
    return Templates(made, (), fields)


@dataclass(frozen=True, slots=True)
class _Taught:
    """Packets that take turns, and what varies in them."""

    stacks: tuple[Stack, ...]
    vary: tuple[str | Variation, ...]


def _taught(stream: Stream, frames: TeachingFrames, reverse: bool) -> _Taught:
    if stream.pcap is not None:
        raise InputError("captured frames cannot be turned round", remedy="leave its teaching out")
    if frames != "generic":
        return _spoken(stream, _SPOKEN[frames], reverse)
    if stream.packet is None:
        return _of_plain(stream, reverse)
    (sent,) = stream.stacks(reverse=reverse)
    # Turned round, a packet to a group would still be its sender's.
    _check_learnable(sent[0].get("dst"))
    return _Taught((reversed_stack(sent),), tuple(_turned(sent, each) for each in stream.vary))


def _of_plain(stream: Stream, reverse: bool) -> _Taught:
    """Gratuitous ARP teaches its sender; its far end says the same of itself."""
    stacks = stream.stacks(reverse=not reverse)
    if stream.protocol == "GARP":
        return _Taught(stacks, stream.vary)
    (sent,) = stream.stacks(reverse=reverse)
    return _Taught(stacks, tuple(_turned(sent, each) for each in stream.vary))


def _spoken(stream: Stream, protocol: Protocol, reverse: bool) -> _Taught:
    """Of a protocol of its own; fields that it does not have do not vary in it."""
    if stream.packet is not None:
        raise InputError(
            "of a packet written layer by layer the ends are not known",
            remedy="teach it with frames: generic",
        )
    source, destination = stream.ends(reverse=not reverse)
    stacks = plain_stacks(
        protocol,
        source,
        destination,
        tags=stream.vlan,
        labels=stream.mpls,
        tunnel=stream.vxlan or stream.gtpu,
        reverse=not reverse,
    )
    sent = stream.stacks(reverse=reverse)[0]
    turned = [_turned(sent, each) for each in stream.vary]
    return _Taught(stacks, tuple(each for each in turned if _has(stacks[0], each)))


def _has(stack: Stack, varied: str | Variation) -> bool:
    name = varied if isinstance(varied, str) else varied.field
    try:
        return bool(places_of(stack, name))
    except InputError:
        if name.endswith(".src"):
            raise InputError(
                f"there is no {name} in {stack[-1].name}, so not every address would be taught",
                remedy="vary dst_ip or dst_mac by these names, or teach with frames: generic",
            ) from None
        return False


def _turned(sent: Stack, varied: str | Variation) -> str | Variation:
    """The field at the other end of `sent` that means the same."""
    if isinstance(varied, Variation):
        every = {"values": "increment", "seed": 0} if varied.values == "random" else {}
        return varied.model_copy(update={"field": _turned_path(sent, varied.field), **every})
    if short := _SHORT.fullmatch(varied):
        return f"{_OTHER_END[short[1]]}_{short[2]}"
    return _turned_path(sent, varied)


def _turned_path(sent: Stack, name: str) -> str:
    """A tunnel's ports say what it is, whichever way it is passed."""
    match = PATH.fullmatch(name)
    if match is None or match["field"] not in _OTHER_END:
        return name
    ((index, field),) = places_of(sent, name)
    if field in _PORTS and index != transport_index(sent):
        return name
    return f"{name.removesuffix(field)}{_OTHER_END[field]}"


def _check_learnable(mac: FieldValue) -> None:
    """Raise where it is a group's address."""
    if isinstance(mac, str) and int(mac[:2], 16) % 2 == 1:
        raise InputError(
            f"its frames go to {mac}, a group's address, which no switch learns",
            remedy="leave its teaching out",
        )
