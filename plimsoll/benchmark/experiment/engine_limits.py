"""What the engine takes, checked before it is asked: its own limits are those of its requests."""

from __future__ import annotations

from collections import Counter

from plimsoll.dut.lab import LabModel
from plimsoll.errors import InputError
from plimsoll.generator.engine.queue_parts import QueueParts
from plimsoll.generator.settings import EngineSettings
from plimsoll.text.units import format_pps
from plimsoll.traffic.plan import StreamPlan
from plimsoll.traffic.streams.compile import compile_profile
from plimsoll.traffic.streams.profile import Profile
from plimsoll.traffic.teaching.settings import MeasurementTeaching
from plimsoll.traffic.teaching.teaching import teaching_beside

# STREAMS_MAX of engine/src/config/limits.h: each direction and each queue counts.
MOST_STREAMS = 64
# Of one stream; engine/src/control/requests/request_pacing.c.
LEAST_PPS, MOST_PPS = 0.01, 1e9


def check_engine_takes(
    profile: Profile,
    load_pps: float,
    lab: LabModel,
    generator: EngineSettings,
    where: str,
    *,
    teaching: MeasurementTeaching | None = None,
) -> None:
    """Raise InputError where no trial of the profile can be sent at a load per direction.

    `where` is the place that the load was given at. What teaches beside it counts as well.
    """
    try:
        streams = compile_profile(profile, load_pps, lab.directions)
        streams += teaching_beside(streams, profile, teaching, lab.directions)
    except InputError as error:
        place = where if error.where == "load" else error.where
        raise InputError(error.message, where=place, remedy=error.remedy) from None
    parts = QueueParts.of(streams, _tx_queues(generator, lab.port_count)).streams
    _check_number(parts, streams)
    for part in parts:
        _check_rate(part, where)


def _tx_queues(generator: EngineSettings, port_count: int) -> list[int]:
    """Of each port, as the layout of polling loops has them."""
    workers = generator.layout(port_count)
    queues = Counter(port for worker in workers for port, _ in worker.tx)
    return [queues[port] for port in range(port_count)]


def _check_number(parts: tuple[StreamPlan, ...], streams: tuple[StreamPlan, ...]) -> None:
    if len(parts) <= MOST_STREAMS:
        return
    spread = f", {len(parts)} over the ports' queues" if len(parts) > len(streams) else ""
    raise InputError(
        f"these are {len(streams)} streams with each direction counted{spread}; "
        f"the generator takes {MOST_STREAMS}",
        where="profile.streams",
        remedy="use fewer streams, or fewer directions, ports or CPUs of the generator",
    )


def _check_rate(stream: StreamPlan, where: str) -> None:
    if stream.rate_pps is None or LEAST_PPS <= stream.rate_pps <= MOST_PPS:
        return
    raise InputError(
        f"stream {stream.name} would be sent at {format_pps(stream.rate_pps)}; the generator "
        f"takes {format_pps(LEAST_PPS)} to {format_pps(MOST_PPS)} a stream",
        where=where if stream.role == "load" else "profile.streams",
        remedy="check the unit of the rate",
    )
