"""Teaching streams: from where a stream's frames arrive, frames that say who lives there.

They go out of the receiving port, with the stream's destinations as sources, so that a
switch between the ports learns on which side each address is before it, or while it, has
to forward to it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from plimsoll.errors import InputError
from plimsoll.traffic.frames.templates import Templates
from plimsoll.traffic.plan import SIGNATURE_BYTES, StreamPlan
from plimsoll.traffic.streams.compile import Paths, path_numbers
from plimsoll.traffic.streams.profile import Profile
from plimsoll.traffic.streams.stream import Stream, StreamType
from plimsoll.traffic.teaching.frames import teaching_templates
from plimsoll.traffic.teaching.settings import (
    MeasurementTeaching,
    TeachingFrames,
    TeachingSettings,
    WarmupTeaching,
)


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
