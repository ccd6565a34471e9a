"""What one trial of live traffic sends: which streams, and how they are watched."""

from __future__ import annotations

from collections.abc import Mapping

from plimsoll.benchmark.live_traffic.known_stream import KnownStream
from plimsoll.benchmark.live_traffic.live_settings import LiveSettings
from plimsoll.errors import InputError
from plimsoll.generator.generator_plan import GeneratorPlan
from plimsoll.generator.interface import CapturePlan, TrialPlan
from plimsoll.traffic.plan import LONGEST_TRIAL_S

_LEAST_CATCH_UP_US = 10.0


def members_of(
    known: Mapping[int, KnownStream], generator: GeneratorPlan, port_count: int
) -> dict[int, KnownStream]:
    """Those that are enabled, and of the others as many as there is room for, at rate 0.

    Raises InputError where those that are enabled are more than the generator can send.
    """
    members = {number: each for number, each in known.items() if each.sending}
    _check_room(members, generator, port_count)
    for number, each in known.items():
        if number in members or not each.rated:
            continue
        if _parts({**members, number: each}, generator, port_count) > _most(generator):
            break
        members[number] = each
    return members


def live_plan(
    members: Mapping[int, KnownStream],
    settings: LiveSettings,
    captures: tuple[CapturePlan, ...],
    *,
    mark: int,
    queue_frames: int,
    receiving: bool,
) -> TrialPlan:
    """A trial of them, through ports whose queues hold `queue_frames`, for as long as may be.

    It ends with its streams, unless ports are to go on `receiving`.
    """
    streams = tuple(each.planned() for each in members.values())
    fastest_pps = max((each.plan.rate_pps or 1.0 for each in members.values()), default=1.0)
    # No catching up may overflow the queue that it goes into.
    burst = queue_frames * settings.catch_up_queue
    catch_up_us = min(settings.catch_up_us, burst / fastest_pps * 1e6)
    return TrialPlan(
        mark=mark,
        streams=streams,
        # The next one follows by itself.
        duration_s=LONGEST_TRIAL_S,
        drain_s=settings.drain_s,
        interval_s=settings.interval_s,
        catch_up_us=max(_LEAST_CATCH_UP_US, catch_up_us),
        stall_us=settings.stall_us,
        worst=settings.worst,
        check=settings.check,
        captures=captures,
        begin_delay_s=settings.begin_delay_s,
        report_ends=True,
        end_with_streams=not receiving,
    )


def _check_room(
    members: Mapping[int, KnownStream], generator: GeneratorPlan, port_count: int
) -> None:
    parts = _parts(members, generator, port_count)
    if parts > _most(generator):
        raise InputError(
            f"{len(members)} streams, which are {parts} over the ports' queues, are more "
            f"than the {_most(generator)} that can be sent at once",
            where="streams",
            remedy="start fewer of them, or give a stream several flows",
        )


def _parts(members: Mapping[int, KnownStream], generator: GeneratorPlan, port_count: int) -> int:
    """How many streams they are, spread over the queues of their ports."""
    plans = tuple(each.planned() for each in members.values())
    return len(generator.streams_sent(plans, port_count))


def _most(generator: GeneratorPlan) -> int:
    return generator.capabilities.most_streams
