"""What the generator can send, checked beforehand: its limits are its own to state."""

from __future__ import annotations

from collections.abc import Sequence

from plimsoll.benchmark.experiment.experiment import Experiment
from plimsoll.benchmark.experiment.judged_search import goal_criteria
from plimsoll.errors import InputError
from plimsoll.generator.generator_plan import Capabilities
from plimsoll.text.units import format_pps
from plimsoll.traffic.plan import StreamPlan
from plimsoll.traffic.streams.compile import compile_profile
from plimsoll.traffic.teaching.teaching import MeasurementTeaching, background_teaching
from plimsoll.trial.criteria.criterion import StreamCriterion
from plimsoll.trial.criteria.frame_count import FrameCount
from plimsoll.trial.criteria.registry import CriterionSettings


def check_generator_sends(
    experiment: Experiment,
    load_pps: float,
    where: str,
    *,
    teaching: MeasurementTeaching | None = None,
) -> None:
    """Raise InputError where no trial of the profile can be sent at a load per direction.

    `where` is the place that the load was given at. Teaching frames sent with it count as well.
    Nor may a criterion judge what the generator does not measure.
    """
    profile, lab = experiment.profile, experiment.lab
    generator = experiment.effective_generator
    _check_judged(generator.capabilities, experiment.criteria, "criteria")
    for goal, criteria in goal_criteria(experiment.search).items():
        _check_judged(generator.capabilities, criteria or (), f"search.goals: {goal}")
    try:
        streams = compile_profile(profile, load_pps, lab.directions)
        streams += background_teaching(streams, profile, teaching, lab.directions)
    except InputError as error:
        place = where if error.where == "load" else error.where
        raise InputError(error.message, where=place, remedy=error.remedy) from None
    check_streams_sent(experiment, streams, where)


def check_streams_sent(experiment: Experiment, streams: tuple[StreamPlan, ...], where: str) -> None:
    """Raise InputError where the experiment's generator cannot send these streams together."""
    generator, lab = experiment.effective_generator, experiment.lab
    sent = generator.streams_sent(streams, lab.port_count)
    _check_number(generator.capabilities, sent, streams)
    for stream in sent:
        _check_measured(generator.capabilities, stream)
        _check_rate(generator.capabilities, stream, where)


def _check_number(
    able: Capabilities, sent: tuple[StreamPlan, ...], streams: tuple[StreamPlan, ...]
) -> None:
    if len(sent) <= able.most_streams:
        return
    spread = f", {len(sent)} over the ports' queues" if len(sent) > len(streams) else ""
    raise InputError(
        f"these are {len(streams)} streams with each direction counted{spread}; "
        f"the generator takes {able.most_streams}",
        where="profile.streams",
        remedy="use fewer streams, or fewer directions, ports or CPUs of the generator",
    )


def _check_measured(able: Capabilities, stream: StreamPlan) -> None:
    if stream.pacing.kind not in able.pacings:
        raise InputError(
            f"stream {stream.name} has pacing {stream.pacing.kind}, which the generator lacks",
            where="profile.streams",
            remedy=f"use {' or '.join(sorted(able.pacings))}, or another generator",
        )
    if stream.role == "latency" and not able.latency:
        raise InputError(
            f"stream {stream.name} has role: latency, which the generator does not measure",
            where="profile.streams",
            remedy="remove it, or use another generator",
        )
    if any(field.churn for field in stream.fields) and not able.churn:
        raise InputError(
            f"stream {stream.name} has churn, which the generator lacks",
            where="profile.streams",
            remedy="remove it, or use another generator",
        )
    if stream.counted_flows > 0 and not able.per_flow:
        raise InputError(
            f"stream {stream.name} has per_flow, and the generator does not count by flow",
            where="profile.streams",
            remedy="remove it, or use another generator",
        )


def _check_rate(able: Capabilities, stream: StreamPlan, where: str) -> None:
    if stream.rate_pps is None or able.least_pps <= stream.rate_pps <= able.most_pps:
        return
    raise InputError(
        f"stream {stream.name} would be sent at {format_pps(stream.rate_pps)}; the generator "
        f"takes {format_pps(able.least_pps)} to {format_pps(able.most_pps)} a stream",
        where=where if stream.role == "load" else "profile.streams",
        remedy="check the unit of the rate",
    )


def _check_judged(able: Capabilities, criteria: Sequence[CriterionSettings], where: str) -> None:
    """Raise InputError for a criterion on what the generator cannot tell."""
    measured = {"latency": able.latency, "load": able.load_latency}
    for criterion in criteria:
        unseen = isinstance(criterion, FrameCount) and criterion.kind not in able.faults
        untimed = isinstance(criterion, StreamCriterion) and not measured[criterion.role]
        if unseen or untimed:
            of = f" of {criterion.role} streams" if isinstance(criterion, StreamCriterion) else ""
            raise InputError(
                f"a criterion judges {criterion.kind}{of}, which the generator does not measure",
                where=where,
                remedy=f"judge by {_judgeable(able)}, or use another generator",
            )


def _judgeable(able: Capabilities) -> str:
    latency = ["latency"] if able.latency else []
    return ", ".join(["loss-ratio", *sorted(able.faults), *latency])
