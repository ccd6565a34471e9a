"""From a profile and a load to what the engine sends: bytes and rates per port."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from plimsoll.errors import InputError
from plimsoll.text.units import format_pps
from plimsoll.traffic.frames.field_writers import templates
from plimsoll.traffic.plan import SIGNATURE_BYTES, StreamPlan
from plimsoll.traffic.streams.flows import churned_fields
from plimsoll.traffic.streams.pacing import planned_schedule
from plimsoll.traffic.streams.profile import Profile
from plimsoll.traffic.streams.stream import Stream

# One (tx_port, rx_port) of the tester's ports for each direction; even ones are forward.
Paths = tuple[tuple[int, int], ...]


# In hexadecimal they, and whatever else a trial needs, fit into a line of 32 MiB.
_MAX_TEMPLATE_BYTES = 15_000_000


def compile_profile(profile: Profile, load_pps: float, paths: Paths) -> tuple[StreamPlan, ...]:
    """The streams of one trial at `load_pps` per direction, ids from 0 in the profile's order.

    Load streams share the load by weight. Where the directions' weights differ,
    the heavier carries `load_pps` and the other its share of it. Latency streams
    keep their rate; streams without one have None. Raises InputError where the lab
    has no path for a stream's direction, where probes take all that a load stream
    has, and where the templates are too many for one request to the engine.
    """
    planned = [
        (stream, path)
        for stream in profile.measured_streams
        for path in path_numbers(stream, paths)
    ]
    plans = tuple(
        replace(
            _plan(
                number, stream, paths[path], path, _rate_pps(stream, path, profile, load_pps, paths)
            ),
            taken_from=_taken_from(stream, path, profile, paths),
        )
        for number, (stream, path) in enumerate(planned)
    )
    _check_bytes(plans)
    return plans


def _check_bytes(plans: Sequence[StreamPlan]) -> None:
    total = sum(len(frame) for plan in plans for frame in plan.frames)
    if total > _MAX_TEMPLATE_BYTES:
        raise InputError(
            f"the templates of all streams have {total} bytes, more than {_MAX_TEMPLATE_BYTES}",
            where="profile.streams",
            remedy="send fewer frames of captures, or smaller ones",
        )


def _plan(
    number: int, stream: Stream, ports: tuple[int, int], path: int, rate_pps: float | None
) -> StreamPlan:
    made = templates(stream, reverse=path % 2 == 1)
    own_source, destination = stream.open_macs(reverse=path % 2 == 1)
    tx_port, rx_port = ports
    return StreamPlan(
        stream=number,
        name=_directed(stream, ports),
        role=stream.role,
        tx_port=tx_port,
        rx_port=rx_port,
        frames=made.frames,
        rate_pps=rate_pps,
        order=made.order,
        pacing=stream.planned_pacing,
        fields=churned_fields(stream, made.fields, rate_pps, reverse=path % 2 == 1),
        schedule=planned_schedule(stream.schedule),
        short_signature=stream.signature_bytes < SIGNATURE_BYTES,
        filtered=stream.filtered,
        destination=destination,
        own_source=own_source,
        counted_flows=stream.flows if stream.per_flow else 0,
    )


def _directed(stream: Stream, ports: tuple[int, int]) -> str:
    """The name of the stream in one direction."""
    return f"{stream.name}/{ports[0]}-{ports[1]}"


def path_numbers(stream: Stream, paths: Paths) -> range:
    """Which of the paths the stream goes. Raises InputError where the lab lacks it."""
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


def _rate_pps(
    stream: Stream, path: int, profile: Profile, load_pps: float, paths: Paths
) -> float | None:
    rate = stream.planned_rate
    if rate is None:
        return None
    if stream.role == "latency":
        return rate.value
    share_pps = load_pps * rate.value / profile.total_weight
    taken_pps = sum(_taken_by_probes(stream, path, profile, paths))
    if taken_pps >= share_pps:
        raise InputError(
            f"probes take {format_pps(taken_pps)} out of stream {stream.name}, which has "
            f"{format_pps(share_pps)} at a load of {format_pps(load_pps)}",
            where="load",
            remedy="use a higher load or slower probes",
        )
    return share_pps - taken_pps


def _taken_from(stream: Stream, path: int, profile: Profile, paths: Paths) -> str | None:
    """The load stream that a probe's rate is taken out of, where that goes this path."""
    for load in profile.load_streams:
        if load.name == stream.taken_from and path in path_numbers(load, paths):
            return _directed(load, paths[path])
    return None


def _taken_by_probes(stream: Stream, path: int, profile: Profile, paths: Paths) -> Iterator[float]:
    for probe in profile.latency_streams:
        rate = probe.planned_rate
        if probe.taken_from == stream.name and path in path_numbers(probe, paths) and rate:
            yield rate.value
