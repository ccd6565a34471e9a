"""Whether criteria fit the rest of an experiment, a check for each that could not."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from plimsoll.search.registry import SearchSettings
from plimsoll.text.mistakes import Location, did_you_mean, mistake
from plimsoll.traffic.streams.profile import Profile
from plimsoll.trial.criteria.frame_count import FrameCount
from plimsoll.trial.criteria.registry import AllowedFault, CriterionSettings
from plimsoll.trial.criteria.spread import Spread
from plimsoll.trial.criteria.stream_criterion import StreamCriterion

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
    criteria: Sequence[CriterionSettings], search: SearchSettings, place: Location
) -> Iterator[CriterionCheck]:
    """Of the criteria at `place`: the search repeats as often as a spread needs."""
    for index, criterion in enumerate(criteria):
        if isinstance(criterion, Spread):
            yield partial(_check_spread, criterion, search, *place, index, "repetitions")


def _check_spread(criterion: Spread, search: SearchSettings, *place: str | int) -> None:
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
