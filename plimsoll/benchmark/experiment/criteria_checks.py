"""Whether criteria fit the rest of an experiment, a check for each that could not."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from plimsoll.benchmark.experiment.judged_search import ExperimentSearch
from plimsoll.dut.lab import LabModel
from plimsoll.observe.agent.settings import ObserveSettings
from plimsoll.search.registry import verdict_strategies
from plimsoll.text.mistakes import Location, did_you_mean, mistake
from plimsoll.traffic.streams.profile import Profile
from plimsoll.trial.criteria.criterion import Criterion, StreamCriterion
from plimsoll.trial.criteria.dut_received import DutReceived
from plimsoll.trial.criteria.frame_count import FrameCount
from plimsoll.trial.criteria.hosts.host_criterion import HostCriterion
from plimsoll.trial.criteria.registry import AllowedFault, CriterionSettings
from plimsoll.trial.criteria.spread import Spread

# Raises a `mistake`, or does nothing.
CriterionCheck = Callable[[], None]


def allowed_checks(
    criteria: Sequence[CriterionSettings], allowed: Sequence[AllowedFault]
) -> Iterator[CriterionCheck]:
    """Of the experiment's own criteria: none judges what the DUT is allowed."""
    for index, criterion in enumerate(criteria):
        if isinstance(criterion, FrameCount):
            yield partial(_check_not_allowed, criterion, allowed, "criteria", index)


def _check_not_allowed(
    criterion: FrameCount, allowed: Sequence[AllowedFault], *place: str | int
) -> None:
    if criterion.kind in allowed:
        problem = f"judges {criterion.kind}, which the DUT is allowed"
        raise mistake(problem, "remove it here, or from allowed", *place)


def spread_checks(
    criteria: Sequence[CriterionSettings], search: ExperimentSearch, place: Location
) -> Iterator[CriterionCheck]:
    """Of the criteria at `place`: the search repeats as often as a spread needs."""
    for index, criterion in enumerate(criteria):
        if isinstance(criterion, Spread):
            yield partial(_check_spread, criterion, search, *place, index, "repetitions")


def _check_spread(criterion: Spread, search: ExperimentSearch, *place: str | int) -> None:
    """Raise where the search does not repeat its last trial as often as a spread needs."""
    if criterion.repetitions > search.repetitions:
        problem = (
            f"a spread of {criterion.repetitions} repetitions, but the search proves its "
            f"load by {search.repetitions}"
        )
        remedy = "raise search.validation.repeat (strategy binary), or lower repetitions"
        raise mistake(problem, remedy, *place)


def stream_checks(
    criteria: Sequence[CriterionSettings], profile: Profile, *place: str | int
) -> Iterator[CriterionCheck]:
    """Of the criteria at `place`: the profile has the streams that they are about."""
    for index, criterion in enumerate(criteria):
        if isinstance(criterion, StreamCriterion):
            yield partial(_check_streams, criterion, profile, *place, index)


def _check_streams(bound: StreamCriterion, profile: Profile, *place: str | int) -> None:
    """Raise where the profile has no stream that the bound could ever be held to."""
    roles = {stream.name: stream.role for stream in profile.streams}
    suitable = [name for name, role in roles.items() if role == bound.role]
    if bound.stream is None:
        if not suitable:
            problem = f"the profile has no stream with role: {bound.role}"
            raise mistake(problem, "add one, or give the other role", *place, "role")
        return
    # A stream in one direction is named after its ports, as in "probe/0-1".
    name = re.sub(r"/\d+-\d+$", "", bound.stream)
    if name not in roles:
        problem = f"the profile has no stream {bound.stream}"
        raise mistake(problem, did_you_mean(name, roles), *place, "stream")
    if name not in suitable:
        problem = f"{bound.stream} has role: {roles[name]}, the criterion role: {bound.role}"
        remedy = f"give the criterion role: {roles[name]}, or name another stream"
        raise mistake(problem, remedy, *place, "stream")


# Whether what an experiment asks of hosts can be observed at all.
def host_criteria_checks(
    criteria: Sequence[Criterion], lab: LabModel, observe: ObserveSettings, place: Location
) -> Iterator[Callable[[], None]]:
    """For each host criterion in the list at `place`, a check that raises a mistake.

    That is where it could never be judged.
    """
    for index, criterion in enumerate(criteria):
        if isinstance(criterion, HostCriterion):
            yield partial(_check, criterion, lab, observe, *place, index)


def _check(
    criterion: HostCriterion, lab: LabModel, observe: ObserveSettings, *place: str | int
) -> None:
    question = criterion.bound.question
    rule = criterion.bound.rule
    if lab.simulated:
        problem = f"{rule} is about a host, and a simulated lab has none"
        raise mistake(problem, "remove it, or give the experiment another lab", *place)
    if not observe.enabled:
        problem = f"{rule} is about a host, and observe.enabled is false"
        raise mistake(problem, "set it to true, or remove the criterion", *place)
    if observe.sources is not None and question.source not in observe.sources:
        problem = f"{rule} is about {question.source}, which is not one of observe.sources"
        raise mistake(problem, f"add {question.source} to them, or remove the criterion", *place)
    of_dut = lab.polled_cpus or any(host.polled_cpus for host in observe.hosts)
    if question.cpus == "dut" and not of_dut:
        problem = f"{rule} is about CPUs of the DUT, and none are known"
        remedy = "name its host under observe.hosts with polled_cpus, or remove the criterion"
        raise mistake(problem, remedy, *place)


# Whether an experiment asks nothing of a DUT that only receives but what it can answer.
def sink_criteria_checks(
    criteria: Sequence[Criterion], lab: LabModel, place: Location
) -> Iterator[Callable[[], None]]:
    """For each criterion in the list at `place`, a check that raises a mistake.

    That is where it is about frames that come back, and none do.
    """
    if not lab.returns_frames:
        for index, criterion in enumerate(criteria):
            if not isinstance(criterion, DutReceived | HostCriterion):
                yield partial(_refuse_criterion, criterion, *place, index)


def sink_checks(
    profile: Profile, search: ExperimentSearch, lab: LabModel
) -> Iterator[Callable[[], None]]:
    """The same of streams, which the DUT must be known to drop, and of the search."""
    if lab.returns_frames:
        return
    for index, stream in enumerate(profile.streams):
        if not stream.filtered:
            yield partial(_refuse_stream, stream.name, index)
    if not search.by_verdicts_alone:
        yield partial(_refuse_strategy, search.strategy)


def _refuse_criterion(criterion: Criterion, *place: str | int) -> None:
    kind = criterion.model_dump(include={"kind"})["kind"]
    problem = f"{kind} is about frames that come back, and this DUT only receives"
    raise mistake(problem, "use dut-received, or another forwarding", *place)


def _refuse_stream(name: str, index: int) -> None:
    problem = f"{name} is expected back, or taught, and this DUT only receives"
    remedy = "write stream_types: [ddos], frames that the DUT is to drop, with role: load"
    raise mistake(problem, remedy, "profile", "streams", index, "stream_types")


def _refuse_strategy(strategy: str) -> None:
    problem = f"{strategy} goes by the frames that come back, and this DUT only receives"
    remedy = f"use strategy: {' or '.join(verdict_strategies())}, which go by verdicts alone"
    raise mistake(problem, remedy, "search", "strategy")
