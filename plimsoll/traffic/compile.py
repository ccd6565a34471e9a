"""From a profile and a load to what the engine sends: bytes and rates per port."""

from __future__ import annotations

from collections.abc import Iterator

from plimsoll.errors import InputError
from plimsoll.traffic import frames
from plimsoll.traffic.plan import FieldWriter, StreamPlan
from plimsoll.traffic.profile import MAC_VARYING_BYTES, Profile, Stream, VaryingField
from plimsoll.traffic.units import format_pps

# One (tx_port, rx_port) of the tester's ports for each direction; even ones are forward.
Paths = tuple[tuple[int, int], ...]

_MAC_FIXED_BYTES = 6 - MAC_VARYING_BYTES
_IP_FIXES = (frames.IP_CHECKSUM_OFFSET, frames.UDP_CHECKSUM_OFFSET)
_PORT_FIXES = (frames.UDP_CHECKSUM_OFFSET,)

# Offset, width, and the checksums that cover the field.
_WRITERS: dict[VaryingField, tuple[int, int, tuple[int, ...]]] = {
    "src_mac": (frames.SRC_MAC_OFFSET + _MAC_FIXED_BYTES, MAC_VARYING_BYTES, ()),
    "dst_mac": (frames.DST_MAC_OFFSET + _MAC_FIXED_BYTES, MAC_VARYING_BYTES, ()),
    "src_ip": (frames.SRC_IP_OFFSET, 4, _IP_FIXES),
    "dst_ip": (frames.DST_IP_OFFSET, 4, _IP_FIXES),
    "src_port": (frames.SRC_PORT_OFFSET, 2, _PORT_FIXES),
    "dst_port": (frames.DST_PORT_OFFSET, 2, _PORT_FIXES),
}


def compile_profile(profile: Profile, load_pps: float, paths: Paths) -> tuple[StreamPlan, ...]:
    """The streams of one trial at `load_pps` per direction, ids from 0 in the profile's order.

    Load streams share the load by weight. Where the directions' weights differ,
    the heavier carries `load_pps` and the other its share of it. Latency streams
    keep their rate. Raises InputError where the lab has no path for a stream's
    direction, and where probes take all that a load stream has.
    """
    planned = [
        (stream, path) for stream in profile.streams for path in _path_numbers(stream, paths)
    ]
    return tuple(
        StreamPlan(
            stream=number,
            name=f"{stream.name}/{paths[path][0]}-{paths[path][1]}",
            role=stream.role,
            tx_port=paths[path][0],
            rx_port=paths[path][1],
            frame=_template(stream, path),
            rate_pps=_rate_pps(stream, path, profile, load_pps, paths),
            fields=_writers(stream),
        )
        for number, (stream, path) in enumerate(planned)
    )


def _path_numbers(stream: Stream, paths: Paths) -> range:
    if stream.direction == "bidirectional":
        return range(len(paths))
    number = 0 if stream.direction == "unidirectional" else 1
    if number >= len(paths):
        raise InputError(
            f"stream {stream.name} is {stream.direction}, and the lab has {len(paths)} path(s)",
            where="lab.paths",
            remedy="use a lab with both directions, or another direction",
        )
    return range(number, number + 1)


def _template(stream: Stream, path: int) -> bytes:
    ends = [stream.source, stream.destination]
    source, destination = ends if path % 2 == 0 else reversed(ends)
    return frames.udp_frame(source, destination, stream.frame_size)


def _rate_pps(stream: Stream, path: int, profile: Profile, load_pps: float, paths: Paths) -> float:
    if stream.role == "latency":
        return stream.rate.value
    share_pps = load_pps * stream.rate.value / profile.full_weight
    taken_pps = sum(probe.rate.value for probe in _probes_of(stream, path, profile, paths))
    if taken_pps >= share_pps:
        raise InputError(
            f"probes take {format_pps(taken_pps)} out of stream {stream.name}, which has "
            f"{format_pps(share_pps)} at a load of {format_pps(load_pps)}",
            where="load",
            remedy="use a higher load or slower probes",
        )
    return share_pps - taken_pps


def _probes_of(stream: Stream, path: int, profile: Profile, paths: Paths) -> Iterator[Stream]:
    for probe in profile.latency_streams:
        if probe.taken_from == stream.name and path in _path_numbers(probe, paths):
            yield probe


def _writers(stream: Stream) -> tuple[FieldWriter, ...]:
    if stream.flows == 1:
        return ()
    return tuple(
        FieldWriter(offset, width, stream.flows, fixes=fixes)
        for offset, width, fixes in (_WRITERS[field] for field in stream.vary)
    )
