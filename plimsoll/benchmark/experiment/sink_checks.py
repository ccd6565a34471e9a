"""Whether an experiment asks nothing of a DUT that only receives but what it can answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from plimsoll.dut.lab import LabModel
from plimsoll.search.registry import SearchSettings
from plimsoll.text.mistakes import Location, mistake
from plimsoll.traffic.streams.profile import Profile
from plimsoll.trial.criteria.criterion import Criterion
from plimsoll.trial.criteria.dut_received import DutReceived
from plimsoll.trial.criteria.hosts.host_criterion import HostCriterion

# Those that go by verdicts alone.
_STRATEGIES = ("binary", "checkpoints")


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
    profile: Profile, search: SearchSettings, lab: LabModel
) -> Iterator[Callable[[], None]]:
    """The same of streams, which the DUT must be known to drop, and of the search."""
    if lab.returns_frames:
        return
    for index, stream in enumerate(profile.streams):
        if not stream.filtered:
            yield partial(_refuse_stream, stream.name, index)
    if search.strategy not in _STRATEGIES:
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
    remedy = f"use strategy: {' or '.join(_STRATEGIES)}, which go by verdicts alone"
    raise mistake(problem, remedy, "search", "strategy")
